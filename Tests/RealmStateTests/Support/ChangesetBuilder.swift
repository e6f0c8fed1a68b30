import Changesets
import RealmState

/// Puts instructions together by name.
struct ChangesetBuilder {
    var changeset = Changeset()

    private mutating func add(_ instruction: Instruction) { changeset.instructions.append(instruction) }
    mutating func intern(_ string: ByteString) -> InternedString { changeset.strings.intern(string) }

    mutating func table(
        _ name: ByteString, key: ByteString = "_id", type: PayloadType = .int, nullable: Bool = false,
        asymmetric: Bool = false
    ) {
        let kind = Instruction.AddTable.Kind.topLevel(
            keyField: intern(key), keyType: type, keyNullable: nullable, asymmetric: asymmetric)
        add(.addTable(.init(table: intern(name), kind: kind)))
    }

    mutating func embedded(_ name: ByteString) { add(.addTable(.init(table: intern(name), kind: .embedded))) }
    mutating func eraseTable(_ name: ByteString) { add(.eraseTable(table: intern(name))) }

    mutating func column(
        _ table: ByteString, _ field: ByteString, _ type: PayloadType, nullable: Bool = false,
        _ collection: CollectionType = .single, target: ByteString? = nil, keyType: PayloadType = .string
    ) {
        add(
            .addColumn(
                .init(
                    table: intern(table), field: intern(field), type: type, nullable: nullable, collection: collection,
                    linkTarget: target.map { intern($0) }, keyType: collection == .dictionary ? keyType : nil)))
    }

    mutating func eraseColumn(_ table: ByteString, _ field: ByteString) {
        add(.eraseColumn(table: intern(table), field: intern(field)))
    }

    mutating func create(_ table: ByteString, _ key: ObjectKey) {
        add(.createObject(table: intern(table), object: changeset.strings.intern(key)))
    }

    mutating func erase(_ table: ByteString, _ key: ObjectKey) {
        add(.eraseObject(table: intern(table), object: changeset.strings.intern(key)))
    }

    mutating func update(_ address: FieldAddress, _ value: Payload, priorSize: UInt32 = 0) {
        let path = FieldPath(address, &changeset.strings)
        if case .index = address.path.last {
            add(.update(.init(target: path, value: value, qualifier: .priorSize(priorSize))))
        } else {
            add(.update(.init(target: path, value: value, qualifier: .isDefault(false))))
        }
    }

    mutating func update(_ address: FieldAddress, linkTo target: ObjectAddress) {
        let payload = Payload(.link(target), &changeset.strings)
        update(address, payload)
    }

    mutating func increment(_ address: FieldAddress, _ delta: Int64) {
        add(.addInteger(FieldPath(address, &changeset.strings), delta: delta))
    }

    mutating func insert(_ address: FieldAddress, _ value: Payload, priorSize: UInt32) {
        add(.arrayInsert(FieldPath(address, &changeset.strings), value: value, priorSize: priorSize))
    }

    mutating func move(_ address: FieldAddress, to index: UInt32, priorSize: UInt32) {
        add(.arrayMove(FieldPath(address, &changeset.strings), to: index, priorSize: priorSize))
    }

    mutating func remove(_ address: FieldAddress, priorSize: UInt32) {
        add(.arrayErase(FieldPath(address, &changeset.strings), priorSize: priorSize))
    }

    mutating func clear(_ address: FieldAddress, _ collection: CollectionType) {
        add(.clear(FieldPath(address, &changeset.strings), collection: collection))
    }

    mutating func setInsert(_ address: FieldAddress, _ value: Payload) {
        add(.setInsert(FieldPath(address, &changeset.strings), value: value))
    }

    mutating func setErase(_ address: FieldAddress, _ value: Payload) {
        add(.setErase(FieldPath(address, &changeset.strings), value: value))
    }
}

extension RealmState {
    mutating func apply(_ build: (inout ChangesetBuilder) -> Void) throws {
        var builder = ChangesetBuilder()
        build(&builder)
        try apply(builder.changeset)
    }

    /// The error of a changeset that must fail, and what it says; the state stays as it was.
    mutating func failure(_ build: (inout ChangesetBuilder) -> Void) -> RealmStateError? {
        begin()
        defer { rollback() }
        do {
            try apply(build)
            return nil
        } catch {
            return error as? RealmStateError
        }
    }
}

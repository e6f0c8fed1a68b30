package import Changesets

/// Parts of changesets: only some objects' instructions, or only some properties'.
package struct ChangesetSelection: Sendable {
    private var encoder = StreamingEncoder()

    package init() {}

    package var isEmpty: Bool { encoder.changeset.isEmpty }
    package var changeset: Changeset { encoder.changeset }
    package var bytes: [UInt8] { encoder.bytes }

    /// Adds the instructions that are wanted. No string of another instruction comes along: a name or key may be what a
    /// receiver must not learn.
    ///
    /// - Parameter isWanted: told the object, nil for instructions that change the schema, and the property, if there is one.
    package mutating func append(
        _ changeset: Changeset, where isWanted: (ObjectAddress?, ByteString?) -> Bool
    ) throws(ChangesetError) {
        var addresses = TargetAddresses(strings: changeset.strings)
        for instruction in changeset.instructions {
            let target = instruction.target
            var address: ObjectAddress?
            if let key = target.object { address = try addresses.next(target.table, key) }
            let field = address == nil ? nil : target.field.flatMap { changeset.strings[$0] }
            if isWanted(address, field) { try encoder.append(instruction, from: changeset.strings) }
        }
    }

    package mutating func append(_ instruction: Instruction, of changeset: Changeset) throws(ChangesetError) {
        try encoder.append(instruction, from: changeset.strings)
    }

    /// - Parameter strings: those that the instruction names by number.
    mutating func append(_ instruction: Instruction, from strings: InternTable) throws(ChangesetError) {
        try encoder.append(instruction, from: strings)
    }

    package mutating func erase(_ address: ObjectAddress) {
        let table = encoder.strings.intern(address.className)
        let object = encoder.strings.intern(address.key)
        encoder.append(.eraseObject(table: table, object: object))
    }

    /// Adds all of a changeset.
    package mutating func append(_ changeset: Changeset) throws(ChangesetError) {
        for instruction in changeset.instructions { try encoder.append(instruction, from: changeset.strings) }
    }
}

extension Changeset {
    /// Returns what the changeset does to some objects, each by itself, and how it changes the schema.
    package func parts(
        of addresses: [ObjectAddress]
    ) throws(ChangesetError) -> (schema: Changeset, objects: [ObjectAddress: Changeset]) {
        var parts = Dictionary(addresses.map { ($0, ChangesetSelection()) }, uniquingKeysWith: { first, _ in first })
        var schema = ChangesetSelection()
        var targets = TargetAddresses(strings: strings)
        for instruction in instructions {
            let target = instruction.target
            guard let key = target.object else {
                try schema.append(instruction, from: strings)
                continue
            }
            let address = try targets.next(target.table, key)
            try parts[address]?.append(instruction, from: strings)
        }
        return (schema.changeset, parts.mapValues(\.changeset))
    }
}

/// The objects of one changeset's instructions, of which many in a row are often about the same one.
struct TargetAddresses {
    let strings: InternTable
    private var last: (table: InternedString, key: PrimaryKey, address: ObjectAddress)?

    init(strings: InternTable) { self.strings = strings }

    mutating func next(_ table: InternedString, _ key: PrimaryKey) throws(ChangesetError) -> ObjectAddress {
        if let last, last.table == table, last.key == key { return last.address }
        guard let name = strings[table], let object = strings.resolve(key) else {
            throw ChangesetError(.malformed, "Invalid interned string", offset: 0)
        }
        let address = ObjectAddress(name, object)
        last = (table, key, address)
        return address
    }
}

/// The effect of a changeset on one object.
package struct ObjectWrite: Equatable, Sendable {
    package var creates = false
    package var erases = false
    /// The properties that are set.
    package var fields: Set<ByteString> = []
    /// Whether the first thing that happens to the object is that it is erased.
    package var beginsWithErasure = false
    /// Whether it is made and then not erased again.
    package var leavesNew = false
}

extension Changeset {
    /// The effects on the objects, in the order in which they first come; nil if a number of a string stands for none.
    package func writes() -> [(address: ObjectAddress, write: ObjectWrite)]? {
        var order: [ObjectAddress] = []
        var writes: [ObjectAddress: ObjectWrite] = [:]
        for instruction in instructions {
            let target = instruction.target
            guard let key = target.object else { continue }
            guard let table = strings[target.table], let object = strings.resolve(key) else { return nil }
            let address = ObjectAddress(table, object)
            if writes[address] == nil {
                order.append(address)
                if case .eraseObject = instruction {
                    writes[address] = ObjectWrite(erases: true, beginsWithErasure: true)
                    continue
                }
            }
            switch instruction {
            case .createObject:
                writes[address, default: ObjectWrite()].creates = true
                writes[address]?.leavesNew = true
            case .eraseObject:
                writes[address, default: ObjectWrite()].erases = true
                writes[address]?.leavesNew = false
            default:
                guard let field = target.field.flatMap({ strings[$0] }) else { return nil }
                writes[address, default: ObjectWrite()].fields.insert(field)
            }
        }
        return order.map { ($0, writes[$0] ?? ObjectWrite()) }
    }
}

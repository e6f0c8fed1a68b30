import Changesets
import Messages

/// A client that was offline: its changesets, packed into UPLOAD messages as stock clients pack them.
struct OfflineClient {
    let realm: RealmName
    let ident: UInt64
    /// Tells its objects from those of others.
    let number: Int

    /// - Parameter contested: how many objects all clients write to.
    func uploads(changesets: Int, objects: Int, contested: Int, maxBytes: Int) -> [ChangesetMessage] {
        var messages: [ChangesetMessage] = []
        var entries: [ChangesetMessage.Entry] = []
        var bytes = 0
        var follows: UInt64 = 0
        func close() {
            guard let last = entries.last?.clientVersion else { return }
            messages.append(
                ChangesetMessage(
                    realm: realm,
                    upload: .init(
                        session: SessionReference(gateway: "bench", number: ident), clientFile: ident, generation: 1,
                        follows: follows, progress: UploadCursor(clientVersion: last, serverVersion: 0),
                        lockedServerVersion: 0), entries: entries))
            follows = last
            entries = []
            bytes = 0
        }
        for index in 0...changesets {
            let changeset = index == 0 ? Self.schema() : change(index, objects: objects, contested: contested)
            entries.append(
                .init(
                    clientVersion: UInt64(index) + 2, serverVersion: 0,
                    timestamp: 300_000_000_000 + UInt64(index) * 1_000 + ident, changeset: changeset))
            bytes += changeset.count
            if bytes >= maxBytes { close() }
        }
        close()
        return messages
    }

    /// New objects with a text, a number and a flag each; and one of the contested ones.
    private func change(_ index: Int, objects: Int, contested: Int) -> [UInt8] {
        var strings = InternTable()
        let table = strings.intern("Task")
        let title = strings.intern("title")
        let rank = strings.intern("rank")
        let isDone = strings.intern("isDone")
        var instructions: [Instruction] = []
        func set(_ key: PrimaryKey, _ field: InternedString, _ value: Payload) {
            instructions.append(
                .update(
                    .init(
                        target: FieldPath(table: table, object: key, field: field), value: value,
                        qualifier: .isDefault(false))))
        }
        for object in 0..<objects {
            let low = UInt32(truncatingIfNeeded: index &* objects &+ object)
            let key = PrimaryKey.objectID(ObjectIDValue(high: 0x6560_0000_0000_0000 | UInt64(number), low: low))
            instructions.append(.createObject(table: table, object: key))
            set(key, title, .string(ByteString("task \(index)-\(object) of client \(number)")))
            set(key, rank, .int(Int64(index * object)))
            set(key, isDone, .bool(object.isMultiple(of: 2)))
        }
        if contested > 0 {
            let key = PrimaryKey.objectID(ObjectIDValue(high: 1, low: UInt32(index % contested)))
            instructions.append(.createObject(table: table, object: key))
            set(key, title, .string(ByteString("written by client \(number)")))
        }
        return Changeset(strings: strings, instructions: instructions).encoded()
    }

    private static func schema() -> [UInt8] {
        var strings = InternTable()
        let table = strings.intern("Task")
        var instructions: [Instruction] = [
            .addTable(
                .init(
                    table: table,
                    kind: .topLevel(
                        keyField: strings.intern("_id"), keyType: .objectID, keyNullable: false, asymmetric: false)))
        ]
        for (name, type) in [("title", PayloadType.string), ("rank", .int), ("isDone", .bool)] {
            instructions.append(
                .addColumn(
                    .init(
                        table: table, field: strings.intern(ByteString(name)), type: type, nullable: false,
                        collection: .single)))
        }
        return Changeset(strings: strings, instructions: instructions).encoded()
    }
}

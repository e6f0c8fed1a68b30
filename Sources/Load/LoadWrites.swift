import Changesets
import SyncModel

/// The changesets that load clients write, and what others find in them: objects with a text, each with the moment at which it was sent.
package enum LoadWrites {
    package static let className = "LoadItem"
    package static let group = "group"
    private static let sentAt = "sentAt"
    private static let text = "text"
    /// Objects of one client: later writes are to those that it has made, so that a long run does not fill the store.
    package static let objectsKept = 200

    /// A changeset that makes or changes objects.
    ///
    /// - Parameters:
    ///   - serial: counts the client's changesets.
    ///   - now: the moment by the clock of the run, in nanoseconds.
    ///   - declares: whether it declares the class, too.
    package static func changeset(
        client: Int, serial: Int, group name: String, objects: Int, bytes: Int, at now: Int64, declares: Bool
    ) -> [UInt8] {
        var strings = InternTable()
        var instructions: [Instruction] = declares ? declaration(&strings) : []
        let table = strings.intern(ByteString(className))
        let (groupField, textField, sentField) = (
            strings.intern(ByteString(group)), strings.intern(ByteString(text)), strings.intern(ByteString(sentAt))
        )
        for object in 0..<objects {
            let key = key(client: client, object: (serial * objects + object) % objectsKept)
            func set(_ field: InternedString, _ value: Payload) {
                instructions.append(
                    .update(
                        .init(
                            target: FieldPath(table: table, object: key, field: field), value: value,
                            qualifier: .isDefault(false))))
            }
            instructions.append(.createObject(table: table, object: key))
            set(groupField, .string(ByteString(name)))
            set(textField, .string(ByteString(filling(bytes, serial))))
            set(sentField, .int(now))
        }
        return Changeset(strings: strings, instructions: instructions).encoded()
    }

    /// A changeset that declares the class.
    package static func schema() -> [UInt8] {
        var strings = InternTable()
        let instructions = declaration(&strings)
        return Changeset(strings: strings, instructions: instructions).encoded()
    }

    private static func declaration(_ strings: inout InternTable) -> [Instruction] {
        let table = strings.intern(ByteString(className))
        func column(_ name: String, _ type: PayloadType) -> Instruction {
            .addColumn(
                .init(
                    table: table, field: strings.intern(ByteString(name)), type: type, nullable: false,
                    collection: .single))
        }
        let key = strings.intern(ByteString("_id"))
        return [
            .addTable(
                .init(
                    table: table,
                    kind: .topLevel(keyField: key, keyType: .objectID, keyNullable: false, asymmetric: false))),
            column(group, .string), column(text, .string), column(sentAt, .int),
        ]
    }

    /// When the changeset was sent, if a load client has written it.
    package static func sentAt(in bytes: [UInt8]) -> Int64? {
        guard !bytes.isEmpty, let changeset = try? Changeset(parsing: bytes) else { return nil }
        for case .update(let update) in changeset.instructions {
            guard case .int(let moment) = update.value,
                changeset.strings[update.target.field] == ByteString(sentAt)
            else { continue }
            return moment
        }
        return nil
    }

    private static func key(client: Int, object: Int) -> PrimaryKey {
        .objectID(ObjectIDValue(high: UInt64(client) + 1, low: UInt32(truncatingIfNeeded: object)))
    }

    private static func filling(_ bytes: Int, _ serial: Int) -> String {
        let word = "\(serial) of this client, "
        return String(String(repeating: word, count: bytes / word.utf8.count + 1).prefix(bytes))
    }
}

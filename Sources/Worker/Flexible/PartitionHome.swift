import Changesets
import RealmState
import Storage

/// The partition of a client that came from partition sync, which each object that it makes is of: its app does not know the property
/// that says so. Pure.
struct PartitionHome {
    private let field: ByteString
    private let value: Payload
    /// The classes whose objects have the property.
    private let classes: Set<ByteString>

    /// Nil if the app's move says nothing of such a property, or the partition cannot be read.
    init?(_ partition: String, of app: AppRecord, in schema: Schema) {
        guard let name = app.migration?.field, let key = PartitionKey(partition: partition) else { return nil }
        field = ByteString(name)
        value = key.payload
        let field = field
        classes = Set(
            schema.tables.filter { table in
                table.kind == .topLevel
                    && table.columns.contains { column in
                        column.name == field && column.collection == .single
                            && (key.type.map { $0 == column.element.type } ?? column.element.nullable)
                    }
            }.map(\.name))
    }

    /// The changeset with the partition of every object that it makes.
    func settling(_ changeset: Changeset) -> Changeset {
        var result = changeset
        result.instructions = []
        for instruction in changeset.instructions {
            result.instructions.append(instruction)
            guard case .createObject(let table, let object) = instruction, let name = changeset.strings[table],
                classes.contains(name)
            else { continue }
            let property = result.strings.intern(field)
            result.instructions.append(update(table, object, property, &result.strings))
        }
        return result
    }

    /// What the author of a changeset is told of the partition of what it made.
    func told(of changeset: Changeset) -> Changeset {
        var result = Changeset()
        for case .createObject(let table, let object) in changeset.instructions {
            guard let name = changeset.strings[table], classes.contains(name),
                let key = changeset.strings.resolve(object)
            else { continue }
            let table = result.strings.intern(name)
            let object = result.strings.intern(key)
            let property = result.strings.intern(field)
            result.instructions.append(update(table, object, property, &result.strings))
        }
        return result
    }

    private func update(
        _ table: InternedString, _ object: PrimaryKey, _ property: InternedString, _ strings: inout InternTable
    ) -> Instruction {
        .update(
            .init(
                target: FieldPath(table: table, object: object, field: property), value: value,
                qualifier: .isDefault(false)))
    }
}

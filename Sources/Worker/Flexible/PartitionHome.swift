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

    /// The changeset with the partition of every object that it makes and says nothing of. Whatever may be said of it is then judged as if the client
    /// had said it.
    ///
    /// - Parameter isThere: whether an object exists before the changeset: one that is made again stays where it is.
    /// - Returns: with the changeset, the objects whose partition it did not have.
    func settling(
        _ changeset: Changeset, _ isThere: (ObjectAddress) -> Bool
    ) -> (changeset: Changeset, settled: Set<ObjectAddress>) {
        let said = said(in: changeset)
        var result = changeset
        result.instructions = []
        var settled: Set<ObjectAddress> = []
        var exists: [ObjectAddress: Bool] = [:]
        for instruction in changeset.instructions {
            result.instructions.append(instruction)
            guard let address = address(of: instruction, in: changeset), !said.contains(address) else { continue }
            switch instruction {
            case .eraseObject: exists[address] = false
            case .createObject(let table, let object):
                guard exists.updateValue(true, forKey: address) ?? isThere(address) == false else { continue }
                settled.insert(address)
                let property = result.strings.intern(field)
                result.instructions.append(update(table, object, property, &result.strings))
            default: continue
            }
        }
        return (result, settled)
    }

    /// What the author of a changeset is told of the partition of what it made.
    ///
    /// - Parameter settled: the objects whose partition it did not say.
    func told(of changeset: Changeset, _ settled: Set<ObjectAddress>) -> Changeset {
        var result = Changeset()
        var left = settled
        for instruction in changeset.instructions {
            guard case .createObject = instruction, let address = address(of: instruction, in: changeset),
                left.remove(address) != nil
            else { continue }
            let table = result.strings.intern(address.className)
            let object = result.strings.intern(address.key)
            let property = result.strings.intern(field)
            result.instructions.append(update(table, object, property, &result.strings))
        }
        return result
    }

    /// The objects whose partition a changeset says itself.
    private func said(in changeset: Changeset) -> Set<ObjectAddress> {
        Set(
            changeset.instructions.lazy.filter { instruction in
                instruction.target.field.map { changeset.strings[$0] == field } ?? false
            }.compactMap { address(of: $0, in: changeset) })
    }

    /// Returns the address of the object that an instruction is for, if the object has a partition.
    private func address(of instruction: Instruction, in changeset: Changeset) -> ObjectAddress? {
        guard let object = instruction.target.object, let name = changeset.strings[instruction.target.table],
            classes.contains(name), let key = changeset.strings.resolve(object)
        else { return nil }
        return ObjectAddress(name, key)
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

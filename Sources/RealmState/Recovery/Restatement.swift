package import Changesets

/// The outcome of a client's recovered writes, said once more to all copies.
///
/// After a reset with recovery a stock client uploads a write of which others' changes had left nothing at the client before the reset: it uploads it
/// as it was written, though its own copy has nothing of it. The two could differ for good. So the server says what the objects have come to in a
/// version of its own, which changes nothing where the copy has it (docs/resets.md, "What stock clients recover").
package struct Restatement: Sendable {
    /// The properties with one value that were set, by object.
    private var fields: [ObjectAddress: Set<ByteString>] = [:]

    package init() {}

    package var isEmpty: Bool { fields.isEmpty }

    /// Adds what a changeset does.
    ///
    /// - Parameter schema: the realm's, with the changeset.
    /// - Returns: the objects of which it changes something that saying a value once more does not bring: a list, a set, a dictionary, or an embedded
    ///   object.
    package mutating func add(_ changeset: Changeset, _ schema: Schema) -> Set<ObjectAddress> {
        var others: Set<ObjectAddress> = []
        for instruction in changeset.instructions {
            let target = instruction.target
            guard let key = target.object, let className = changeset.strings[target.table],
                let object = changeset.strings.resolve(key)
            else { continue }
            let address = ObjectAddress(className, object)
            var set: Set<ByteString> = []
            switch instruction {
            case .createObject, .eraseObject: break
            case .update(let update):
                if let field = Self.property(update.target, of: className, in: changeset, schema) {
                    set.insert(field)
                } else {
                    others.insert(address)
                }
            case .addInteger(let path, _):
                if let field = Self.property(path, of: className, in: changeset, schema) {
                    set.insert(field)
                } else {
                    others.insert(address)
                }
            default: others.insert(address)
            }
            fields[address, default: []].formUnion(set)
        }
        return others
    }

    /// The property that a path leads to; nil if it leads further, or if the property has no single value.
    private static func property(
        _ path: FieldPath, of className: ByteString, in changeset: Changeset, _ schema: Schema
    ) -> ByteString? {
        guard path.path.isEmpty, let field = changeset.strings[path.field],
            let column = schema.table(className)?.column(field), column.collection == .single,
            schema.embeddedTarget(of: column.element) == nil
        else { return nil }
        return field
    }

    /// Makes the changeset that says how the objects are.
    package func changeset(of state: RealmState) throws(ChangesetError) -> Changeset {
        var said = StateChangesets(schema: state.schema, byteBudget: .max)
        var encoder = StreamingEncoder()
        // In an order that does not depend on chance.
        for (address, fields) in fields.sorted(by: { $0.key < $1.key }) {
            guard let table = state.schema.table(address.className) else { continue }
            guard let object = state.object(address) else {
                let className = encoder.strings.intern(address.className)
                encoder.append(.eraseObject(table: className, object: encoder.strings.intern(address.key)))
                continue
            }
            let left = table.columns.filter { column in
                if !fields.contains(column.name) { return true }
                return switch object[column] {
                // A mixed property may have come to hold a collection.
                case .list, .dictionary, .set, .embedded: true
                default: false
                }
            }
            _ = said.append(address, object, without: Set(left.map(\.id)))
        }
        if let present = said.finish() {
            for instruction in present.instructions { try encoder.append(instruction, from: present.strings) }
        }
        return encoder.changeset
    }
}

import Changesets

/// The translation between the column numbers of two schemas with the same classes: embedded objects are stored by
/// number.
struct ValueTranslation {
    let source: Schema
    let target: Schema

    /// The object as the target stores it; fields that the target lacks are left out, defaults too.
    func object(_ object: StoredObject, of className: ByteString) -> StoredObject {
        guard let from = source.table(className), let to = target.table(className) else { return StoredObject() }
        var values: [ColumnID: Value] = [:]
        for column in from.columns {
            guard let twin = to.column(column.name), let value = object[column.id] else { continue }
            let translated = self.value(value, column.element)
            if translated != twin.defaultValue { values[twin.id] = translated }
        }
        return StoredObject(values)
    }

    func value(_ value: Value, _ element: ElementType) -> Value {
        guard let embedded = source.embeddedTarget(of: element) else { return value }
        switch value {
        case .embedded(let object): return .embedded(self.object(object, of: embedded.name))
        case .list(let items): return .list(items.map { self.value($0, element) })
        case .dictionary(let entries): return .dictionary(entries.mapValues { self.value($0, element) })
        default: return value
        }
    }
}

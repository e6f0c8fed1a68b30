internal import Changesets
internal import RealmState

/// Changes embedded objects into others where they are: only what differs is written, and who holds one of them goes on to do so.
struct EmbeddedUpdate {
    private let instance: RealmInstance
    private let schema: StoredSchema

    init(_ instance: RealmInstance) {
        self.instance = instance
        schema = instance.schema
    }

    /// Writes a property or a part of one that holds embedded objects.
    /// - Parameters:
    ///   - old: what is there; nil for nothing.
    ///   - element: the type of the value, or of what a collection has in it.
    func write(_ new: Value, over old: Value?, at place: FieldAddress, _ element: ElementType) {
        guard old != new else { return }
        let embedded = schema.embeddedTarget(of: element)
        switch (old, new) {
        case (.embedded(let old)?, .embedded(let new)) where embedded != nil:
            for column in embedded?.columns ?? [] {
                write(
                    new[column.id] ?? column.defaultValue, over: old[column.id] ?? column.defaultValue,
                    at: place.appending(.key(column.name)), column.element)
            }
        case (.list(let old)?, .list(let new)) where embedded != nil:
            for (position, (old, new)) in zip(old, new).enumerated() {
                write(new, over: old, at: place.appending(.index(position)), element)
            }
            for position in old.indices.dropFirst(new.count).reversed() {
                instance.view?.moves.note(.removed(place, at: position))
                instance.edit { try $0.remove(at: place.appending(.index(position))) }
            }
            for position in new.indices.dropFirst(old.count) {
                instance.edit { try $0.insert(new[position], at: place.appending(.index(position))) }
            }
        case (.dictionary(let old)?, .dictionary(let new)) where embedded != nil:
            for key in old.keys where new[key] == nil {
                let entry = place.appending(.key(key))
                instance.view?.moves.note(.replaced(entry))
                instance.edit { try $0.removeKey(entry) }
            }
            for (key, value) in new { write(value, over: old[key], at: place.appending(.key(key)), element) }
        default:
            instance.view?.moves.note(.replaced(place))
            instance.set(place, to: new)
        }
    }
}

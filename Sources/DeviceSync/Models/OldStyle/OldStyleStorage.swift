internal import Changesets
internal import RealmState

/// A property in the memory of an object that is declared without `@Persisted`: an object of a class, which shows the realm itself.
protocol OldStyleStorage: PersistedStorage, AnyObject {}

extension OldStyleStorage {
    /// The storage that the property's place refers to.
    static func held(_ place: UnsafeMutableRawPointer) -> Self { place.assumingMemoryBound(to: Self.self).pointee }

    static func role(at place: UnsafeMutableRawPointer) -> PersistedRole { .plain }
}

extension OldStyleStorage where Self: StoredCollection & _PropertyCollection {
    static var shape: _PropertyShape { _shape }

    static func bind(_ place: UnsafeMutableRawPointer, to property: ModelProperty, of object: ObjectBase) {
        held(place).storage = .managed(property.field(of: object.managedHandle()))
    }

    // A key path ends at the collection, which tells which one it is.
    static func trace(_ place: UnsafeMutableRawPointer, as property: ModelProperty, of object: ObjectBase) {}

    static func adopt(_ place: UnsafeMutableRawPointer, _ field: _Field) { held(place)._adopt(field) }

    static func encoded(
        _ place: UnsafeMutableRawPointer, _ writer: _ObjectWriter
    ) -> (value: RealmValue, isDefault: Bool) {
        let value = held(place)._encoded(writer).value
        return (value, value.isEmpty)
    }

    static func value(at place: UnsafeMutableRawPointer, _ owner: ObjectBase) -> Any? { held(place) }

    static func assign(_ any: Any?, to place: UnsafeMutableRawPointer, _ owner: ObjectBase) throws {
        let new = try _convert(any)
        if let field = held(place)._field, let property = field.property {
            property.write(new, to: field.owner)
        } else {
            held(place).storage = new.storage
        }
    }
}

extension RealmValue {
    fileprivate var isEmpty: Bool {
        switch self {
        case .list(let items), .set(let items): items.isEmpty
        case .dictionary(let entries): entries.isEmpty
        default: false
        }
    }
}

extension List: OldStyleStorage {}
extension MutableSet: OldStyleStorage {}
extension Map: OldStyleStorage {}

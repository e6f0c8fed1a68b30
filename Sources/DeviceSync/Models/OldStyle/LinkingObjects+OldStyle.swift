internal import RealmState

/// What holds the objects that link to another; see `LinkingObjects`.
public protocol LinkingObjectsProtocol {
    /// The class of the objects.
    associatedtype Element
    /// The objects of a class that link to the object by a property, which is named as in Swift.
    init(fromType: Element.Type, property: String)
}

/// The property over which objects link to another in the old style, and the object's place once it is in a realm.
final class OldStyleOrigin {
    let property: String
    var field: _Field?

    init(_ property: String) { self.property = property }
}

extension LinkingObjects: LinkingObjectsProtocol {
    /// The objects of a class that link to the object by a property, for a model in the old style; see `RealmProperty`.
    public init(fromType: Element.Type, property: String) { self.init(origin: OldStyleOrigin(property)) }
}

extension LinkingObjects: PersistedStorage {
    static var shape: _PropertyShape { _shape }

    private static func origin(_ place: UnsafeMutableRawPointer) -> OldStyleOrigin? {
        place.assumingMemoryBound(to: Self.self).pointee.origin
    }

    static func role(at place: UnsafeMutableRawPointer) -> PersistedRole {
        origin(place).map { .backlink($0.property) } ?? .plain
    }

    static func bind(_ place: UnsafeMutableRawPointer, to property: ModelProperty, of object: ObjectBase) {
        origin(place)?.field = property.field(of: object.managedHandle())
    }

    static func trace(_ place: UnsafeMutableRawPointer, as property: ModelProperty, of object: ObjectBase) {}

    static func adopt(_ place: UnsafeMutableRawPointer, _ field: _Field) { origin(place)?.field = field }

    static func encoded(
        _ place: UnsafeMutableRawPointer, _ writer: _ObjectWriter
    ) -> (value: RealmValue, isDefault: Bool) {
        (.list([]), true)
    }

    static func value(at place: UnsafeMutableRawPointer, _ owner: ObjectBase) -> Any? {
        place.assumingMemoryBound(to: Self.self).pointee
    }

    static func assign(_ any: Any?, to place: UnsafeMutableRawPointer, _ owner: ObjectBase) throws {
        _ = try _convert(any)
    }
}

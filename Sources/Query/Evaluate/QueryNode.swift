import Changesets
import RealmState

/// An object on a query's way: what it holds, where it is, and for an embedded one what it belongs to.
struct QueryNode: Sendable {
    /// Nil for an object that is known by its address only.
    var object: (any QueryObject)?
    var className: ByteString
    /// Nil for embedded objects.
    var key: ObjectKey?
    var parent: QueryParent?

    /// Made only where a query asks for it: most never do.
    var address: ObjectAddress? { key.map { ObjectAddress(className, $0) } }

    /// What the object holds for a property.
    func value(_ slot: PropertySlot, default defaultValue: Value) -> Value {
        switch slot {
        case .key: key.map { Value($0) } ?? .null
        case .column(let column): object.map { $0.value(of: column) ?? defaultValue } ?? .null
        }
    }

    func value(_ property: QueryProperty) -> Value { value(property.slot, default: property.defaultValue) }

    /// The point that the object is, if it is one.
    func point(_ properties: GeoProperties) -> GeoRegion.Point? {
        guard case .string(let kind) = value(properties.type), TextMatch.equal(kind.bytes, Array("point".utf8)) else {
            return nil
        }
        let coordinates = value(properties.coordinates).elements.lazy.compactMap(Arithmetic.double).prefix(2)
        guard let longitude = coordinates.first, let latitude = coordinates.dropFirst().first else { return nil }
        return GeoRegion.Point(longitude: longitude, latitude: latitude)
    }

    /// The object as a value of a comparison.
    var reference: Value { address.map { .link($0) } ?? .embedded(StoredObject()) }
}

/// The object that holds an embedded one, and the property by which.
final class QueryParent: Sendable {
    let node: QueryNode
    let property: PropertySlot

    init(_ node: QueryNode, _ property: PropertySlot) {
        self.node = node
        self.property = property
    }
}

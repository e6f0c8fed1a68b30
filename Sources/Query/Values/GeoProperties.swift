import Changesets
package import RealmState

extension GeoProperties {
    /// The properties of an embedded class by which its objects are places in the form of GeoJSON; nil for any other class.
    package init?(_ type: QueryClass) {
        guard type.isEmbedded, let kind = type["type"], kind.type == .string, !kind.isCollection,
            let coordinates = type["coordinates"], coordinates.type == .double, coordinates.collection == .list
        else { return nil }
        self.init(type: kind, coordinates: coordinates)
    }

    /// Whether an object is a place that GEOWITHIN can read: a point on earth.
    package func isPlace(_ object: StoredObject) -> Bool {
        QueryNode(object: object, className: "", key: nil).point(self)?.isValid ?? false
    }
}

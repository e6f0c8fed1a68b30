/// An area of the earth: `GeoBox`, `GeoCircle` or `GeoPolygon`. Queries find objects whose location is inside: `where { $0.location.geoWithin(area) }`,
/// `filter("location IN %@", area)`.
///
/// A location is an embedded object with a string `type` that is `"Point"`, and a list of doubles `coordinates` with its longitude and its latitude.
public protocol RLMGeospatial: Hashable, Sendable {
    /// The area as queries write it.
    var _region: String { get }
}

/// A point of the earth, of which areas are made.
public struct GeoPoint: Hashable, Sendable {
    /// Degrees from the equator, from -90 to 90.
    public let latitude: Double
    /// Degrees from Greenwich, from -180 to 180.
    public let longitude: Double
    /// Meters above the sea, 0 or more. No query looks at them.
    public let altitude: Double

    /// A point; nil for one that there is not.
    public init?(latitude: Double, longitude: Double, altitude: Double = 0) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude), altitude >= 0 else { return nil }
        (self.latitude, self.longitude, self.altitude) = (latitude, longitude, altitude)
    }

    fileprivate init?(_ place: (Double, Double)) { self.init(latitude: place.0, longitude: place.1) }

    fileprivate var region: String { "[\(longitude), \(latitude)]" }
}

/// A distance on the surface of the earth.
public struct Distance: Hashable, Sendable {
    private static let earthRadius = 6_378_100.0
    private static let metersPerMile = 1609.344

    /// The angle at the center of the earth.
    public let radians: Double

    /// A distance; nil if it is negative.
    public static func radians(_ radians: Double) -> Distance? { radians >= 0 ? Distance(radians: radians) : nil }
    /// A distance; nil if it is negative.
    public static func kilometers(_ kilometers: Double) -> Distance? { .radians(kilometers * 1000 / earthRadius) }
    /// A distance; nil if it is negative.
    public static func miles(_ miles: Double) -> Distance? { .radians(miles * metersPerMile / earthRadius) }
    /// A distance; nil if it is negative.
    public static func degrees(_ degrees: Double) -> Distance? { .radians(degrees * .pi / 180) }

    private init(radians: Double) { self.radians = radians }

    /// The distance in kilometers.
    public func asKilometers() -> Double { radians * Self.earthRadius / 1000 }
    /// The distance in miles.
    public func asMiles() -> Double { radians * Self.earthRadius / Self.metersPerMile }
    /// The distance in degrees.
    public func asDegrees() -> Double { radians * 180 / .pi }
}

/// The area between two corners.
public struct GeoBox: RLMGeospatial {
    /// The corner in the south west.
    public let bottomLeft: GeoPoint
    /// The corner in the north east.
    public let topRight: GeoPoint

    /// The area between two corners.
    public init(bottomLeft: GeoPoint, topRight: GeoPoint) {
        (self.bottomLeft, self.topRight) = (bottomLeft, topRight)
    }

    /// The area between two corners, each with its latitude and longitude; nil for points that there are not.
    public init?(bottomLeft: (Double, Double), topRight: (Double, Double)) {
        guard let bottomLeft = GeoPoint(bottomLeft), let topRight = GeoPoint(topRight) else { return nil }
        self.init(bottomLeft: bottomLeft, topRight: topRight)
    }

    /// The area as queries write it.
    public var _region: String { "geoBox(\(bottomLeft.region), \(topRight.region))" }
}

/// The area around a point.
public struct GeoCircle: RLMGeospatial {
    /// The point in the middle.
    public let center: GeoPoint
    /// The radius as an angle at the center of the earth.
    public let radians: Double

    /// The area around a point; nil for a negative radius.
    public init?(center: GeoPoint, radiusInRadians: Double) {
        guard radiusInRadians >= 0 else { return nil }
        (self.center, radians) = (center, radiusInRadians)
    }

    /// The area around a point.
    public init(center: GeoPoint, radius: Distance) { (self.center, radians) = (center, radius.radians) }

    /// The area around a point with its latitude and longitude; nil for a point that there is not, or a negative radius.
    public init?(center: (Double, Double), radiusInRadians: Double) {
        guard let center = GeoPoint(center) else { return nil }
        self.init(center: center, radiusInRadians: radiusInRadians)
    }

    /// The area around a point with its latitude and longitude; nil for a point that there is not.
    public init?(center: (Double, Double), radius: Distance) {
        guard let center = GeoPoint(center) else { return nil }
        self.init(center: center, radius: radius)
    }

    /// The area as queries write it.
    public var _region: String { "geoCircle(\(center.region), \(radians))" }
}

/// The area inside of a ring of points, without that inside of its holes. Rings end where they begin, and have at least four points with that one.
public struct GeoPolygon: RLMGeospatial {
    /// The ring around the area.
    public let outerRing: [GeoPoint]
    /// The rings around what does not belong to it.
    public let holes: [[GeoPoint]]?

    /// The area inside of a ring; nil for a ring that is open or has too few points.
    public init?(outerRing: [GeoPoint], holes: [[GeoPoint]]? = nil) {
        guard ([outerRing] + (holes ?? [])).allSatisfy({ $0.count > 3 && $0.first == $0.last }) else { return nil }
        (self.outerRing, self.holes) = (outerRing, holes)
    }

    /// The area inside of a ring of points with their latitudes and longitudes; nil for points that there are not, and a ring that is open or has too few points.
    public init?(outerRing: [(Double, Double)], holes: [[(Double, Double)]] = []) {
        let rings = ([outerRing] + holes).map { ring in (ring.count, ring.compactMap { GeoPoint($0) }) }
        guard rings.allSatisfy({ $0.0 == $0.1.count }) else { return nil }
        self.init(outerRing: rings[0].1, holes: rings.dropFirst().map(\.1))
    }

    /// The area inside of a ring of points; see `init(outerRing:holes:)`.
    public init?(outerRing: [(Double, Double)], holes: [(Double, Double)]...) {
        self.init(outerRing: outerRing, holes: holes)
    }

    /// The area as queries write it.
    public var _region: String {
        let rings = ([outerRing] + (holes ?? [])).map { "{\($0.map(\.region).joined(separator: ", "))}" }
        return "geoPolygon(\(rings.joined(separator: ", ")))"
    }
}

extension Query where T: OptionalProtocol, T.Wrapped: EmbeddedObject {
    /// Whether the location that the property holds is in an area; see `RLMGeospatial`.
    public func geoWithin<Area: RLMGeospatial>(_ area: Area) -> Query<Bool> {
        Query<Bool>(.geoWithin(expression, area._region))
    }
}

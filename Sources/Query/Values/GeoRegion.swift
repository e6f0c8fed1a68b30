/// A region of the earth. Edges are great circles; a loop means its smaller side.
package enum GeoRegion: Sendable, Hashable {
    package struct Point: Sendable, Hashable {
        var longitude: Double
        var latitude: Double
    }

    case circle(center: Point, radius: Double)
    /// The first loop is the outer one, the others are holes. A box is the loop of its corners.
    case polygon([[Point]])

    static func box(_ low: Point, _ high: Point) -> GeoRegion {
        .polygon([
            [
                low, Point(longitude: low.longitude, latitude: high.latitude), high,
                Point(longitude: high.longitude, latitude: low.latitude), low,
            ]
        ])
    }

    /// What makes the region one that no point can be tried against; nil if there is nothing.
    var flaw: String? {
        switch self {
        case .circle(let center, let radius):
            if radius.isNaN || radius < 0 { return "a radius of 0 or more" }
            return center.isValid ? nil : Point.range
        case .polygon(let loops):
            for loop in loops {
                guard loop.allSatisfy(\.isValid) else { return Point.range }
                guard loop.first == loop.last else { return "a loop that ends where it begins" }
                guard loop.count >= 4, Set(loop).count == loop.count - 1 else {
                    return "a loop of three different points at least"
                }
            }
            return nil
        }
    }

    func contains(_ point: Point) -> Bool {
        let vector = point.vector
        switch self {
        case .circle(let center, let radius): return center.vector.angle(to: vector) <= radius
        case .polygon(let loops):
            guard let outer = loops.first, Self.isInside(vector, outer) else { return false }
            return !loops.dropFirst().contains { Self.isInside(vector, $0) }
        }
    }

    /// The angle under which the loop is seen from the point goes once around exactly for points inside.
    private static func isInside(_ point: Vector, _ loop: [Point]) -> Bool {
        let corners = loop.map(\.vector)
        let winding = winding(around: point, corners)
        let inside = abs(winding) > .pi
        // The smaller side: seen from the other side of the earth, the loop must not go around as well.
        guard inside, abs(Self.winding(around: -point, corners)) > .pi else { return inside }
        let center = corners.dropLast().reduce(Vector.zero, +)
        return center.dot(point) > 0
    }

    private static func winding(around point: Vector, _ corners: [Vector]) -> Double {
        var sum = 0.0
        for (from, to) in zip(corners, corners.dropFirst()) {
            let left = from - point * from.dot(point)
            let right = to - point * to.dot(point)
            let sine = point.dot(left.cross(right))
            let cosine = left.dot(right)
            sum += SphereMath.angle(sine: sine, cosine: cosine)
        }
        return sum
    }
}

extension GeoRegion.Point {
    fileprivate static let range = "longitudes within 180 and latitudes within 90 degrees"

    var isValid: Bool { abs(longitude) <= 180 && abs(latitude) <= 90 }

    fileprivate var vector: Vector {
        let (sineLatitude, cosineLatitude) = SphereMath.sineAndCosine(latitude * .pi / 180)
        let (sineLongitude, cosineLongitude) = SphereMath.sineAndCosine(longitude * .pi / 180)
        return Vector(x: cosineLatitude * cosineLongitude, y: cosineLatitude * sineLongitude, z: sineLatitude)
    }
}

/// A direction from the center of the earth.
private struct Vector {
    var x: Double
    var y: Double
    var z: Double

    static let zero = Vector(x: 0, y: 0, z: 0)

    static prefix func - (vector: Vector) -> Vector { vector * -1 }
    static func + (left: Vector, right: Vector) -> Vector {
        Vector(x: left.x + right.x, y: left.y + right.y, z: left.z + right.z)
    }
    static func - (left: Vector, right: Vector) -> Vector { left + right * -1 }
    static func * (left: Vector, factor: Double) -> Vector {
        Vector(x: left.x * factor, y: left.y * factor, z: left.z * factor)
    }

    func dot(_ other: Vector) -> Double { x * other.x + y * other.y + z * other.z }

    func cross(_ other: Vector) -> Vector {
        Vector(x: y * other.z - z * other.y, y: z * other.x - x * other.z, z: x * other.y - y * other.x)
    }

    func angle(to other: Vector) -> Double {
        let product = cross(other)
        return SphereMath.angle(sine: product.dot(product).squareRoot(), cosine: dot(other))
    }
}

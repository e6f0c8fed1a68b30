import Changesets
import RealmState

/// Reads the region of a `GEOWITHIN`, whose parts, or the whole of which, may be arguments.
struct RegionReader {
    let arguments: QueryArguments
    let limits: QueryLimits

    func region(_ syntax: GeoSyntax, _ offset: Int) throws(QueryError) -> GeoRegion {
        switch syntax {
        case .box(let low, let high): return .box(try point(low), try point(high))
        case .circle(let center, let radius):
            return .circle(center: try point(center), radius: try coordinate(radius, offset))
        case .polygon(let loops):
            return .polygon(try loops.map { loop throws(QueryError) in try loop.map(point) })
        case .argument(let number):
            guard case .value(.string(let text)) = try arguments.argument(number, offset) else {
                throw .query("expected the text of a region for $\(number)", at: offset)
            }
            let region: GeoSyntax
            do throws(QueryError) {
                region = try TokenReader.region(text.bytes, limits: limits)
            } catch {
                throw .argument("the region in $\(number): \(error.message)", at: offset)
            }
            if case .argument = region {
                throw .argument("expected a region for $\(number), found an argument", at: offset)
            }
            return try self.region(region, offset)
        }
    }

    private func point(_ syntax: GeoSyntax.Point) throws(QueryError) -> GeoRegion.Point {
        GeoRegion.Point(
            longitude: try coordinate(syntax.longitude, syntax.offset),
            latitude: try coordinate(syntax.latitude, syntax.offset))
    }

    private func coordinate(_ syntax: GeoSyntax.Coordinate, _ offset: Int) throws(QueryError) -> Double {
        switch syntax {
        case .number(let value): return value
        case .argument(let number):
            guard case .value(let value) = try arguments.argument(number, offset), let number = Arithmetic.double(value)
            else {
                throw .query("expected a number for the coordinate $\(number)", at: offset)
            }
            return number
        }
    }
}

import Changesets
import RealmState

extension Checker {
    func geoWithin(_ syntax: PathSyntax, _ region: GeoSyntax, _ offset: Int) throws(QueryError) -> Condition {
        let path = try resolve(syntax)
        guard case .objects = path.end, path.suffix == .none, let target = path.hops.last?.target,
            let type = schema[target]
        else {
            throw QueryError(
                .query,
                "expected an embedded object with type and coordinates before GEOWITHIN, found \(path.description)",
                at: offset)
        }
        let region = try self.region(region, offset)
        if let flaw = region.flaw { throw QueryError(.query, "expected a region with \(flaw)", at: offset) }
        guard type.isEmbedded, let kind = type["type"], kind.type == .string, !kind.isCollection,
            let coordinates = type["coordinates"], coordinates.type == .double, coordinates.collection == .list
        else {
            throw QueryError(
                .query,
                "expected \"\(target)\" to be an embedded class with type: string and coordinates: list of double",
                at: offset)
        }
        return .geoWithin(path, GeoProperties(type: kind, coordinates: coordinates), region)
    }

    private func region(_ syntax: GeoSyntax, _ offset: Int) throws(QueryError) -> GeoRegion {
        switch syntax {
        case .box(let low, let high): return .box(try point(low), try point(high))
        case .circle(let center, let radius):
            return .circle(center: try point(center), radius: try coordinate(radius, offset))
        case .polygon(let loops):
            var result: [[GeoRegion.Point]] = []
            for loop in loops {
                var points: [GeoRegion.Point] = []
                for one in loop { points.append(try point(one)) }
                result.append(points)
            }
            return .polygon(result)
        case .argument(let number):
            guard case .value(.string(let text)) = try argument(number, offset) else {
                throw QueryError(.query, "expected the text of a region for $\(number)", at: offset)
            }
            let region: GeoSyntax
            do throws(QueryError) {
                region = try SyntaxParser.parseRegion(text.bytes, limits: limits)
            } catch {
                throw QueryError(.argument, "the region in $\(number): \(error.message)", at: offset)
            }
            if case .argument = region {
                throw QueryError(.argument, "expected a region for $\(number), found an argument", at: offset)
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
            guard case .value(let value) = try argument(number, offset), let number = Arithmetic.double(value) else {
                throw QueryError(.query, "expected a number for the coordinate $\(number)", at: offset)
            }
            return number
        }
    }
}

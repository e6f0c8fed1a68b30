import Changesets
import RealmState

extension TokenReader {
    /// Reads a text that is a region alone, as arguments carry it.
    static func region(_ text: [UInt8], limits: QueryLimits) throws(QueryError) -> GeoSyntax {
        var tokens = try TokenReader(text, limits: limits)
        let region = try tokens.region()
        guard tokens.token.kind == .end else { throw tokens.unexpected("the end of the region") }
        return region
    }

    mutating func region() throws(QueryError) -> GeoSyntax {
        switch token.kind {
        case .argument(let number):
            try advance()
            return .argument(number)
        case .keyword(.geoBox):
            try advance()
            try expect("(")
            let first = try point()
            try expect(",")
            let second = try point()
            try expect(")")
            return .box(first, second)
        case .keyword(.geoCircle):
            try advance()
            try expect("(")
            let center = try point()
            try expect(",")
            let radius = try coordinate()
            try expect(")")
            return .circle(center, radius: radius)
        case .keyword(.geoPolygon):
            try advance()
            try expect("(")
            var loops: [[GeoSyntax.Point]] = []
            repeat {
                try expect("{")
                var points: [GeoSyntax.Point] = []
                repeat { points.append(try point()) } while try skip(",")
                try expect("}")
                loops.append(points)
            } while try skip(",")
            try expect(")")
            return .polygon(loops)
        default: throw unexpected("geoBox, geoCircle, geoPolygon or an argument")
        }
    }

    private mutating func point() throws(QueryError) -> GeoSyntax.Point {
        let offset = token.offset
        try count(at: offset)
        try expect("[")
        let longitude = try coordinate()
        try expect(",")
        let latitude = try coordinate()
        // An altitude, which nothing looks at.
        if try skip(",") { _ = try coordinate() }
        try expect("]")
        return GeoSyntax.Point(longitude: longitude, latitude: latitude, offset: offset)
    }

    private mutating func coordinate() throws(QueryError) -> GeoSyntax.Coordinate {
        let coordinate: GeoSyntax.Coordinate
        switch token.kind {
        case .float(let isSingle):
            switch FloatLiteral.constant(tokenText, isSingle: isSingle) {
            case .value(.float(let bits)): coordinate = .number(Double(Float(bitPattern: bits)))
            case .double(let value, _): coordinate = .number(value)
            default: throw unexpected("a coordinate")
            }
        case .natural(let value): coordinate = .number(Double(value))
        // What the reference prints and cannot read.
        case .constant(.int(let value)): coordinate = .number(Double(value))
        case .argument(let number): coordinate = .argument(number)
        default: throw unexpected("a coordinate: a number or an argument")
        }
        try advance()
        return coordinate
    }
}

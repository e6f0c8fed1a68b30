import Changesets
import RealmState

extension SyntaxParser {
    /// Reads a constant, list, path, aggregate or subquery.
    mutating func value() throws(QueryError) -> ExpressionSyntax {
        let offset = token.offset
        switch token.kind {
        case .symbol(UInt8(ascii: "{")): return .list(try list(nil, offset))
        case .quantifier(let quantifier):
            try advance()
            switch token.kind {
            case .symbol(UInt8(ascii: "{")): return .list(try list(quantifier, offset))
            case .argument(let number):
                try advance()
                try count(at: offset)
                return .constant(LocatedConstant(constant: .argument(number, quantifier), offset: offset))
            default:
                let path = try self.path(quantifier, offset)
                if case .symbol(UInt8(ascii: ".")) = token.kind {
                    throw unexpected("a comparison: a quantifier cannot stand before an aggregate")
                }
                return .path(path)
            }
        case .keyword(.subquery): return try subquery(offset)
        case .identifier, .special, .pathArgument, .compare(.member): return try pathOrAggregate(offset)
        case .keyword(let keyword):
            if keyword == .binary, let constant = try binary(offset) { return .constant(constant) }
            if keyword.isName { return try pathOrAggregate(offset) }
            return .constant(try constant())
        default: return .constant(try constant())
        }
    }

    private mutating func list(_ quantifier: Quantifier?, _ offset: Int) throws(QueryError) -> ListSyntax {
        var list = ListSyntax(elements: [], quantifier: quantifier, offset: offset)
        try expect("{")
        if try skip("}") { return list }
        repeat { list.elements.append(try constant()) } while try skip(",")
        guard try skip("}") else { throw unexpected("\",\" or \"}\" in the list") }
        return list
    }

    private mutating func subquery(_ offset: Int) throws(QueryError) -> ExpressionSyntax {
        try advance()
        try expect("(")
        let path = try self.path(nil, token.offset, isPlain: true)
        try expect(",")
        let variableOffset = token.offset
        let variable = try name("the subquery's variable")
        guard variable.bytes.first == UInt8(ascii: "$"), variable.count > 1 else {
            throw .syntax(
                "expected a variable that begins with \"$\", such as $x, found \"\(variable)\"", at: variableOffset)
        }
        try expect(",")
        let condition = try nestedCondition()
        try expect(")")
        try expect(".")
        guard case .count = token.kind else { throw unexpected("@count after the subquery") }
        try advance()
        return .subquery(path, variable: variable, condition)
    }

    /// `bin("...")`; nil if the word is a property's name.
    private mutating func binary(_ offset: Int) throws(QueryError) -> LocatedConstant? {
        let ahead = self
        try advance()
        guard try skip("(") else {
            self = ahead
            return nil
        }
        let bytes: [UInt8]
        switch token.kind {
        case .string(let text): bytes = text
        case .base64(let decoded): bytes = decoded
        default: throw unexpected("a string in binary( )")
        }
        try advance()
        try expect(")")
        try count(at: offset)
        return LocatedConstant(constant: .value(.binary(bytes)), offset: offset)
    }
}

// MARK: - Constants

extension SyntaxParser {
    mutating func constant() throws(QueryError) -> LocatedConstant {
        let offset = token.offset
        try count(at: offset)
        let constant: ConstantSyntax
        switch token.kind {
        case .constant(.timestamp(let value)) where !value.isValid:
            throw .syntax("expected seconds and nanoseconds of one sign, and fewer than 10^9", at: offset)
        case .constant(let found): constant = .value(found)
        case .natural(let value): constant = .value(.int(value))
        case .float(let isSingle): constant = FloatLiteral.constant(tokenText, isSingle: isSingle)
        case .infinity(let isNegative):
            constant = .double(isNegative ? -.infinity : .infinity, text: isNegative ? "-inf" : "inf")
        case .nan: constant = .double(.nan, text: "nan")
        case .string(let bytes), .base64(let bytes): constant = .value(.string(ByteString(bytes)))
        case .argument(let number): constant = .argument(number, nil)
        case .localLink:
            throw .query("expected obj(\"Class\", key) for a link: keys within one file mean nothing here", at: offset)
        case .quantifier(let quantifier):
            try advance()
            guard case .argument(let number) = token.kind else {
                throw unexpected("an argument $n after the quantifier")
            }
            constant = .argument(number, quantifier)
        case .keyword(.obj): return LocatedConstant(constant: try object(), offset: offset)
        case .keyword(.binary):
            guard let binary = try binary(offset) else { throw unexpected("a constant") }
            return binary
        default: throw unexpected("a value: a property, constant, list or subquery")
        }
        try advance()
        return LocatedConstant(constant: constant, offset: offset)
    }

    /// `obj("Class", key)`
    private mutating func object() throws(QueryError) -> ConstantSyntax {
        try advance()
        try expect("(")
        guard case .string(let name) = token.kind else { throw unexpected("the name of a class, in quotes") }
        try advance()
        try expect(",")
        let key: ConstantSyntax
        switch token.kind {
        case .natural(let value): key = .value(.int(value))
        // In base64 if the key has quotes or other special bytes: what canonical texts hold for it.
        case .string(let bytes), .base64(let bytes): key = .value(.string(ByteString(bytes)))
        case .argument(let number): key = .argument(number, nil)
        case .constant(let found) where ObjectKey(found) != nil: key = .value(found)
        default: throw unexpected("a primary key: an integer, string, oid or uuid")
        }
        try advance()
        try expect(")")
        return .object(className: ByteString(name), key: key)
    }
}

// MARK: - Paths

extension SyntaxParser {
    private mutating func pathOrAggregate(_ offset: Int) throws(QueryError) -> ExpressionSyntax {
        let path = try self.path(nil, offset)
        guard case .aggregate(let function) = token.kind else { return .path(path) }
        try advance()
        var field: ByteString?
        if try skip(".") { field = try name("a property after the aggregate") }
        return .aggregate(path, function, field: field)
    }

    /// Reads a path and its suffix; before an aggregate the dot is taken, too.
    /// - Parameter isPlain: whether neither may follow.
    mutating func path(_ quantifier: Quantifier?, _ offset: Int, isPlain: Bool = false) throws(QueryError) -> PathSyntax
    {
        var path = PathSyntax(elements: [], quantifier: quantifier, offset: offset)
        if case .pathArgument(let number) = token.kind {
            path.elements.append(.init(element: .path(number), offset: token.offset))
            try advance()
        } else {
            path.elements.append(.init(element: .key(try name("a property")), offset: offset))
        }
        while true {
            try check(pathElements: path.elements.count)
            let position = token.offset
            if try skip("[") {
                if case .keyword(.size) = token.kind, !isPlain {
                    try advance()
                    try expect("]")
                    path.suffix = .count
                    return path
                }
                path.elements.append(.init(element: try index(), offset: position))
                try expect("]")
            } else if case .symbol(UInt8(ascii: ".")) = token.kind {
                let ahead = self
                try advance()
                switch token.kind {
                case .count where !isPlain: path.suffix = .count
                case .type where !isPlain: path.suffix = .type
                case .aggregate where !isPlain:
                    if quantifier != nil { self = ahead }
                    return path
                default:
                    let place = token.offset
                    path.elements.append(.init(element: .key(try name("a property after the dot")), offset: place))
                    continue
                }
                try advance()
                return path
            } else {
                return path
            }
        }
    }

    private mutating func index() throws(QueryError) -> PathSyntax.Element {
        let element: PathSyntax.Element
        switch token.kind {
        case .natural(let value): element = .index(value)
        case .keyword(.first): element = .index(0)
        case .keyword(.last): element = .last
        case .symbol(UInt8(ascii: "*")): element = .all
        // In base64 if the key has quotes or other special bytes: what canonical texts hold for it.
        case .string(let bytes), .base64(let bytes): element = .key(ByteString(bytes))
        case .argument(let number): element = .argument(number)
        default: throw unexpected("an index: a number, FIRST, LAST, SIZE, *, a key in quotes or an argument")
        }
        try advance()
        return element
    }

    mutating func name(_ what: String) throws(QueryError) -> ByteString {
        let name: ByteString
        switch token.kind {
        case .identifier(let found): name = found
        case .special, .compare(.member): name = tokenText
        case .keyword(let keyword) where keyword.isName: name = tokenText
        default: throw unexpected(what)
        }
        if case .compare(.member) = token.kind, !["in", "IN"].contains(name.string) { throw unexpected(what) }
        try advance()
        return name
    }
}

// MARK: - What follows a condition

extension SyntaxParser {
    mutating func arrangement() throws(QueryError) -> [ArrangementSyntax] {
        var result: [ArrangementSyntax] = []
        while case .keyword(let keyword) = token.kind {
            switch keyword {
            case .sort:
                try advance()
                result.append(.sort(try sortKeys()))
            case .distinct:
                try advance()
                result.append(.distinct(try distinctPaths()))
            case .limit:
                try advance()
                try expect("(")
                guard case .natural(let count) = token.kind else { throw unexpected("a number in LIMIT( )") }
                try advance()
                try expect(")")
                result.append(.limit(count))
            default: return result
            }
            try check(pathElements: result.count)
        }
        return result
    }

    private mutating func sortKeys() throws(QueryError) -> [(path: PathSyntax, ascending: Bool)] {
        try expect("(")
        var keys: [(path: PathSyntax, ascending: Bool)] = []
        repeat {
            try check(pathElements: keys.count)
            let path = try self.path(nil, token.offset, isPlain: true)
            switch token.kind {
            case .keyword(.ascending): keys.append((path, true))
            case .keyword(.descending): keys.append((path, false))
            default: throw unexpected("ASC or DESC")
            }
            try advance()
        } while try skip(",")
        try expect(")")
        return keys
    }

    private mutating func distinctPaths() throws(QueryError) -> [PathSyntax] {
        try expect("(")
        var paths: [PathSyntax] = []
        repeat {
            try check(pathElements: paths.count)
            paths.append(try path(nil, token.offset, isPlain: true))
        } while try skip(",")
        try expect(")")
        return paths
    }
}

// MARK: - Regions

extension SyntaxParser {
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

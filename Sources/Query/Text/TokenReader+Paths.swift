import Changesets

extension TokenReader {
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

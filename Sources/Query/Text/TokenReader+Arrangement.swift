extension TokenReader {
    /// Reads what may follow a condition: SORT, DISTINCT and LIMIT.
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

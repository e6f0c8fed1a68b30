import Changesets
import RealmState

extension TokenReader {
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

    /// `bin("...")`; nil if the word is a property's name.
    mutating func binary(_ offset: Int) throws(QueryError) -> LocatedConstant? {
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

import Changesets
import RealmState

/// Cuts a query's text into tokens: the longest that fits, and among equals the more special one.
struct Lexer {
    let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func next() throws(QueryError) -> Token {
        while let byte = peek(), byte == 0x20 || (byte >= 0x09 && byte <= 0x0D && byte != 0x0B && byte != 0x0C) {
            position += 1
        }
        let start = position
        guard let byte = peek() else { return Token(kind: .end, range: start..<start) }
        let kind: Token.Kind
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"):
            kind = try number(from: byte)
        case UInt8(ascii: "\""), UInt8(ascii: "'"): kind = .string(try string(quote: byte))
        case UInt8(ascii: "@"): kind = try special()
        case UInt8(ascii: "["):
            if let (flags, length) = textFlags() {
                kind = flags
                position += length
            } else {
                kind = .symbol(byte)
                position += 1
            }
        case UInt8(ascii: "#"): kind = try markedName()
        default:
            if let (found, length) = comparison(byte) {
                kind = found
                position += length
            } else if ByteString("(),{}]*/").bytes.contains(byte) {
                kind = .symbol(byte)
                position += 1
            } else {
                kind = try word()
            }
        }
        return Token(kind: kind, range: start..<position)
    }

    private func peek(_ distance: Int = 0) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    private func has(_ text: StaticString, at distance: Int = 0) -> Bool {
        guard position + distance + text.utf8CodeUnitCount <= bytes.count else { return false }
        return text.withUTF8Buffer { $0.elementsEqual(bytes[(position + distance)...].prefix($0.count)) }
    }

    private func invalid(_ message: String) -> QueryError { .syntax(message, at: position) }

    /// How a comparison of texts is to be made, and the length of what says so.
    private func textFlags() -> (Token.Kind, Int)? {
        if has("[c]") { return (.textFlags(ignoresCase: true, ignoresMarks: false), 3) }
        if has("[d]") { return (.textFlags(ignoresCase: false, ignoresMarks: true), 3) }
        if has("[cd]") || has("[dc]") { return (.textFlags(ignoresCase: true, ignoresMarks: true), 4) }
        return nil
    }

    private func comparison(_ byte: UInt8) -> (Token.Kind, Int)? {
        let next = peek(1)
        switch (byte, next) {
        case (UInt8(ascii: "="), UInt8(ascii: "=")): return (.compare(.equal), 2)
        case (UInt8(ascii: "="), UInt8(ascii: "<")): return (.compare(.lessOrEqual), 2)
        case (UInt8(ascii: "="), UInt8(ascii: ">")): return (.compare(.greaterOrEqual), 2)
        case (UInt8(ascii: "="), _): return (.compare(.equal), 1)
        case (UInt8(ascii: "!"), UInt8(ascii: "=")): return (.compare(.notEqual), 2)
        case (UInt8(ascii: "!"), _): return (.not, 1)
        case (UInt8(ascii: "<"), UInt8(ascii: ">")): return (.compare(.notEqual), 2)
        case (UInt8(ascii: "<"), UInt8(ascii: "=")): return (.compare(.lessOrEqual), 2)
        case (UInt8(ascii: "<"), _): return (.compare(.less), 1)
        case (UInt8(ascii: ">"), UInt8(ascii: "=")): return (.compare(.greaterOrEqual), 2)
        case (UInt8(ascii: ">"), _): return (.compare(.greater), 1)
        case (UInt8(ascii: "&"), UInt8(ascii: "&")): return (.and, 2)
        case (UInt8(ascii: "|"), UInt8(ascii: "|")): return (.or, 2)
        default: return nil
        }
    }

    private mutating func special() throws(QueryError) -> Token.Kind {
        let words: [(StaticString, Token.Kind)] = [
            ("@size", .count), ("@count", .count), ("@max", .aggregate(.max)), ("@min", .aggregate(.min)),
            ("@sum", .aggregate(.sum)), ("@avg", .aggregate(.average)), ("@links", .special), ("@type", .type),
            ("@keys", .special), ("@values", .special),
        ]
        for (word, kind) in words where has(word) {
            position += word.utf8CodeUnitCount
            return kind
        }
        throw invalid("expected @count, @size, @min, @max, @sum, @avg, @type, @links, @keys or @values after \"@\"")
    }

    /// The bytes between the quotes. Escapes are checked, not decoded: clients do the same.
    private mutating func string(quote: UInt8) throws(QueryError) -> [UInt8] {
        var end = position + 1
        while end < bytes.count, bytes[end] != quote {
            if bytes[end] == UInt8(ascii: "\\") {
                guard let length = escapeLength(at: end) else {
                    throw .syntax("expected one of \" ' / b f n r t 0 \\ or uXXXX after a backslash", at: end)
                }
                end += length
            } else {
                end += 1
            }
        }
        guard end < bytes.count else { throw invalid("the string that begins here has no end") }
        defer { position = end + 1 }
        return Array(bytes[(position + 1)..<end])
    }

    private func escapeLength(at offset: Int) -> Int? {
        guard offset + 1 < bytes.count else { return nil }
        let byte = bytes[offset + 1]
        if byte == UInt8(ascii: "u") {
            let digits = bytes[(offset + 2)...].prefix(4)
            return digits.count == 4 && digits.allSatisfy { $0.hexDigit != nil } ? 6 : nil
        }
        return ByteString("\"'/bfnrt0\\").bytes.contains(byte) ? 2 : nil
    }
}

// MARK: - Words

extension Lexer {
    private mutating func word() throws(QueryError) -> Token.Kind {
        let start = position
        if has("B64\""), let (decoded, end) = try base64() {
            position = end
            return .base64(decoded)
        }
        guard let (name, end, isPlain) = identifier(at: start) else { throw invalid("unexpected character") }
        if let (kind, longer) = literal(start), longer > end || (longer == end && isPlain) {
            position = longer
            return kind
        }
        position = end
        if isPlain, let kind = keyword(name) { return kind }
        return .identifier(ByteString(name))
    }

    /// `#any`: a property's name, whatever else the word means.
    private mutating func markedName() throws(QueryError) -> Token.Kind {
        guard position + 1 < bytes.count, let (name, end, _) = identifier(at: position + 1) else {
            throw invalid("expected a property's name after \"#\"")
        }
        position = end
        return .identifier(ByteString(name))
    }

    /// A name, where it ends, and whether it has no escapes.
    private func identifier(at start: Int) -> (name: [UInt8], end: Int, isPlain: Bool)? {
        guard var end = identifierStart(at: start) else { return nil }
        var name = Array(bytes[start..<end])
        var isPlain = true
        while let next = identifierPart(at: end) {
            if bytes[end] == UInt8(ascii: "\\") {
                name.append(next.decoded)
                isPlain = false
            } else {
                name.append(contentsOf: bytes[end..<next.end])
            }
            end = next.end
        }
        return (name, end, isPlain)
    }

    private func identifierStart(at offset: Int) -> Int? {
        let byte = bytes[offset]
        if byte.isLetter || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") { return offset + 1 }
        return wideCharacter(at: offset)
    }

    private func identifierPart(at offset: Int) -> (end: Int, decoded: UInt8)? {
        guard offset < bytes.count else { return nil }
        let byte = bytes[offset]
        if byte.decimalDigit != nil || byte == UInt8(ascii: "-") { return (offset + 1, byte) }
        if byte == UInt8(ascii: "\\"), offset + 1 < bytes.count {
            switch bytes[offset + 1] {
            case UInt8(ascii: " "): return (offset + 2, 0x20)
            case UInt8(ascii: "n"): return (offset + 2, 0x0A)
            case UInt8(ascii: "r"): return (offset + 2, 0x0D)
            case UInt8(ascii: "t"): return (offset + 2, 0x09)
            default: return nil
            }
        }
        return identifierStart(at: offset).map { ($0, byte) }
    }

    /// The end of a character of two or more bytes of UTF-8.
    private func wideCharacter(at offset: Int) -> Int? {
        let length: Int
        switch bytes[offset] {
        case 0xC2...0xDF: length = 2
        case 0xE0...0xEF: length = 3
        case 0xF0...0xF7: length = 4
        default: return nil
        }
        let tail = bytes[(offset + 1)...].prefix(length - 1)
        return tail.count == length - 1 && tail.allSatisfy { $0 & 0xC0 == 0x80 } ? offset + length : nil
    }

    private func keyword(_ name: [UInt8]) -> Token.Kind? {
        guard name.count <= 14 else { return nil }
        switch String(decoding: name, as: UTF8.self) {
        case "in", "IN": return .compare(.member)
        case "not", "NOT": return .not
        case "any", "ANY", "some", "SOME": return .quantifier(.any)
        case "all", "ALL": return .quantifier(.all)
        case "none", "NONE": return .quantifier(.none)
        case "true", "TRUE": return .constant(.bool(true))
        case "false", "FALSE": return .constant(.bool(false))
        case "first", "FIRST": return .keyword(.first)
        case "last", "LAST": return .keyword(.last)
        case "size", "SIZE": return .keyword(.size)
        default: break
        }
        switch String(decoding: name.map(\.asciiLowercase), as: UTF8.self) {
        case "and": return .and
        case "or": return .or
        case "null", "nil": return .constant(.null)
        case "inf", "infinity": return .infinity(isNegative: false)
        case "nan": return .nan
        case "asc": return .keyword(.ascending)
        case "desc": return .keyword(.descending)
        case "bin": return .keyword(.binary)
        // What canonical texts call TEXT.
        case "fulltext": return .keyword(.text)
        case "first", "last", "size": return nil
        case let lower: return Keyword(rawValue: lower).map { .keyword($0) }
        }
    }

    /// A literal that begins like a name: ids, timestamps, arguments, local links.
    private func literal(_ start: Int) -> (Token.Kind, Int)? {
        var scan = Scan(bytes, start)
        switch bytes[start] {
        case UInt8(ascii: "o"):
            guard scan.skip("oid("), let digits = scan.hex(24), scan.skip(")") else { return nil }
            let high = digits[..<16].reduce(UInt64(0)) { $0 << 4 | UInt64($1) }
            let low = digits[16...].reduce(UInt32(0)) { $0 << 4 | UInt32($1) }
            return (.constant(.objectID(ObjectIDValue(high: high, low: low))), scan.position)
        case UInt8(ascii: "u"):
            guard scan.skip("uuid("), let value = scan.uuid(), scan.skip(")") else { return nil }
            return (.constant(.uuid(value)), scan.position)
        case UInt8(ascii: "T"):
            guard scan.skip("T"), let seconds = scan.signedDigits(), scan.skip(":"),
                let nanoseconds = scan.signedDigits()
            else { return nil }
            let value =
                TimestampLiteral.unix(seconds: seconds, nanoseconds: nanoseconds) ?? TimestampLiteral.invalid
            return (.constant(.timestamp(value)), scan.position)
        case UInt8(ascii: "$"):
            guard scan.skip("$") else { return nil }
            let isPath = scan.skip("K")
            guard let digits = scan.digits() else { return nil }
            let number = Int(clamping: NaturalLiteral.decimal(digits))
            return (isPath ? .pathArgument(number) : .argument(number), scan.position)
        case UInt8(ascii: "O"):
            guard scan.skip("O"), scan.digits() != nil else { return nil }
            return (.localLink, scan.position)
        case UInt8(ascii: "L"):
            guard scan.skip("L"), scan.digits() != nil, scan.skip(":"), scan.digits() != nil else { return nil }
            return (.localLink, scan.position)
        default: return nil
        }
    }

    /// What `B64"..."` holds; nil if that is no base64 string at all.
    private func base64() throws(QueryError) -> ([UInt8], Int)? {
        let start = position + 4
        guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        guard let decoded = Base64Text.decode(bytes[start..<end]) else {
            throw invalid("expected base64 between the quotes")
        }
        return (decoded, end + 1)
    }
}

// MARK: - Numbers

extension Lexer {
    private mutating func number(from byte: UInt8) throws(QueryError) -> Token.Kind {
        let start = position
        if let (value, end) = try TimestampLiteral.date(in: bytes, at: start) {
            position = end
            return .constant(.timestamp(value))
        }
        var scan = Scan(bytes, start)
        if scan.skip("0x") || scan.skip("0X"), let digits = scan.hexDigits() {
            position = scan.position
            return .constant(.int(NaturalLiteral.value(digits, radix: 16)))
        }
        scan = Scan(bytes, start)
        let isSigned = scan.skip("+") || scan.skip("-")
        let isNegative = byte == UInt8(ascii: "-")
        if isSigned {
            for word in ["infinity", "inf", "nan"] where scan.skipIgnoringCase(word) {
                position = scan.position
                return word == "nan" ? .nan : .infinity(isNegative: isNegative)
            }
        }
        let whole = scan.digits()
        var isFloat = false
        var ahead = scan
        if ahead.skip("."), ahead.digits() != nil || whole != nil {
            isFloat = true
            scan = ahead
        }
        guard whole != nil || isFloat else {
            position = start + 1
            return .symbol(byte)
        }
        ahead = scan
        if ahead.skip("e") || ahead.skip("E"), ahead.signedDigits() != nil {
            isFloat = true
            scan = ahead
        }
        let isSingle = scan.skip("f")
        position = scan.position
        if isFloat || isSingle { return .float(isSingle: isSingle) }
        let magnitude = NaturalLiteral.magnitude(whole ?? [])
        guard isSigned else { return .natural(Int64(clamping: magnitude)) }
        return .constant(.int(NaturalLiteral.signed(magnitude, isNegative: isNegative)))
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { asciiLowercase >= UInt8(ascii: "a") && asciiLowercase <= UInt8(ascii: "z") }
}

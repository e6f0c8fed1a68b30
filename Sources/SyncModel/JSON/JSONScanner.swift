/// Reads the tokens of JSON (RFC 8259) off bytes, one after the other: what parsers of JSON have in common.
package struct JSONScanner {
    /// Longer texts name no number that any of our types can hold.
    private static let maxNumberBytes = 400

    package let bytes: [UInt8]
    package private(set) var index = 0

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// The error that something else was expected here.
    package func expected(_ what: String, _ reason: JSONSyntaxError.Reason = .syntax) -> JSONSyntaxError {
        JSONSyntaxError(reason: reason, expected: what, offset: index)
    }

    package mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    /// Passes over a byte, if it is the next one.
    package mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        index += 1
        return true
    }

    /// Passes over a word such as `true`.
    package mutating func take(_ word: StaticString) throws(JSONSyntaxError) {
        for byte in word.description.utf8 where !take(byte) { throw expected(word.description) }
    }

    /// Passes over what may follow a document.
    package mutating func finish() throws(JSONSyntaxError) {
        skipSpace()
        guard index == bytes.count else { throw expected("the end") }
    }

    // MARK: Numbers

    /// Reads a number, which `isInteger` unless it has a point or an exponent.
    package mutating func number() throws(JSONSyntaxError) -> (text: String, isInteger: Bool) {
        let start = index
        var isInteger = true
        _ = take(UInt8(ascii: "-"))
        let leadingZero = current == UInt8(ascii: "0")
        let count = digits()
        guard count > 0, !leadingZero || count == 1 else { throw expected("a value") }
        if take(UInt8(ascii: ".")) {
            isInteger = false
            guard digits() > 0 else { throw expected("a digit") }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digits() > 0 else { throw expected("a digit") }
        }
        guard index - start <= Self.maxNumberBytes else { throw expected("a shorter number") }
        return (String(decoding: bytes[start..<index], as: UTF8.self), isInteger)
    }

    private mutating func digits() -> Int {
        let start = index
        while let byte = current, byte >= 0x30, byte <= 0x39 { index += 1 }
        return index - start
    }

    // MARK: Strings

    /// Reads a string that begins with the quote here: its bytes, which are UTF-8.
    package mutating func string() throws(JSONSyntaxError) -> [UInt8] {
        index += 1
        let start = index
        skipPlain()
        // Most strings have nothing to be replaced.
        var content = Array(bytes[start..<index])
        while true {
            guard let byte = current else { throw expected("a closing quote") }
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                let isText = content.withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) != nil }
                guard isText else { throw expected("valid UTF-8") }
                return content
            case UInt8(ascii: "\\"): try escape(into: &content)
            case ..<0x20: throw expected("control characters escaped")
            default: content.append(byte)
            }
        }
    }

    /// Passes over bytes of a string that stand for themselves.
    private mutating func skipPlain() {
        let start = index
        index = bytes.withUnsafeBufferPointer { bytes in
            var index = start
            while index < bytes.count, bytes[index] >= 0x20, bytes[index] != UInt8(ascii: "\""),
                bytes[index] != UInt8(ascii: "\\")
            {
                index += 1
            }
            return index
        }
    }

    private mutating func escape(into content: inout [UInt8]) throws(JSONSyntaxError) {
        guard let byte = current else { throw expected("an escape") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"):
            let scalar = try escapedScalar()
            content.append(contentsOf: Character(scalar).utf8)
        default: throw expected("a known escape")
        }
    }

    private mutating func escapedScalar() throws(JSONSyntaxError) -> Unicode.Scalar {
        let unit = try hexUnit()
        var code = UInt32(unit)
        if (0xD800..<0xDC00).contains(unit) {
            guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw expected("a low surrogate") }
            let low = try hexUnit()
            guard (0xDC00..<0xE000).contains(low) else { throw expected("a low surrogate") }
            code = 0x10000 + (UInt32(unit - 0xD800) << 10) + UInt32(low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw expected("no lone surrogate") }
        return scalar
    }

    private mutating func hexUnit() throws(JSONSyntaxError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw expected("four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }
}

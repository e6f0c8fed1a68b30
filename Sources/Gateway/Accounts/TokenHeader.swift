import Foundation

/// The header of a JWT, looked at before jwt-kit reads it.
///
/// jwt-kit makes an `Int` of every whole number in a header, and ends the process over one that is too large (5.7.1), before it looks at
/// the signature: whoever can send a token could end a gateway. It also takes a second for a kilobyte of brackets in one another.
enum TokenHeader {
    /// Digits of the longest number that a header may have: no token needs one at all.
    private static let maxDigits = 15
    /// So many objects and lists in one another, the header among them: keys and certificates take two.
    private static let maxDepth = 4

    /// The header as JSON; nil if the token has not three parts, or if jwt-kit must not read it.
    static func json(of token: String) -> Data? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let json = decoded(parts[0]), isHarmless(json) else { return nil }
        return json
    }

    static func decoded(_ part: Substring) -> Data? {
        var text = String(part).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        return Data(base64Encoded: text)
    }

    /// Whether nothing is nested deeply, and all numbers outside of texts are short and without an exponent. A zero byte is in no JSON but UTF-16 and UTF-32.
    private static func isHarmless(_ json: Data) -> Bool {
        var isInText = false
        var isEscaped = false
        var digits = 0
        var depth = 0
        for byte in json {
            if byte == 0 { return false }
            if isInText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else {
                    isInText = byte != UInt8(ascii: "\"")
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digits += 1
                if digits > maxDigits { return false }
            case UInt8(ascii: "e"), UInt8(ascii: "E"): if digits > 0 { return false }
            case UInt8(ascii: "."): break
            case UInt8(ascii: "\""): (isInText, digits) = (true, 0)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                (depth, digits) = (depth + 1, 0)
                if depth > maxDepth { return false }
            case UInt8(ascii: "}"), UInt8(ascii: "]"): (depth, digits) = (depth - 1, 0)
            default: digits = 0
            }
        }
        return true
    }
}

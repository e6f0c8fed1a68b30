import Changesets
import Query

/// A regular expression that a query can say: a text, perhaps with anchors.
struct PlainRegex {
    private(set) var op: ComparisonOperator
    private(set) var text: ByteString
    let ignoresCase: Bool

    /// - Throws: `unsupportedOperator` for any other expression or option.
    init(_ pattern: ByteString, options: String) throws(DocumentError) {
        guard options.isEmpty || options == "i" else {
            throw DocumentError(.unsupportedOperator, "expected no option but i, came \"\(options.shortened)\"")
        }
        ignoresCase = options == "i"
        var rest = pattern.bytes[...]
        let isAnchored = rest.first == UInt8(ascii: "^")
        if isAnchored { rest = rest.dropFirst() }
        var isAnchoredAtEnd = false
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "$") where rest.isEmpty: isAnchoredAtEnd = true
            case UInt8(ascii: "\\"):
                // An escaped letter or digit is a class of characters, or a reference.
                guard let next = rest.popFirst(), next < 0x80, !Self.isWord(next) else {
                    throw Self.unsupported(pattern)
                }
                bytes.append(next)
            case _ where Array(".^$*+?()[]{}|".utf8).contains(byte): throw Self.unsupported(pattern)
            default: bytes.append(byte)
            }
        }
        text = ByteString(bytes)
        switch (isAnchored, isAnchoredAtEnd) {
        case (true, true): op = .equal
        case (true, false): op = .beginsWith
        case (false, true): op = .endsWith
        case (false, false): op = .contains
        }
        guard !ignoresCase || bytes.allSatisfy({ $0 < 0x80 }) else {
            throw DocumentError(.unsupportedOperator, "expected ASCII for a search that ignores case")
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    private static func unsupported(_ pattern: ByteString) -> DocumentError {
        DocumentError(
            .unsupportedOperator,
            "expected a text, perhaps between ^ and $, with \\ before special characters; came \"\(pattern.string.shortened)\""
        )
    }
}

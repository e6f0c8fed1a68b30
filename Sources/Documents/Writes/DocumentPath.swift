package import Changesets

/// A dotted path: `address.city`, `tags.0`, `meta.color`.
package struct DocumentPath: Hashable, Sendable, CustomStringConvertible {
    package let elements: [ByteString]

    /// - Throws: `invalidWrite` for a path with an empty name, or with a placeholder such as `$` or `$[]`, and `limit`.
    package init(_ text: ByteString, maxElements: Int) throws(DocumentError) {
        let parts = text.bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count <= maxElements else {
            throw DocumentError(.limit, "expected a path of at most \(maxElements) names, came \(parts.count)")
        }
        for part in parts {
            guard let first = part.first else {
                throw DocumentError(.invalidWrite, "expected names between the dots of a path")
            }
            guard first != UInt8(ascii: "$") else {
                let name = String(decoding: part, as: UTF8.self).shortened
                throw DocumentError(.unsupportedOperator, "the placeholder \(name) is not supported in paths")
            }
        }
        elements = parts.map { ByteString(Array($0)) }
    }

    package var description: String { elements.map(\.string).joined(separator: ".") }
    var first: ByteString { elements.first ?? "" }

    /// Whether the one path leads to what the other one leads into.
    func overlaps(_ other: DocumentPath) -> Bool {
        zip(elements, other.elements).allSatisfy { $0 == $1 }
    }
}

extension ByteString {
    /// The index of a list that a path's element is; nil if it is none.
    var listIndex: Int? {
        guard !bytes.isEmpty, bytes.count <= 9, bytes.allSatisfy({ (0x30...0x39).contains($0) }),
            bytes.count == 1 || bytes.first != 0x30
        else { return nil }
        return Int(string)
    }
}

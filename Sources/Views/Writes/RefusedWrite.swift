package import Changesets

/// Why a client's write to an object does not count.
package struct RefusedWrite: Equatable, Sendable {
    package enum Reason: UInt8, Sendable {
        /// The user's role does not allow it.
        case permission = 0
        /// The object is outside of the client's view.
        case view = 1
    }

    package var className: ByteString
    package var key: ObjectKey
    package var reason: Reason

    package init(className: ByteString, key: ObjectKey, reason: Reason) {
        self.className = className
        self.key = key
        self.reason = reason
    }

    /// What the client is told.
    package var text: String {
        let text = "write to \(key.shown) in table \"\(className.string)\" not allowed"
        return reason == .view ? text + "; object is outside of the current query view" : text
    }
}

extension ObjectKey {
    /// As messages to apps name it.
    fileprivate var shown: String {
        switch self {
        case .null: "null"
        case .int(let value): String(value)
        case .string(let value): "\"\(value.string)\""
        case .globalKey(let high, let low): "\(high)-\(low)"
        case .objectID(let value):
            "ObjectID(\"\(Self.hex(value.high, 16))\(Self.hex(UInt64(value.low), 8))\")"
        case .uuid(let value):
            "UUID(\(Self.hex(value.high >> 32, 8))-\(Self.hex(value.high >> 16 & 0xffff, 4))-"
                + "\(Self.hex(value.high & 0xffff, 4))-\(Self.hex(value.low >> 48, 4))-"
                + "\(Self.hex(value.low & 0xffff_ffff_ffff, 12)))"
        }
    }

    private static func hex(_ value: UInt64, _ digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}

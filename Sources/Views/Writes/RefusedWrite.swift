package import Changesets

/// Why a client's write to an object does not count.
package struct RefusedWrite: Equatable, Sendable {
    package enum Reason: UInt8, Sendable {
        /// The user's role does not allow it.
        case permission = 0
        /// The object is outside of the client's view.
        case view = 1
        /// The write would leave a place in the object that no geospatial query could read (`PlaceCheck`).
        case place = 2
    }

    package var className: ByteString
    package var key: ObjectKey
    package var reason: Reason

    package init(className: ByteString, key: ObjectKey, reason: Reason) {
        self.className = className
        self.key = key
        self.reason = reason
    }

    /// The sentence that the client is told.
    package var text: String {
        let text = "write to \(key.shown) in table \"\(className.string)\""
        return switch reason {
        case .permission: "\(text) not allowed"
        case .view: "\(text) not allowed; object is outside of the current query view"
        case .place: "\(text) will corrupt geojson data"
        }
    }
}

extension ObjectKey {
    /// The key as messages to apps name it.
    fileprivate var shown: String {
        switch self {
        case .null, .int, .globalKey: plainText
        case .string: "\"\(plainText)\""
        case .objectID: "ObjectID(\"\(plainText)\")"
        case .uuid: "UUID(\(plainText))"
        }
    }
}

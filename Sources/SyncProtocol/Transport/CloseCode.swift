/// WebSocket close codes, by what stock clients make of them (docs/protocol.md, "Close codes").
package struct CloseCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Ignored by clients, who wait for the end of the TCP connection: close that, too.
    package static let normal = CloseCode(rawValue: 1000)
    /// Makes clients reset every realm on the connection, and send the same UPLOAD once more before they are through: a gateway
    /// closes so once the client's reset is on record, and only a socket that has no other session.
    package static let messageTooBig = CloseCode(rawValue: 1009)
    /// Reconnect with backoff.
    package static let internalError = CloseCode(rawValue: 1011)
    /// The counterpart of HTTP 401: the client refreshes its token and comes back.
    package static let unauthorized = CloseCode(rawValue: 4001)
    /// The counterpart of HTTP 403: the client logs its user out.
    package static let forbidden = CloseCode(rawValue: 4002)
    /// The counterpart of HTTP 301 and 308: the client asks for the location again.
    package static let movedPermanently = CloseCode(rawValue: 4003)
}

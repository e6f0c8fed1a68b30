import SyncModel

/// The client's number for one bound realm on its connection; 0 in a message means the connection itself.
package struct SessionIdent: WireInteger {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The number in error and log messages that speak of the whole connection.
    package static let connection = SessionIdent(rawValue: 0)
    package var isConnection: Bool { rawValue == 0 }
}

/// Names one MARK, so that its answer can be told from others.
package struct RequestIdent: WireInteger {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The number of one subscription set of a flexible client realm; set 0 always exists and is empty.
package struct QueryVersion: WireInteger {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The client's number for one bound realm on its connection; 0 in a message means the connection itself.
package struct SessionIdent: WireInteger {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// What error and log messages carry when they speak of the whole connection.
    package static let connection = SessionIdent(rawValue: 0)
    package var isConnection: Bool { rawValue == 0 }
}

/// The server's number for one client realm; 1 and up, never reused within a realm.
package struct FileIdent: WireInteger {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The unguessable number that proves that a client realm owns its ident.
package struct FileSalt: WireInteger {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A position in a realm's history on the server; 0 is before the first changeset.
package struct ServerVersion: WireInteger {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A position in one client realm's own history.
package struct ClientVersion: WireInteger {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Stored with a server version; another salt for the same version means that history diverged.
package struct VersionSalt: WireInteger {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
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

/// The server's number for one client realm: 2 and up for clients, 1 for the server itself as the author of a change, and
/// 0 on the wire for the sender. Never reused within a realm.
package struct FileIdent: WireInteger {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The author of what the server itself writes: of changes published from a shell, and of the state that a new client
    /// gets in place of the history.
    package static let server = FileIdent(rawValue: 1)
}

/// The unguessable number that proves that a client realm owns its ident.
package struct FileSalt: WireInteger {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A client realm's identity: its number and the secret that goes with it.
package struct ClientFileIdent: Hashable, Codable, Sendable {
    package var ident: FileIdent
    package var salt: FileSalt

    package init(ident: FileIdent, salt: FileSalt) {
        self.ident = ident
        self.salt = salt
    }
}

package import SyncModel

/// The client's IDENT: which client realm this is and how far it has come. Sent once a bind.
package struct Ident: Hashable, Sendable {
    package var session: SessionIdent
    package var file: ClientFileIdent
    package var download: DownloadCursor
    package var latest: SaltedServerVersion
    /// The subscription set in force; flexible mode only, and always there.
    package var query: QuerySet?

    package init(
        session: SessionIdent, file: ClientFileIdent, download: DownloadCursor = DownloadCursor(),
        latest: SaltedServerVersion = SaltedServerVersion(), query: QuerySet? = nil
    ) {
        self.session = session
        self.file = file
        self.download = download
        self.latest = latest
        self.query = query
    }
}

/// QUERY: a new subscription set.
package struct Query: Hashable, Sendable {
    package var session: SessionIdent
    package var query: QuerySet

    package init(session: SessionIdent, query: QuerySet) {
        self.session = session
        self.query = query
    }
}

/// One subscription set: its number, and a JSON object of class name and query text, kept as it came.
package struct QuerySet: Hashable, Codable, Sendable {
    package var version: QueryVersion
    package var text: String

    package init(version: QueryVersion, text: String) {
        self.version = version
        self.text = text
    }

    package init(version: QueryVersion, queries: [String: String]) {
        self.init(version: version, text: JSONWriter.text(of: .object(queries.mapValues { .string($0) })))
    }
}

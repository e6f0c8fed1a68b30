package import SyncModel

/// Reads what clients send: one WebSocket message at a time, strictly by docs/protocol.md, "Lexical rules" and "Client
/// messages".
///
/// Everything it throws names the code to answer. An UPLOAD beyond the limits is a session's error with action
/// ClientReset (section 1.3): any other answer would have the client send it for ever.
package struct ClientMessageParser: Sendable {
    package let mode: SyncMode
    package let version: ProtocolVersion
    package let limits: ProtocolLimits

    package init(mode: SyncMode, version: ProtocolVersion = .maximum, limits: ProtocolLimits = .standard) {
        self.mode = mode
        self.version = version
        self.limits = limits
    }

    package func parse(_ bytes: [UInt8]) throws(SyncProtocolError) -> ClientMessage {
        var reader = HeadReader(bytes)
        guard let word = reader.word() else { throw HeadReader.unknown }
        guard bytes.count <= limits.maxMessageBytes else {
            throw tooLarge(
                "a message of \(bytes.count) bytes, \(limits.maxMessageBytes) allowed",
                session: word == "upload" ? try reader.nonZero("session") : .connection)
        }
        let message = try message(word, &reader)
        try reader.finish()
        return message
    }

    private func message(_ word: String, _ reader: inout HeadReader) throws(SyncProtocolError) -> ClientMessage {
        switch word {
        case "bind": return .bind(try bind(&reader))
        case "ident": return .ident(try ident(&reader))
        case "query" where mode == .flexible:
            // The code that reads the set answers a set that is too long, and that ends no session.
            return .query(
                Query(
                    session: try reader.nonZero("session"),
                    query: try querySet(&reader, maxBytes: limits.maxMessageBytes)))
        case "upload": return .upload(try upload(&reader))
        case "mark":
            return .mark(
                session: try reader.nonZero("session"),
                request: try reader.integer("requestIdent", HeadReader.lineFeed))
        case "unbind": return .unbind(session: try reader.nonZero("session", HeadReader.lineFeed))
        case "ping":
            return .ping(
                timestamp: try reader.number("timestamp"), roundTrip: try reader.number("rtt", HeadReader.lineFeed))
        case "json_error": return .jsonError(try jsonError(&reader))
        case "test_command": return .testCommand(try TestCommand(&reader, limits: limits))
        default: throw HeadReader.unknown
        }
    }

    /// The session of an UPLOAD of which only the beginning was kept because it was too large; nil for anything else.
    package static func uploadSession(inPrefix bytes: [UInt8]) -> SessionIdent? {
        var reader = HeadReader(bytes)
        guard reader.word() == "upload" else { return nil }
        return try? reader.nonZero("session")
    }

    /// The bytes that an UPLOAD takes once it is read: its body is inflated to what its head announces, unless that is beyond the limit, at
    /// which it is refused as it came. Nil for any other message, and for a head that cannot be read.
    package func plainBytes(ofUpload bytes: [UInt8]) -> Int? {
        var reader = HeadReader(bytes)
        guard reader.word() == "upload", let _: SessionIdent = try? reader.nonZero("session"),
            let sizes = try? reader.bodySizes()
        else { return nil }
        return sizes.plain > limits.maxPlainBodyBytes ? bytes.count : max(bytes.count, sizes.plain)
    }

    /// The error to throw, or to answer, when an UPLOAD of `session` (0: something else) is beyond a limit.
    package func tooLarge(
        _ message: String, session: SessionIdent, closeReason: String? = nil
    ) -> SyncProtocolError {
        let message = "limit exceeded: \(message)"
        return session.isConnection
            ? SyncProtocolError(.otherError, action: .protocolViolation, message)
            : SyncProtocolError(
                .otherSessionError, session: session, action: .clientReset, closeReason: closeReason ?? message, message
            )
    }

    private func bind(_ reader: inout HeadReader) throws(SyncProtocolError) -> Bind {
        let session: SessionIdent = try reader.nonZero("session")
        let targetSize = try reader.size("pathSize")
        let tokenSize = try reader.size("tokenSize")
        let needsIdent = try reader.bool("needIdent")
        let isSubserver = try reader.bool("isSubserver", HeadReader.lineFeed)
        guard targetSize <= max(limits.maxJSONBytes, limits.maxPathBytes), tokenSize <= limits.maxTokenBytes else {
            throw tooLarge("BIND: path of \(targetSize), token of \(tokenSize) bytes", session: .connection)
        }
        return Bind(
            session: session, target: try reader.text(targetSize, "path"), token: try reader.text(tokenSize, "token"),
            needsIdent: needsIdent, isSubserver: isSubserver)
    }

    private func ident(_ reader: inout HeadReader) throws(SyncProtocolError) -> Ident {
        var ident = Ident(
            session: try reader.nonZero("session"),
            file: ClientFileIdent(ident: try reader.nonZero("fileIdent"), salt: try reader.nonZero("fileSalt")),
            download: DownloadCursor(
                serverVersion: try reader.integer("dlServerVer"), clientVersion: try reader.integer("dlClientVer")),
            latest: SaltedServerVersion(
                version: try reader.integer("latestServerVer"),
                salt: try reader.integer("latestSalt", mode == .partition ? HeadReader.lineFeed : HeadReader.space)))
        if mode == .flexible { ident.query = try querySet(&reader, maxBytes: limits.maxJSONBytes) }
        return ident
    }

    private func querySet(_ reader: inout HeadReader, maxBytes: Int) throws(SyncProtocolError) -> QuerySet {
        let version: QueryVersion = try reader.integer("queryVer")
        let size = try reader.size("querySize", HeadReader.lineFeed)
        guard size <= maxBytes else {
            throw tooLarge("a query of \(size) bytes, \(maxBytes) allowed", session: .connection)
        }
        return QuerySet(version: version, text: try reader.text(size, "query"))
    }

    private func upload(_ reader: inout HeadReader) throws(SyncProtocolError) -> Upload {
        let session: SessionIdent = try reader.nonZero("session")
        func tooLarge(_ message: String) -> SyncProtocolError { self.tooLarge(message, session: session) }
        // The sizes of the body come first in an UPLOAD's head, before the cursors.
        let sizes = try reader.bodySizes()
        let progress = UploadCursor(
            clientVersion: try reader.integer("progClientVer"), serverVersion: try reader.integer("progServerVer"))
        let locked: ServerVersion = try reader.integer("lockedServerVer", HeadReader.lineFeed)
        let entries = try Body.entries(from: &reader, sizes, limits: limits, tooLarge: tooLarge) {
            (reader: inout HeadReader) throws(SyncProtocolError) in
            let entry = UploadedChangeset(
                clientVersion: try reader.integer("clientVer"), serverVersion: try reader.integer("serverVer"),
                timestamp: try reader.integer("originTimestamp"), changeset: [])
            guard try reader.number("originFileIdent") == 0 else {
                throw SyncProtocolError(
                    .badOriginFileIdent, session: session, "UPLOAD: an entry's originFileIdent is not 0")
            }
            return entry
        }
        return Upload(session: session, progress: progress, lockedServerVersion: locked, entries: entries)
    }

    private func jsonError(_ reader: inout HeadReader) throws(SyncProtocolError) -> ClientJSONError {
        let code = try ErrorCode(&reader)
        let size = try reader.size("size")
        let session: SessionIdent = try reader.nonZero("session", HeadReader.lineFeed)
        guard size <= limits.maxJSONBytes else {
            throw tooLarge("an error of \(size) bytes, \(limits.maxJSONBytes) allowed", session: .connection)
        }
        let fields = try JSONFields(parsing: try reader.raw(size, "body"), of: "JSON_ERROR")
        return ClientJSONError(session: session, code: code, message: try fields.string("message"))
    }
}

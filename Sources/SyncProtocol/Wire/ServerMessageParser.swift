package import SyncModel

/// Reads what servers send, strictly by docs/protocol.md, "Lexical rules" and "Server messages". Whatever it throws
/// means that the connection must be closed; the code is for the log.
package struct ServerMessageParser: Sendable {
    package let mode: SyncMode
    package let version: ProtocolVersion
    package let limits: ProtocolLimits

    package init(mode: SyncMode, version: ProtocolVersion = .maximum, limits: ProtocolLimits = .standard) {
        self.mode = mode
        self.version = version
        self.limits = limits
    }

    package func parse(_ bytes: [UInt8]) throws(SyncProtocolError) -> ServerMessage {
        guard bytes.count <= limits.maxMessageBytes else {
            throw Self.tooLarge("a message of \(bytes.count) bytes, \(limits.maxMessageBytes) allowed")
        }
        var reader = HeadReader(bytes)
        guard let word = reader.word() else { throw HeadReader.unknown }
        let message = try message(word, &reader)
        try reader.finish()
        return message
    }

    private func message(_ word: String, _ reader: inout HeadReader) throws(SyncProtocolError) -> ServerMessage {
        switch word {
        case "ident":
            return .ident(
                session: try reader.nonZero("session"),
                file: ClientFileIdent(
                    ident: try reader.nonZero("fileIdent"),
                    salt: try reader.nonZero("fileSalt", HeadReader.lineFeed)))
        case "download": return .download(try download(&reader))
        case "mark":
            return .mark(
                session: try reader.nonZero("session"),
                request: try reader.integer("requestIdent", HeadReader.lineFeed))
        case "unbound": return .unbound(session: try reader.nonZero("session", HeadReader.lineFeed))
        case "pong": return .pong(timestamp: try reader.number("timestamp", HeadReader.lineFeed))
        case "error":
            let code = try ErrorCode(&reader)
            let size = try bodySize(&reader, HeadReader.space)
            let tryAgain = try reader.bool("tryAgain")
            let session: SessionIdent = try reader.integer("session", HeadReader.lineFeed)
            try checkScope(of: code, session: session)
            return .error(
                PlainError(
                    session: session, code: code, tryAgain: tryAgain, message: try reader.text(size, "message")))
        case "json_error":
            let code = try ErrorCode(&reader)
            let size = try bodySize(&reader, HeadReader.space)
            let session: SessionIdent = try reader.integer("session", HeadReader.lineFeed)
            try checkScope(of: code, session: session)
            let body = try JSONErrorBody(parsing: try reader.raw(size, "body"), code: code)
            return .jsonError(session: session, code: code, body: body)
        case "query_error" where mode == .flexible:
            let code = try ErrorCode(&reader)
            let size = try bodySize(&reader, HeadReader.space)
            let session: SessionIdent = try reader.nonZero("session")
            let version: QueryVersion = try reader.integer("queryVer", HeadReader.lineFeed)
            return .queryError(
                QueryError(
                    session: session, code: code, queryVersion: version, message: try reader.text(size, "message")))
        case "log_message":
            let session: SessionIdent = try reader.integer("session")
            let size = try bodySize(&reader, HeadReader.lineFeed)
            return .logMessage(try LogMessage(session: session, parsing: try reader.raw(size, "body")))
        case "test_command": return .testCommand(try TestCommand(&reader, limits: limits))
        default: throw HeadReader.unknown
        }
    }

    private static func tooLarge(_ message: String) -> SyncProtocolError {
        SyncProtocolError(.limitsExceeded, "limit exceeded: \(message)")
    }

    private func bodySize(_ reader: inout HeadReader, _ separator: UInt8) throws(SyncProtocolError) -> Int {
        let size = try reader.size("size", separator)
        guard size <= limits.maxJSONBytes else {
            throw Self.tooLarge("a body of \(size) bytes, \(limits.maxJSONBytes) allowed")
        }
        return size
    }

    /// A connection's error must have a known code of 100 to 199, a session's one of 200 to 299 (section 7.1).
    private func checkScope(of code: ErrorCode, session: SessionIdent) throws(SyncProtocolError) {
        if session.isConnection {
            guard code.scope == .connection, code.entry != nil else {
                throw SyncProtocolError(.badSyntax, "error \(code): not known as an error of the connection")
            }
        } else if code.scope != .session {
            throw SyncProtocolError(.badSyntax, session: session, "error \(code): expected 200 to 299 for a session")
        }
    }

    private func download(_ reader: inout HeadReader) throws(SyncProtocolError) -> Download {
        let session: SessionIdent = try reader.nonZero("session")
        let progress = SyncProgress(
            download: DownloadCursor(
                serverVersion: try reader.integer("dlServerVer"), clientVersion: try reader.integer("dlClientVer")),
            latest: SaltedServerVersion(
                version: try reader.integer("latestServerVer"), salt: try reader.integer("latestSalt")),
            upload: UploadCursor(
                clientVersion: try reader.integer("upClientVer"), serverVersion: try reader.integer("upServerVer")))
        let detail =
            switch mode {
            case .partition: DownloadDetail.partition(downloadableBytes: try reader.number("downloadableBytes"))
            case .flexible: DownloadDetail.flexible(try batch(&reader))
            }
        let sizes = try reader.bodySizes(HeadReader.lineFeed)
        let entries = try Body.entries(from: &reader, sizes, limits: limits, tooLarge: Self.tooLarge) {
            (reader: inout HeadReader) throws(SyncProtocolError) in
            var entry = HistoryEntry(
                serverVersion: try reader.nonZero("serverVer"), clientVersion: try reader.integer("clientVer"),
                originFile: 0, timestamp: try reader.integer("originTimestamp"), changeset: [])
            entry.originFile = try reader.nonZero("originFileIdent")
            // The size before the server compacted the changeset: for statistics that nobody keeps here.
            _ = try reader.number("originalSize")
            return entry
        }
        return Download(session: session, progress: progress, detail: detail, entries: entries)
    }

    private func batch(_ reader: inout HeadReader) throws(SyncProtocolError) -> FlexibleBatch {
        let queryVersion: QueryVersion = try reader.integer("queryVer")
        let state: BatchState
        if version.hasBatchStates {
            let value = try reader.number("batchState")
            guard let known = Int(exactly: value).flatMap(BatchState.init(rawValue:)) else {
                throw reader.error("batchState \(value), expected 0, 1 or 2")
            }
            state = known
        } else {
            state = try reader.bool("lastInBatch") ? .lastInBatch : .moreToCome
        }
        let progress =
            version.hasDecimalProgress
            ? try reader.fraction("progress") : Double(min(1, try reader.number("progress")))
        return FlexibleBatch(queryVersion: queryVersion, state: state, progress: progress)
    }
}

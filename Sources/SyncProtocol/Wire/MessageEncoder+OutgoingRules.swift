import SyncModel

/// What a server must never send, whatever the session's state: messages that make stock clients terminate, close the
/// connection or wait for ever (docs/protocol.md, "Server messages", "What the client checks" and "Errors"). Rules that
/// need the session's cursors are `DownloadChecker`'s, those of order `ServerConnectionChecker`'s.
extension MessageEncoder {
    func check(_ message: ServerMessage) throws(SyncProtocolError) {
        switch message {
        case .ident(let session, let file):
            try checkSession(session, "IDENT")
            guard file.ident > 0, file.salt > 0 else { throw refusal("IDENT: ident and salt start at 1", session) }
        case .download(let download): try check(download)
        case .mark(let session, _): try checkSession(session, "MARK")
        case .unbound(let session): try checkSession(session, "UNBOUND")
        case .pong: break
        case .error(let error):
            try check(error.code, session: error.session)
            try checkText(error.message.utf8.count, error.session)
        case .jsonError(let session, let code, let body):
            try check(code, session: session)
            try check(body, code: code, session: session)
        case .queryError(let error):
            try checkSession(error.session, "QUERY_ERROR")
            guard mode == .flexible else { throw refusal("QUERY_ERROR: flexible mode only", error.session) }
            try check(error.code, session: error.session)
            try checkText(error.message.utf8.count, error.session)
        case .logMessage(let message):
            if message.level == nil, message.text != nil {
                throw refusal("LOG_MESSAGE: a text needs a level", message.session)
            }
            try checkText(message.text?.utf8.count ?? 0, message.session)
        case .testCommand(let command):
            try checkSession(command.session, "TEST_COMMAND")
            try checkText(command.text.utf8.count, command.session)
        }
    }

    private func refusal(_ message: String, _ session: SessionIdent) -> SyncProtocolError {
        SyncProtocolError(.otherError, session: session, fault: .sending, message)
    }

    private func checkSession(_ session: SessionIdent, _ name: String) throws(SyncProtocolError) {
        if session.isConnection { throw refusal("\(name): needs a session", session) }
    }

    private func checkText(_ count: Int, _ session: SessionIdent) throws(SyncProtocolError) {
        guard count <= limits.maxJSONBytes else { throw refusal("a text of \(count) bytes is too long", session) }
    }

    private func check(_ code: ErrorCode, session: SessionIdent) throws(SyncProtocolError) {
        guard !code.abortsStockClient else {
            throw refusal("error \(code): stock clients terminate on it", session)
        }
        guard code.entry?.clientOnly != true else { throw refusal("error \(code): for clients to send", session) }
        if session.isConnection {
            guard code.scope == .connection, code.entry != nil else {
                throw refusal("error \(code): not known as an error of the connection", session)
            }
        } else if code.scope != .session {
            throw refusal("error \(code): not an error of a session", session)
        }
        if code == .badSchemaVersion || code == .schemaVersionChanged, !version.hasSchemaVersions {
            throw refusal("error \(code): unknown to version \(version)", session)
        }
        if code == .migrateToFLX, mode == .flexible { throw refusal("error \(code): partition mode only", session) }
        if code == .revertToPBS || code == .schemaVersionChanged || code == .compensatingWrite, mode == .partition {
            throw refusal("error \(code): flexible mode only", session)
        }
    }

    private func check(_ body: JSONErrorBody, code: ErrorCode, session: SessionIdent) throws(SyncProtocolError) {
        do {
            try body.checkRequiredKeys(code: code, fault: .sending)
        } catch {
            throw error.attributed(to: session)
        }
        // Early builds of version 10 want the key whenever there are rejected updates.
        if body.rejectedUpdates != nil, body.compensatingWriteServerVersion == nil, version.rawValue == 10 {
            throw refusal("JSON_ERROR \(code): version 10 needs compensatingWriteServerVersion", session)
        }
        if case .unknown(let name) = body.action { throw refusal("action \(name) is not known", session) }
        let pairs: [(ErrorAction, ErrorCode)] = [
            (.migrateToFLX, .migrateToFLX), (.revertToPBS, .revertToPBS), (.migrateSchema, .schemaVersionChanged),
        ]
        for (action, owner) in pairs where (body.action == action) != (code == owner) {
            throw refusal("JSON_ERROR \(code): action \(body.action.wireName) and the code do not fit", session)
        }
        if body.action == .transient, !body.tryAgain {
            throw refusal("JSON_ERROR \(code): Transient without tryAgain leaves the session asleep", session)
        }
        if let backoff = body.backoff {
            let values = [backoff.intervalSeconds, backoff.maxDelaySeconds, backoff.multiplier]
            guard values.allSatisfy({ (1...Int64(Int32.max)).contains($0) }) else {
                throw refusal("JSON_ERROR \(code): backoff values must be positive 32-bit numbers", session)
            }
        }
        let versions = [
            body.previousSchemaVersion, body.rejectedClientVersion?.rawValue,
            body.compensatingWriteServerVersion?.rawValue, body.integratedClientVersion?.rawValue,
        ]
        guard versions.allSatisfy({ ($0 ?? 0) <= WireIntegerBounds.maximum }) else {
            throw refusal("JSON_ERROR \(code): a version exceeds 63 bits", session)
        }
    }

    private func check(_ download: Download) throws(SyncProtocolError) {
        let session = download.session
        try checkSession(session, "DOWNLOAD")
        guard download.detail.mode == mode else { throw refusal("DOWNLOAD: of the other sync mode", session) }
        if let batch = download.batch, !(0...1).contains(batch.progress) {
            throw refusal("DOWNLOAD: progress must be from 0 to 1", session)
        }
        guard download.entries.count <= limits.maxEntries else {
            throw refusal("DOWNLOAD: \(download.entries.count) entries, \(limits.maxEntries) allowed", session)
        }
        try DownloadChecker.checkWithin(download, fault: .sending)
        var size = 0
        for entry in download.entries {
            guard entry.changeset.count < limits.maxChangesetBytes else {
                throw refusal("DOWNLOAD: a changeset of \(entry.changeset.count) bytes is too large", session)
            }
            size += entry.changeset.count
        }
        guard size <= limits.maxPlainBodyBytes else {
            throw refusal("DOWNLOAD: changesets of \(size) bytes are too large", session)
        }
    }
}

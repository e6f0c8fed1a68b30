import SyncModel

extension MessageEncoder {
    package func encode(_ message: ClientMessage) throws(SyncProtocolError) -> [UInt8] {
        switch message {
        case .bind(let bind):
            return try MessageWriter.message(
                "bind",
                [
                    bind.session.rawValue, bind.target.wireSize, bind.token.wireSize, bind.needsIdent ? 1 : 0,
                    bind.isSubserver ? 1 : 0,
                ], (bind.target + bind.token).utf8)
        case .ident(let ident): return try encode(ident)
        case .query(let query):
            return try MessageWriter.message(
                "query", [query.session.rawValue] + query.query.wireNumbers, query.query.text.utf8)
        case .upload(let upload): return try encode(upload)
        case .mark(let session, let request):
            return try MessageWriter.message("mark", [session.rawValue, request.rawValue])
        case .unbind(let session): return try MessageWriter.message("unbind", [session.rawValue])
        case .ping(let timestamp, let roundTrip): return try MessageWriter.message("ping", [timestamp, roundTrip])
        case .jsonError(let error):
            let body = JSONWriter.bytes(of: .object(["message": .string(error.message)]))
            return try MessageWriter.message(
                "json_error", [error.code.wireNumber, UInt64(body.count), error.session.rawValue], body)
        case .testCommand(let command): return try encode(command)
        }
    }

    private func encode(_ ident: Ident) throws(SyncProtocolError) -> [UInt8] {
        guard (ident.query != nil) == (mode == .flexible) else {
            throw SyncProtocolError(
                .badSyntax, session: ident.session, fault: .sending,
                "IDENT: a subscription set belongs to flexible mode and to no other")
        }
        let cursors = ident.file.wireNumbers + ident.download.wireNumbers + ident.latest.wireNumbers
        return try MessageWriter.message(
            "ident", [ident.session.rawValue] + cursors + (ident.query?.wireNumbers ?? []),
            (ident.query?.text ?? "").utf8)
    }

    private func encode(_ upload: Upload) throws(SyncProtocolError) -> [UInt8] {
        var entries = MessageWriter(
            entriesOf: "upload", capacity: upload.entries.reduce(0) { $0 + $1.changeset.count + 64 })
        for entry in upload.entries {
            // The author: 0 is the sender.
            try entries.entry(entry.cursor.wireNumbers + [entry.timestamp.rawValue, 0], changeset: entry.changeset)
        }
        let body = Body(plain: entries.bytes)
        let cursors = upload.progress.wireNumbers + [upload.lockedServerVersion.rawValue]
        return try MessageWriter.message(
            "upload", [upload.session.rawValue] + body.sizes.numbers + cursors, body.wire)
    }

    func encode(_ command: TestCommand) throws(SyncProtocolError) -> [UInt8] {
        try MessageWriter.message(
            "test_command", [command.session.rawValue, command.request.rawValue, command.text.wireSize],
            command.text.utf8)
    }
}

extension QuerySet {
    fileprivate var wireNumbers: [UInt64] { [version.rawValue, text.wireSize] }
}

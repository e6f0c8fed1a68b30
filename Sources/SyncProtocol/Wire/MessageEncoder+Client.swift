import SyncModel

extension MessageEncoder {
    package func encode(_ message: ClientMessage) throws(SyncProtocolError) -> [UInt8] {
        switch message {
        case .bind(let bind): return try encode(bind)
        case .ident(let ident): return try encode(ident)
        case .query(let query):
            var writer = MessageWriter("query", capacity: query.query.text.utf8.count)
            try writer.number(query.session)
            try write(query.query, to: &writer)
            return writer.bytes
        case .upload(let upload): return try encode(upload)
        case .mark(let session, let request):
            var writer = MessageWriter("mark")
            try writer.number(session)
            try writer.number(request)
            writer.body([])
            return writer.bytes
        case .unbind(let session):
            var writer = MessageWriter("unbind")
            try writer.number(session)
            writer.body([])
            return writer.bytes
        case .ping(let timestamp, let roundTrip):
            var writer = MessageWriter("ping")
            try writer.number(timestamp)
            try writer.number(roundTrip)
            writer.body([])
            return writer.bytes
        case .jsonError(let error):
            let body = JSONWriter.bytes(of: .object(["message": .string(error.message)]))
            var writer = MessageWriter("json_error", capacity: body.count)
            try writer.number(error.code.rawValue)
            try writer.number(body.count)
            try writer.number(error.session)
            writer.body(body)
            return writer.bytes
        case .testCommand(let command): return try encode(command)
        }
    }

    private func encode(_ bind: Bind) throws(SyncProtocolError) -> [UInt8] {
        let target = Array(bind.target.utf8)
        let token = Array(bind.token.utf8)
        var writer = MessageWriter("bind", capacity: target.count + token.count)
        try writer.number(bind.session)
        try writer.number(target.count)
        try writer.number(token.count)
        try writer.bool(bind.needsIdent)
        try writer.bool(bind.isSubserver)
        writer.body(target, token)
        return writer.bytes
    }

    private func encode(_ ident: Ident) throws(SyncProtocolError) -> [UInt8] {
        var writer = MessageWriter("ident", capacity: ident.query?.text.utf8.count ?? 0)
        try writer.number(ident.session)
        try writer.number(ident.file.ident)
        try writer.number(ident.file.salt)
        try writer.number(ident.download.serverVersion)
        try writer.number(ident.download.clientVersion)
        try writer.number(ident.latest.version)
        try writer.number(ident.latest.salt)
        switch (mode, ident.query) {
        case (.partition, nil): writer.body([])
        case (.flexible, let query?): try write(query, to: &writer)
        default:
            throw SyncProtocolError(
                .badSyntax, session: ident.session, fault: .sending,
                "IDENT: a subscription set belongs to flexible mode and to no other")
        }
        return writer.bytes
    }

    private func write(_ query: QuerySet, to writer: inout MessageWriter) throws(SyncProtocolError) {
        try writer.number(query.version)
        try writer.number(query.text.utf8.count)
        writer.body(query.text.utf8)
    }

    private func encode(_ upload: Upload) throws(SyncProtocolError) -> [UInt8] {
        var entries = MessageWriter(
            entriesOf: "upload", capacity: upload.entries.reduce(0) { $0 + $1.changeset.count + 64 })
        for entry in upload.entries {
            try entries.entry(
                [
                    entry.clientVersion.rawValue, entry.serverVersion.rawValue, entry.timestamp.rawValue,
                    // The author: 0 is the sender.
                    0,
                ], changeset: entry.changeset)
        }
        let body = Body(plain: entries.bytes)
        var writer = MessageWriter("upload", capacity: body.wire.count)
        try writer.number(upload.session)
        try writer.sizes(of: body)
        try writer.number(upload.progress.clientVersion)
        try writer.number(upload.progress.serverVersion)
        try writer.number(upload.lockedServerVersion)
        writer.body(body.wire)
        return writer.bytes
    }

    func encode(_ command: TestCommand) throws(SyncProtocolError) -> [UInt8] {
        var writer = MessageWriter("test_command", capacity: command.text.utf8.count)
        try writer.number(command.session)
        try writer.number(command.request)
        try writer.number(command.text.utf8.count)
        writer.body(command.text.utf8)
        return writer.bytes
    }
}

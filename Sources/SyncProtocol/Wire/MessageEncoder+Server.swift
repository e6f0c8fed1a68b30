import SyncModel

extension MessageEncoder {
    /// - Throws: what would harm the receiver, with fault `.sending`.
    package func encode(_ message: ServerMessage) throws(SyncProtocolError) -> [UInt8] {
        try OutgoingRules(mode: mode, version: version, limits: limits).check(message)
        switch message {
        case .ident(let session, let file):
            var writer = MessageWriter("ident")
            try writer.number(session)
            try writer.number(file.ident)
            try writer.number(file.salt)
            writer.body([])
            return writer.bytes
        case .download(let download): return try encode(download, PackedEntries(download.entries))
        case .mark(let session, let request):
            var writer = MessageWriter("mark")
            try writer.number(session)
            try writer.number(request)
            writer.body([])
            return writer.bytes
        case .unbound(let session):
            var writer = MessageWriter("unbound")
            try writer.number(session)
            writer.body([])
            return writer.bytes
        case .pong(let timestamp):
            var writer = MessageWriter("pong")
            try writer.number(timestamp)
            writer.body([])
            return writer.bytes
        case .error(let error):
            var writer = MessageWriter("error", capacity: error.message.utf8.count)
            try writer.number(error.code.rawValue)
            try writer.number(error.message.utf8.count)
            try writer.bool(error.tryAgain)
            try writer.number(error.session)
            writer.body(error.message.utf8)
            return writer.bytes
        case .jsonError(let session, let code, let body):
            let json = JSONWriter.bytes(of: body.json)
            var writer = MessageWriter("json_error", capacity: json.count)
            try writer.number(code.rawValue)
            try writer.number(json.count)
            try writer.number(session)
            writer.body(json)
            return writer.bytes
        case .queryError(let error):
            var writer = MessageWriter("query_error", capacity: error.message.utf8.count)
            try writer.number(error.code.rawValue)
            try writer.number(error.message.utf8.count)
            try writer.number(error.session)
            try writer.number(error.queryVersion)
            writer.body(error.message.utf8)
            return writer.bytes
        case .logMessage(let message):
            let json = JSONWriter.bytes(of: message.json)
            var writer = MessageWriter("log_message", capacity: json.count)
            try writer.number(message.session)
            try writer.number(json.count)
            writer.body(json)
            return writer.bytes
        case .testCommand(let command): return try encode(command)
        }
    }

    /// - Parameter packed: the same entries as the message's.
    /// - Throws: what would harm the receiver, with fault `.sending`.
    package func encode(_ download: Download, packed: PackedEntries) throws(SyncProtocolError) -> [UInt8] {
        try OutgoingRules(mode: mode, version: version, limits: limits).check(.download(download))
        return try encode(download, packed)
    }

    private func encode(_ download: Download, _ packed: PackedEntries) throws(SyncProtocolError) -> [UInt8] {
        let body = packed.body
        var writer = MessageWriter("download", capacity: body.wire.count)
        try writer.number(download.session)
        try writer.cursors(download.progress)
        switch download.detail {
        case .partition(let downloadableBytes): try writer.number(downloadableBytes)
        case .flexible(let batch):
            try writer.number(batch.queryVersion)
            if version.hasBatchStates {
                try writer.number(batch.state.rawValue)
            } else {
                // Older builds know only "last": steady state is that, for the active set.
                try writer.bool(batch.state != .moreToCome)
            }
            writer.word(version.hasDecimalProgress ? Self.decimal(batch.progress) : "0")
        }
        try writer.sizes(of: body)
        writer.body(body.wire)
        return writer.bytes
    }

    /// Plain ASCII with at most four decimals, as many as clients keep; less than 1 never rounds to 1.
    static func decimal(_ fraction: Double) -> String {
        guard fraction > 0 else { return "0" }
        guard fraction < 1 else { return "1" }
        let scaled = min(9999, max(1, Int((fraction * 10_000).rounded())))
        var digits = String(scaled)
        digits = String(repeating: "0", count: 4 - digits.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        return "0.\(digits)"
    }
}

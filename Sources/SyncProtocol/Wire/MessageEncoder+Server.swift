import SyncModel

extension MessageEncoder {
    /// - Throws: what would harm the receiver, with fault `.sending`.
    package func encode(_ message: ServerMessage) throws(SyncProtocolError) -> [UInt8] {
        try check(message)
        switch message {
        case .ident(let session, let file):
            return try MessageWriter.message("ident", [session.rawValue] + file.wireNumbers)
        case .download(let download): return try encode(download, PackedEntries(download.entries))
        case .mark(let session, let request):
            return try MessageWriter.message("mark", [session.rawValue, request.rawValue])
        case .unbound(let session): return try MessageWriter.message("unbound", [session.rawValue])
        case .pong(let timestamp): return try MessageWriter.message("pong", [timestamp])
        case .error(let error):
            return try MessageWriter.message(
                "error",
                [error.code.wireNumber, error.message.wireSize, error.tryAgain ? 1 : 0, error.session.rawValue],
                error.message.utf8)
        case .jsonError(let session, let code, let body):
            let json = JSONWriter.bytes(of: body.json)
            return try MessageWriter.message(
                "json_error", [code.wireNumber, UInt64(json.count), session.rawValue], json)
        case .queryError(let error):
            return try MessageWriter.message(
                "query_error",
                [error.code.wireNumber, error.message.wireSize, error.session.rawValue, error.queryVersion.rawValue],
                error.message.utf8)
        case .logMessage(let message):
            let json = JSONWriter.bytes(of: message.json)
            return try MessageWriter.message("log_message", [message.session.rawValue, UInt64(json.count)], json)
        case .testCommand(let command): return try encode(command)
        }
    }

    /// - Parameter packed: the same entries as the message's.
    /// - Throws: what would harm the receiver, with fault `.sending`.
    package func encode(_ download: Download, packed: PackedEntries) throws(SyncProtocolError) -> [UInt8] {
        try check(.download(download))
        return try encode(download, packed)
    }

    private func encode(_ download: Download, _ packed: PackedEntries) throws(SyncProtocolError) -> [UInt8] {
        let body = packed.body
        let progress = download.progress
        var writer = MessageWriter("download", capacity: body.wire.count)
        try writer.numbers(
            [download.session.rawValue] + progress.download.wireNumbers + progress.latest.wireNumbers
                + progress.upload.wireNumbers)
        switch download.detail {
        case .partition(let downloadableBytes): try writer.numbers([downloadableBytes])
        case .flexible(let batch):
            // Builds before batch states know only "last": steady state is that, for the active set.
            let state = version.hasBatchStates ? batch.state.rawValue : batch.state == .moreToCome ? 0 : 1
            try writer.numbers([batch.queryVersion.rawValue, UInt64(state)])
            writer.word(version.hasDecimalProgress ? Self.decimal(batch.progress) : "0")
        }
        try writer.numbers(body.sizes.numbers)
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

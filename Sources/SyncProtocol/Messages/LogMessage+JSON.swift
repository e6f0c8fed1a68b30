import SyncModel

extension LogMessage {
    /// All keys are optional; an unknown level is an error only when there is a text (docs/protocol.md, "Server
    /// messages").
    init(session: SessionIdent, parsing bytes: [UInt8]) throws(SyncProtocolError) {
        let fields = try JSONFields(parsing: bytes, of: "LOG_MESSAGE")
        let text = try fields.optionalString("msg")
        let levelName = try fields.optionalString("level")
        let level = levelName.flatMap(Level.init(rawValue:))
        if levelName != nil, level == nil, !(text ?? "").isEmpty {
            throw SyncProtocolError(.badSyntax, session: session, "LOG_MESSAGE: unknown level")
        }
        self.init(
            session: session, connectionID: try fields.optionalString("co_id"),
            compatibility: try fields.optionalString("compatibility"), level: level, text: text)
    }

    var json: JSONValue {
        var members: [String: JSONValue] = [:]
        members["co_id"] = connectionID.map { .string($0) }
        members["compatibility"] = compatibility.map { .string($0) }
        members["level"] = level.map { .string($0.rawValue) }
        members["msg"] = text.map { .string($0) }
        return .object(members)
    }
}

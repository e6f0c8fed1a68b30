import SyncModel

/// Typed access to the members of a JSON object, every complaint naming the message and the key.
struct JSONFields {
    private let members: [String: JSONValue]
    private let subject: String
    private let code: ErrorCode

    init(parsing bytes: [UInt8], of subject: String, code: ErrorCode = .badSyntax) throws(SyncProtocolError) {
        let value: JSONValue
        do {
            value = try JSONParser.parse(bytes)
        } catch {
            throw SyncProtocolError(code, "\(subject): no valid JSON, \(error.message)")
        }
        try self.init(value, of: subject, code: code)
    }

    init(_ value: JSONValue, of subject: String, code: ErrorCode = .badSyntax) throws(SyncProtocolError) {
        guard let members = value.objectValue else {
            throw SyncProtocolError(code, "\(subject): expected a JSON object")
        }
        self.members = members
        self.subject = subject
        self.code = code
    }

    private func wrong(_ key: String, _ expected: String) -> SyncProtocolError {
        SyncProtocolError(code, "\(subject): key \(key) needs \(expected)")
    }

    private func optional<Value>(
        _ key: String, _ expected: String, _ read: (JSONValue) -> Value?
    ) throws(SyncProtocolError) -> Value? {
        guard let member = members[key] else { return nil }
        guard let value = read(member) else { throw wrong(key, expected) }
        return value
    }

    func optionalString(_ key: String) throws(SyncProtocolError) -> String? {
        try optional(key, "a string") { $0.stringValue }
    }

    func optionalInteger(_ key: String) throws(SyncProtocolError) -> Int64? {
        try optional(key, "an integer") { $0.integerValue }
    }

    func optionalUnsigned(_ key: String) throws(SyncProtocolError) -> UInt64? {
        try optional(key, "an unsigned integer") { $0.integerValue.flatMap { UInt64(exactly: $0) } }
    }

    func optionalArray(_ key: String) throws(SyncProtocolError) -> [JSONValue]? {
        try optional(key, "an array") { $0.arrayValue }
    }

    func string(_ key: String) throws(SyncProtocolError) -> String {
        guard let value = try optionalString(key) else { throw wrong(key, "a string") }
        return value
    }

    func integer(_ key: String) throws(SyncProtocolError) -> Int64 {
        guard let value = try optionalInteger(key) else { throw wrong(key, "an integer") }
        return value
    }

    func bool(_ key: String) throws(SyncProtocolError) -> Bool {
        guard let value = try optional(key, "a boolean", { $0.boolValue }) else { throw wrong(key, "a boolean") }
        return value
    }
}

package import SyncModel

extension JSONErrorBody {
    /// Strict about required keys and types, as clients are; unknown keys are skipped.
    package init(parsing bytes: [UInt8], code: ErrorCode) throws(SyncProtocolError) {
        let fields = try JSONFields(parsing: bytes, of: "JSON_ERROR")
        self.init(
            message: try fields.string("message"), action: ErrorAction(wireName: try fields.string("action")),
            tryAgain: try fields.bool("tryAgain"), logURL: try fields.string("logURL"),
            shouldClientReset: try fields.bool("shouldClientReset"),
            isRecoveryModeDisabled: try fields.bool("isRecoveryModeDisabled"))
        if let interval = try fields.optionalInteger("backoffIntervalSec") {
            backoff = BackoffPolicy(
                intervalSeconds: interval, maxDelaySeconds: try fields.integer("backoffMaxDelaySec"),
                multiplier: try fields.integer("backoffMultiplier"))
        }
        partitionQuery = try fields.optionalString("partitionQuery")
        previousSchemaVersion = try fields.optionalUnsigned("previousSchemaVersion")
        rejectedClientVersion = try fields.optionalUnsigned("rejectedClientVersion").map { ClientVersion($0) }
        compensatingWriteServerVersion =
            try fields.optionalUnsigned("compensatingWriteServerVersion").map { ServerVersion($0) }
        integratedClientVersion = try fields.optionalUnsigned("integratedClientVersion").map { ClientVersion($0) }
        lostAfterClientVersion = try fields.optionalUnsigned("lostAfterClientVersion").map { ClientVersion($0) }
        rejectedUpdates = try fields.optionalArray("rejectedUpdates")?.map(RejectedUpdate.init(json:))
        try checkRequiredKeys(code: code, fault: .received)
    }

    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "message": .string(message), "logURL": .string(logURL), "tryAgain": .bool(tryAgain),
            "shouldClientReset": .bool(shouldClientReset), "isRecoveryModeDisabled": .bool(isRecoveryModeDisabled),
            "action": .string(action.wireName),
        ]
        if let backoff {
            members["backoffIntervalSec"] = .integer(backoff.intervalSeconds)
            members["backoffMaxDelaySec"] = .integer(backoff.maxDelaySeconds)
            members["backoffMultiplier"] = .integer(backoff.multiplier)
        }
        members["partitionQuery"] = partitionQuery.map { .string($0) }
        members["previousSchemaVersion"] = previousSchemaVersion.map { .integer(Int64(clamping: $0)) }
        members["rejectedUpdates"] = rejectedUpdates.map { .array($0.map(\.json)) }
        members["rejectedClientVersion"] = rejectedClientVersion.map { .integer(Int64(clamping: $0.rawValue)) }
        members["compensatingWriteServerVersion"] =
            compensatingWriteServerVersion.map { .integer(Int64(clamping: $0.rawValue)) }
        members["integratedClientVersion"] = integratedClientVersion.map { .integer(Int64(clamping: $0.rawValue)) }
        members["lostAfterClientVersion"] = lostAfterClientVersion.map { .integer(Int64(clamping: $0.rawValue)) }
        return .object(members)
    }

    /// The keys that clients insist on with certain codes; without them they close the connection.
    package func checkRequiredKeys(
        code: ErrorCode, fault: SyncProtocolError.Fault
    ) throws(SyncProtocolError) {
        func missing(_ key: String) -> SyncProtocolError {
            SyncProtocolError(.badSyntax, fault: fault, "JSON_ERROR \(code) needs the key \(key)")
        }
        if code == .migrateToFLX, (partitionQuery ?? "").isEmpty { throw missing("partitionQuery") }
        if code == .schemaVersionChanged, previousSchemaVersion == nil { throw missing("previousSchemaVersion") }
        if code == .compensatingWrite {
            if rejectedUpdates == nil { throw missing("rejectedUpdates") }
            if compensatingWriteServerVersion == nil { throw missing("compensatingWriteServerVersion") }
        }
        if rejectedUpdates != nil, rejectedClientVersion == nil { throw missing("rejectedClientVersion") }
    }
}

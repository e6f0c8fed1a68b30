import SyncModel

/// BIND: opens a session for one realm.
///
/// The target travels as text and is read by `partition(limits:)` or `flexible()`, so that a bad one costs the session
/// and not the connection.
package struct Bind: Hashable, Sendable {
    package var session: SessionIdent
    /// Partition mode: the partition value as extended JSON. Flexible mode: a JSON object.
    package var target: String
    /// Always empty from version 10 on.
    package var token: String
    /// Whether the server must allocate a client file ident.
    package var needsIdent: Bool
    package var isSubserver: Bool

    package init(
        session: SessionIdent, target: String, token: String = "", needsIdent: Bool, isSubserver: Bool = false
    ) {
        self.session = session
        self.target = target
        self.token = token
        self.needsIdent = needsIdent
        self.isSubserver = isSubserver
    }

    package init(session: SessionIdent, partition: PartitionValue, needsIdent: Bool) {
        self.init(session: session, target: partition.path, needsIdent: needsIdent)
    }

    /// The partition value of a partition BIND.
    /// - Throws: code 204 for this session.
    package func partition(limits: ProtocolLimits = .standard) throws(SyncProtocolError) -> PartitionValue {
        let count = target.utf8.count
        guard (1...max(1, limits.maxPathBytes)).contains(count) else {
            throw illegal("a path of \(count) bytes, expected 1 to \(limits.maxPathBytes)")
        }
        do {
            return try PartitionValue.parse(path: target)
        } catch {
            throw illegal(error.message)
        }
    }

    /// Begins as users of stock clients know it, with as much of the path as a message has room for.
    private func illegal(_ reason: String) -> SyncProtocolError {
        let path = target.unicodeScalars.prefix(100)
            .map { $0.properties.generalCategory == .control ? " " : String($0) }.joined()
        return SyncProtocolError(
            .illegalRealmPath, session: session,
            "Illegal Realm path (BIND): serialized partition '\(path)' is invalid: \(reason)")
    }

    /// The body of a flexible BIND.
    /// - Throws: code 204 for this session.
    package func flexible() throws(SyncProtocolError) -> FlexibleTarget {
        do {
            return try FlexibleTarget(parsing: target)
        } catch {
            throw error.attributed(to: session)
        }
    }
}

/// The target of a flexible BIND; absent keys count as 0 or none, unknown ones are skipped.
package struct FlexibleTarget: Hashable, Sendable {
    package enum SessionReason: Int64, Sendable {
        case normal = 0
        case clientReset = 1
    }

    package var reason: SessionReason
    /// 0 if the app's schema is not versioned; from protocol version 11 on.
    package var schemaVersion: UInt64
    /// The path of the partition realm that this one was migrated from.
    package var migratedPartition: String?

    package init(reason: SessionReason = .normal, schemaVersion: UInt64 = 0, migratedPartition: String? = nil) {
        self.reason = reason
        self.schemaVersion = schemaVersion
        self.migratedPartition = migratedPartition
    }

    package init(parsing text: String) throws(SyncProtocolError) {
        let fields = try JSONFields(parsing: Array(text.utf8), of: "BIND", code: .illegalRealmPath)
        let reason = try fields.optionalInteger("sessionReason") ?? 0
        self.init(
            // Reasons that came later than this code are normal sessions to it.
            reason: SessionReason(rawValue: reason) ?? .normal,
            schemaVersion: try fields.optionalUnsigned("schemaVersion") ?? 0,
            migratedPartition: try fields.optionalString("migratedPartition"))
    }

    package var text: String {
        var members: [String: JSONValue] = [
            "sessionReason": .integer(reason.rawValue), "schemaVersion": .integer(Int64(clamping: schemaVersion)),
        ]
        members["migratedPartition"] = migratedPartition.map { .string($0) }
        return JSONWriter.text(of: .object(members))
    }
}

import Changesets
import Storage
import SyncModel
import SyncProtocol

/// Whether a BIND fits the app that its connection was opened for. Pure.
struct BindCheck {
    let upgrade: SyncUpgrade
    let limits: ProtocolLimits

    /// The realm that the client wants, and how.
    struct Target {
        var realm: RealmName
        /// The schema version that a client in flexible mode names, from protocol version 11 on.
        var schemaVersion: UInt64?
        var migratedPartition: String?
    }

    /// What a client is told whose app has moved to the other sync mode since the client's copy was made; nil if there is nothing to
    /// tell.
    ///
    /// - Throws: as `target`.
    func move(of bind: Bind, in app: AppRecord?) throws(SyncProtocolError) -> (ErrorCode, JSONErrorBody)? {
        guard let app, knowsRules(of: app), !app.isMoving else { return nil }
        switch (app.syncMode, upgrade.mode) {
        case (.flexible, .partition):
            let partition = try bind.partition(limits: limits).canonicalText
            guard let migration = app.migration, migration.target == .flexible, migration.phase == .done,
                let key = PartitionKey(partition: partition)
            else { return nil }
            var body = JSONErrorBody(code: .migrateToFLX, message: "app \(app.id) has moved to flexible sync")
            body.partitionQuery = key.query(on: migration.field)
            return (.migrateToFLX, body)
        case (.partition, .flexible):
            // A client that never synced a partition does not survive this.
            guard try bind.flexible().migratedPartition != nil else { return nil }
            return (
                .revertToPBS,
                JSONErrorBody(code: .revertToPBS, message: "app \(app.id) has moved back to partition sync")
            )
        default: return nil
        }
    }

    /// Whether the client would hear something at which it does not come again by itself. Only the newest settings may have it so.
    func refusesForGood(_ bind: Bind, in app: AppRecord?) -> Bool {
        do throws(SyncProtocolError) {
            if case .some = try move(of: bind, in: app) { return true }
            _ = try target(of: bind, in: app)
            return false
        } catch {
            return error.action != .transient
        }
    }

    /// The realm that the client wants.
    ///
    /// - Throws: what the client is told instead.
    func target(of bind: Bind, in app: AppRecord?) throws(SyncProtocolError) -> Target {
        let wanted = upgrade.mode == .partition ? try bind.partition(limits: limits) : nil
        let flexible = upgrade.mode == .flexible ? try bind.flexible() : nil
        guard let app else { throw refusal(bind, "cannot find app") }
        guard knowsRules(of: app) else {
            throw refusal(
                bind,
                "app \(app.id) is \(app.compatibility.rawValue): only clients that say they know its rules may sync, so "
                    + "that all copies stay equal; use a Sluice SDK that does, or an app created with compatibility "
                    + "stockClients")
        }
        if app.isMoving {
            throw SyncProtocolError(
                .initialSyncNotCompleted, session: bind.session, action: .transient, app.movingText)
        }
        switch (app.syncMode, wanted) {
        case (.partition, let partition?):
            return Target(realm: RealmName(app: app.id, partition: partition.canonicalText))
        case (.flexible, .some):
            throw SyncProtocolError(.switchToFLXSync, action: .applicationBug, "the app uses flexible sync")
        case (.partition, nil):
            throw SyncProtocolError(.switchToPBS, action: .applicationBug, "the app uses partition sync")
        case (.flexible, nil):
            let version = upgrade.version.rawValue >= 11 ? flexible?.schemaVersion : nil
            if let refusal = app.refusal(ofSchema: version) {
                throw SyncProtocolError(
                    .badSchemaVersion, session: bind.session, action: .applicationBug, refusal)
            }
            return Target(
                realm: RealmName(flexible: app.id), schemaVersion: version,
                migratedPartition: flexible?.migratedPartition.flatMap { path in
                    (try? PartitionValue.parse(path: path))?.canonicalText
                })
        }
    }

    /// Whether the client makes its copies as the app's are made.
    func knowsRules(of app: AppRecord) -> Bool { app.compatibility == upgrade.compatibility ?? .stockClients }

    private func refusal(_ bind: Bind, _ message: String) -> SyncProtocolError {
        SyncProtocolError(.otherSessionError, session: bind.session, action: .applicationBug, message)
    }
}

extension AppRecord {
    /// Why nobody syncs while the app moves.
    var movingText: String { "app \(id) is being moved from one sync mode to the other" }

    /// Why a client may not sync with the schema version that its configuration names; nil if it may.
    ///
    /// - Parameter version: nil from a client that cannot name one.
    func refusal(ofSchema version: UInt64?) -> String? {
        guard let clientSchemas, let version, !clientSchemas.contains(version) else { return nil }
        let relation =
            version > clientSchemas.newest
            ? "greater than latest schema version \"\(clientSchemas.newest)\""
            : "less than oldest schema version \"\(clientSchemas.oldest)\""
        // The message begins as users of stock clients know it.
        return "Client provided invalid schema version: client presented schema version \"\(version)\" is \(relation);"
            + " app \(id) knows the schema versions \(clientSchemas): use a version of the app's client that"
            + " names one of them"
    }
}

import Changesets
import Storage
import SyncModel
import SyncProtocol

/// Whether a BIND fits the app that its connection was opened for. Pure.
struct BindCheck {
    let upgrade: SyncUpgrade
    let limits: ProtocolLimits

    /// What the client wants.
    struct Target {
        var realm: RealmName
        /// Of a client in flexible mode, from protocol version 11 on.
        var schemaVersion: UInt64?
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
            return Target(realm: RealmName(flexible: app.id), schemaVersion: version)
        }
    }

    /// Whether the client makes its copies as the app's are made.
    func knowsRules(of app: AppRecord) -> Bool { app.compatibility == upgrade.compatibility ?? .stockClients }

    private func refusal(_ bind: Bind, _ message: String) -> SyncProtocolError {
        SyncProtocolError(.otherSessionError, session: bind.session, action: .applicationBug, message)
    }
}

extension AppRecord {
    /// Why a client may not sync with the schema version that its configuration names; nil if it may.
    ///
    /// - Parameter version: nil from a client that cannot name one.
    func refusal(ofSchema version: UInt64?) -> String? {
        guard let clientSchemas, let version, !clientSchemas.contains(version) else { return nil }
        return
            "app \(id) knows the schema versions \(clientSchemas), and the client names \(version): use a version of the app's"
            + " client that names one of them"
    }
}

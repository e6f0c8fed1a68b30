import Changesets
import Storage
import SyncModel
import SyncProtocol

/// Whether a BIND fits the app that its connection was opened for. Pure.
struct BindCheck {
    let upgrade: SyncUpgrade
    let limits: ProtocolLimits

    /// The realm that the client wants.
    ///
    /// - Throws: what the client is told instead.
    func realm(of bind: Bind, in app: AppRecord?) throws(SyncProtocolError) -> RealmName {
        let wanted = upgrade.mode == .partition ? try bind.partition(limits: limits) : nil
        if upgrade.mode == .flexible { _ = try bind.flexible() }
        guard let app else { throw refusal(bind, "cannot find app") }
        guard knowsRules(of: app) else {
            throw refusal(
                bind,
                "app \(app.id) is \(app.compatibility.rawValue): only clients that say they know its rules may sync, so "
                    + "that all copies stay equal; use a Sluice SDK that does, or an app created with compatibility "
                    + "stockClients")
        }
        switch (app.syncMode, wanted) {
        case (.partition, let partition?): return RealmName(app: app.id, partition: partition.canonicalText)
        case (.flexible, .some):
            throw SyncProtocolError(.switchToFLXSync, action: .applicationBug, "the app uses flexible sync")
        case (.partition, nil):
            throw SyncProtocolError(.switchToPBS, action: .applicationBug, "the app uses partition sync")
        case (.flexible, nil): return RealmName(flexible: app.id)
        }
    }

    /// Whether the client makes its copies as the app's are made.
    func knowsRules(of app: AppRecord) -> Bool { app.compatibility == upgrade.compatibility ?? .stockClients }

    private func refusal(_ bind: Bind, _ message: String) -> SyncProtocolError {
        SyncProtocolError(.otherSessionError, session: bind.session, action: .applicationBug, message)
    }
}

import Changesets
import Storage
import SyncModel
import SyncProtocol

/// Whether a BIND fits the app that its connection was opened for. Pure.
struct BindCheck {
    let upgrade: SyncUpgrade
    let limits: ProtocolLimits

    /// The partition that the client wants.
    ///
    /// - Throws: what the client is told instead.
    func partition(of bind: Bind, in app: AppRecord?) throws(SyncProtocolError) -> PartitionValue {
        let wanted = upgrade.mode == .partition ? try bind.partition(limits: limits) : nil
        guard let app else { throw refusal(bind, "cannot find app") }
        guard knowsRules(of: app) else {
            throw refusal(
                bind,
                "app \(app.id) is \(app.compatibility.rawValue): only clients that say they know its rules may sync, so "
                    + "that all copies stay equal; use a Sluice SDK that does, or an app created with compatibility "
                    + "stockClients")
        }
        switch (app.syncMode, wanted) {
        case (.partition, let partition?): return partition
        case (.flexible, .some):
            throw SyncProtocolError(.switchToFLXSync, action: .applicationBug, "the app uses flexible sync")
        case (.partition, nil):
            throw SyncProtocolError(.switchToPBS, action: .applicationBug, "the app uses partition sync")
        case (.flexible, nil): throw refusal(bind, "flexible sync is not available on this server")
        }
    }

    /// Whether the client makes its copies as the app's are made.
    func knowsRules(of app: AppRecord) -> Bool { app.compatibility == upgrade.compatibility ?? .stockClients }

    private func refusal(_ bind: Bind, _ message: String) -> SyncProtocolError {
        SyncProtocolError(.otherSessionError, session: bind.session, action: .applicationBug, message)
    }
}

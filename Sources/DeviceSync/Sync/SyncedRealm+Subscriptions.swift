internal import Logging
import SyncModel
internal import SyncProtocol

/// The subscription sets of a flexible realm, and the bootstraps that bring their data.
extension SyncedRealm {
    /// Integrates or discards what an earlier connection or process has stored of a bootstrap; called before BIND.
    /// - Returns: whether the session goes on.
    func settleBootstrap(_ role: Role, on connection: isolated SyncConnection) -> Bool {
        guard isFlexible, sessions[role]?.machine.phase == .unbound,
            let core = role == .fresh ? resetFiles.fresh : core
        else { return true }
        do {
            guard let bootstrap = try BootstrapIntake(core: core).resume() else { return true }
            connection.logger.info(
                "a stored bootstrap is integrated",
                metadata: ["set": "\(bootstrap.version)", "realm": "\(session.path)"])
            try integrating(core, role) { try $0.integrate(bootstrap, core.sync.rules) }
            return true
        } catch let error as IntegrationError where error.isTheServersFault {
            connection.logger.error("a stored bootstrap is of no use", metadata: ["error": "\(error.message)"])
            try? BootstrapIntake(core: core).discard()
            return true
        } catch {
            interrupt(role, error, .download, on: connection)
            return false
        }
    }

    /// The app has changed its subscriptions.
    func subscriptionsChanged(on connection: isolated SyncConnection) {
        subscriptionsMoved(of: core, .main)
        if core.subscriptions.sets.count > SubscriptionSets.room {
            let asked = sessions[.main]?.machine.askedFor ?? 0
            _ = changeSubscriptions(of: core, .main, on: connection) { $0.forgetSuperseded(after: asked) }
        }
        localVersion(on: connection)
    }

    /// Tells the session and those who wait what has become of a realm's subscription sets.
    func subscriptionsMoved(of core: RealmCore, _ role: Role) {
        guard isFlexible else { return }
        let sets = core.subscriptions
        sessions[role]?.machine.subscriptionsChanged(sets)
        if role == .main { waits.settle(with: sets) }
    }

    /// The server refuses a set; the one in force stays in force.
    func refused(
        _ version: QueryVersion, _ reason: String, _ core: RealmCore, _ role: Role,
        on connection: isolated SyncConnection
    ) {
        connection.logger.info(
            "the server refuses a subscription set",
            metadata: ["realm": "\(session.path)", "set": "\(version)", "reason": "\(reason)"])
        guard changeSubscriptions(of: core, role, on: connection, { $0.refused(version, reason) }) else { return }
        if role == .fresh {
            let body = JSONErrorBody(message: reason, action: .applicationBug, tryAgain: false)
            return freshFailed(.badQuery, body, on: connection)
        }
        report(
            SyncError(
                .invalidFlexibleSyncSubscriptions, reason, name: ErrorCode.badQuery.entry?.name,
                wireCode: ErrorCode.badQuery.rawValue, isFatal: false), on: connection)
    }

    /// - Returns: whether the change is kept.
    func changeSubscriptions(
        of core: RealmCore, _ role: Role, on connection: isolated SyncConnection,
        _ change: (inout SubscriptionSets) -> Void
    ) -> Bool {
        do {
            core.lock.lock()
            defer { core.lock.unlock() }
            try core.setSubscriptions(change)
        } catch {
            interrupt(role, error, .subscriptions, on: connection)
            return false
        }
        succeeded(at: .subscriptions)
        subscriptionsMoved(of: core, role)
        return true
    }
}

internal import Changesets
internal import Logging
internal import RealmState
import SyncModel
internal import SyncProtocol

/// A realm whose app has moved to the other sync mode (docs/resets.md, "Moves between the modes").
extension SyncedRealm {
    /// Goes over to the other mode: on the connection of that mode, by a client reset.
    ///
    /// - Returns: false if the error says no such thing, or cannot be about this realm.
    func move(_ code: ErrorCode, _ body: JSONErrorBody, on connection: isolated SyncConnection) -> Bool {
        guard let app = connection.app.core else { return false }
        var move: ModeMove
        let action: PendingReset.Action
        switch (body.action.effective, target) {
        case (.migrateToFLX, .partition(let partition)):
            guard let query = body.partitionQuery else { return false }
            move = ModeMove(partition: partition.path, query: query)
            action = .migrateToFLX
        case (.revertToPBS, .flexible):
            guard let earlier = core.sync.move else { return false }
            move = earlier
            action = .revertToPBS
        default: return false
        }
        move.pending = ModeMove.Pending(action: action, errorCode: code.rawValue, message: body.message)
        do {
            try core.updateSync { $0.move = move }
        } catch {
            interrupt(.main, error, .startOver, on: connection)
            return true
        }
        connection.logger.notice(
            "the app has moved to the other sync mode, and the realm goes over to it",
            metadata: ["realm": "\(session.path)", "text": "\(body.message)"])
        // What an earlier reset has downloaded is of the old mode.
        perform(reset.dropped(), on: connection)
        resetFiles.deleteFresh()
        endSessions(on: connection)
        let waits = waits
        self.waits = SyncWaits()
        connection.remove(self)
        app.sync.move(session, core, configuration, waits)
        return true
    }

    /// Subscribes the fresh copy of a realm that goes over to flexible sync to what was its partition, once the copy's classes are
    /// known.
    ///
    /// - Returns: whether the data is still to come.
    func subscribeToPartition(_ fresh: RealmCore, on connection: isolated SyncConnection) -> Bool {
        guard let move = core.sync.move, move.pending?.action == .migrateToFLX,
            fresh.subscriptions.latest.version == 0
        else { return false }
        let wanted = fresh.snapshot.state.schema.tables.filter { table in
            table.kind == .topLevel && table.columns.contains { $0.name.string == move.field }
        }.map { table in
            Subscription(
                name: "flx_migrated_\(table.name.string)", className: table.name.string, query: move.query)
        }
        guard !wanted.isEmpty else { return false }
        let snapshot = fresh.snapshot.version
        return changeSubscriptions(of: fresh, .fresh, on: connection) { _ = $0.append(wanted, snapshot: snapshot) }
    }
}

import Changesets
import Messages
import Storage
import SyncModel

extension SliceOwner {
    /// Integrates changesets published from a shell: written by the server itself on top of the latest version.
    ///
    /// A message that cannot be applied is set aside whole. Its id tells a repetition.
    func integrate(event message: ChangesetMessage, id: String?) async throws {
        guard let app = try await settings(of: message.realm.app) else {
            throw PoisonError(reason: "app \(message.realm.app) does not exist", app: message.realm.app)
        }
        if let id {
            let isSeenNow = seenPending.contains(id)
            if isSeenNow { return metrics.duplicates(message.entries.count, app: app.id) }
            if try await store.isSeen(messageID: id) {
                metrics.duplicates(message.entries.count, app: app.id)
                // Who dealt with it first may have died before anybody was told.
                return try await tellAgain(message.realm)
            }
        }
        let context = try await realm(message.realm, of: app)
        var changesets: [(changeset: Changeset, timestamp: SyncTimestamp)] = []
        for (index, entry) in message.entries.enumerated() {
            do {
                let timestamp = entry.timestamp == 0 ? clock.changesetNow : entry.timestamp
                changesets.append((try Changeset(parsing: entry.changeset), timestamp))
            } catch {
                throw PoisonError(reason: "changeset \(index): \(error)", app: app.id)
            }
        }
        do {
            // The operator may always.
            try await apply(changesets.map(\.changeset), in: context) { try await extend(app, by: $0) }
        } catch let error as SchemaRefusedError {
            throw PoisonError(reason: error.reason, app: app.id)
        } catch let error as BadChangesetError {
            throw PoisonError(reason: error.reason, app: app.id)
        }
        for (changeset, timestamp) in changesets {
            append(changeset, origin: 1, clientVersion: 0, timestamp: timestamp, to: context)
        }
        if let id {
            pending.seenMessages.append(id)
            seenPending.insert(id)
        }
        metrics.integrated(changesets.count, app: app.id)
    }

    /// Has gateways told of the realm's latest version once more.
    private func tellAgain(_ name: RealmName) async throws {
        guard let context = try await storedRealm(name) else { return }
        context.isToldAgain = true
        touch(context)
    }
}

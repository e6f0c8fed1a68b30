internal import Changesets
internal import Foundation
internal import RealmState
internal import SyncProtocol

extension RealmInstance {
    var isFlexible: Bool { configuration.isFlexible }

    /// The file's schema, with what the configuration declares and the file does not have yet.
    var declaredSchema: StoredSchema {
        let schema = core.snapshot.state.schema
        guard let declared = try? DeclaredClasses(of: configuration).descriptions(),
            let isNeeded = try? SchemaAdditions.areNeeded(declared, in: schema, mode: .flexible), isNeeded
        else { return schema }
        var scratch = RealmState(schema: schema)
        _ = try? scratch.record { try SchemaAdditions.apply(declared, to: &$0) }
        return scratch.schema
    }

    /// Traps if an object of a class is about to be created that no subscription selects anything of: the server would take
    /// it back.
    func checkSubscription(of table: TableSchema) {
        guard isFlexible, table.kind == .topLevel else { return }
        precondition(
            core.subscriptions.latest.classNames.contains(table.name.string),
            "noSubscriptionForWrite: Cannot write to class \(table.name) when no flexible sync subscription has been "
                + "created.")
    }

    // MARK: Waiting

    /// Calls `completion` once the data of a set is here, or never will be.
    func wait(for version: QueryVersion, _ completion: @escaping @Sendable ((any Error)?) -> Void) {
        begin(SubscriptionWait(version: version, failsOnConnectionErrors: false, completion: completion))
    }

    /// - Parameters:
    ///   - timeout: in seconds; nil to wait for as long as it takes.
    ///   - failsOnConnectionErrors: whether a connection error ends the wait that will be retried.
    /// - Throws: `Realm.Error`, what ended the session, `POSIXError`, `CancellationError`.
    func wait(
        for version: QueryVersion, timeout: TimeInterval? = nil, failsOnConnectionErrors: Bool = false
    ) async throws {
        try await withTimeout(timeout) { try await self.wait(version, failsOnConnectionErrors) }
    }

    private func wait(_ version: QueryVersion, _ failsOnConnectionErrors: Bool) async throws {
        guard let session else { throw Self.withoutSession }
        try await session.waiting { id, completion in
            begin(
                SubscriptionWait(
                    id: id, version: version, failsOnConnectionErrors: failsOnConnectionErrors, completion: completion))
        }
    }

    private func begin(_ wait: SubscriptionWait) {
        guard let session else { return wait.completion(Self.withoutSession) }
        session.connection.perform { $0.wait(session, wait) }
    }

    private static var withoutSession: SyncError {
        SyncError(.clientSessionError, "operation aborted: the realm has no session")
    }
}

extension Realm.Configuration {
    var isFlexible: Bool { syncConfiguration.map { $0.partitionValue == nil } ?? false }
}

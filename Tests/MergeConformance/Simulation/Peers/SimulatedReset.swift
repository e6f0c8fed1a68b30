import Changesets
import RealmState
import SyncModel

/// How a client that the server cannot go on with comes back to it (docs/resets.md, "Modes").
package enum SimulatedReset: String, CaseIterable, Sendable {
    /// What was not uploaded is lost.
    case discard = "reset"
    /// What was not uploaded is replayed. Where that cannot be done, the realm stays as it is, and without the server.
    case recover
    /// What was not uploaded is replayed, and lost where that cannot be done.
    case recoverOrDiscard = "recover-or-discard"
}

/// The realm once more, as somebody new gets it.
struct FreshCopy: Sendable {
    var ident: FileIdent
    var state: RealmState
    var serverVersion: ServerVersion
}

extension SimulatedClient {
    /// The client after a reset, nil if recovering is the only way and is not possible.
    func reset(_ mode: SimulatedReset, to fresh: FreshCopy) throws(SimulationFailure) -> SimulatedClient? {
        if mode != .discard, let client = try recovered(fresh) { return client }
        return mode == .recover ? nil : try discarded(fresh)
    }

    // MARK: Discarding

    private func discarded(_ fresh: FreshCopy) throws(SimulationFailure) -> SimulatedClient {
        do {
            return try restarted(fresh, state: transferred(from: fresh.state), entries: [])
        } catch let failure as SimulationFailure {
            throw failure
        } catch {
            // A schema that has lost something: the app puts the realm aside and begins with an empty one.
            return try restarted(fresh, state: fresh.state, entries: [])
        }
    }

    /// This client's state, changed to what the other one holds.
    private func transferred(from other: RealmState) throws -> RealmState {
        var state = state
        _ = try StateTransfer.transfer(from: other, to: &state)
        guard StateDump.canonical(of: state) == StateDump.canonical(of: other) else {
            throw SimulationFailure(
                .resetsTakeTheServersState,
                "file \(ident) has \(StateDump.json(of: state)) instead of \(StateDump.json(of: other))")
        }
        return state
    }

    // MARK: Recovering

    private func recovered(_ fresh: FreshCopy) throws(SimulationFailure) -> SimulatedClient? {
        var promises = RecoveryPromises(fresh: fresh.state, local: state)
        do {
            return try recovered(fresh, &promises)
        } catch let failure as SimulationFailure {
            throw failure
        } catch {
            // Only a schema that has lost something stands in the way.
            guard promises.mayBeBroken else {
                throw SimulationFailure(.recoveriesKeepChanges, "file \(ident) cannot be recovered: \(error)")
            }
            return nil
        }
    }

    private func recovered(_ fresh: FreshCopy, _ promises: inout RecoveryPromises) throws -> SimulatedClient {
        let unsynced = entries.filter {
            $0.isLocal && $0.version > progress.upload.clientVersion && !$0.changeset.isEmpty
        }
        let changesets = try unsynced.map { try read($0.reciprocal ?? $0.changeset, "version \($0.version)") }
        for changeset in changesets { promises.follow(changeset) }

        var replay = ChangesetReplay(onto: fresh.state, local: state)
        var applied = fresh.state
        var recovered: [ClientVersion: [UInt8]] = [:]
        for (entry, changeset) in zip(unsynced, changesets) {
            let bytes = try replay.replay(engine.fault?.beforeReplay(changeset) ?? changeset)
            recovered[entry.version] = bytes
            try apply([try read(bytes, "what was recovered of file \(ident)")], to: &applied, "file \(ident)")
        }
        try promises.check(replay.fresh)
        // What is uploaded is what was done.
        guard StateDump.canonical(of: applied) == StateDump.canonical(of: replay.fresh) else {
            throw SimulationFailure(
                .resetsTakeTheServersState,
                "the recovered changesets of file \(ident) make \(StateDump.json(of: applied)) instead of "
                    + StateDump.json(of: replay.fresh))
        }
        return try restarted(
            fresh, state: try transferred(from: replay.fresh), entries: kept(recovered, fresh.serverVersion))
    }

    /// The history from the first recovered entry on, with its numbers and times.
    private func kept(_ recovered: [ClientVersion: [UInt8]], _ serverVersion: ServerVersion) -> [Entry] {
        guard engine.fault != .forgetsRecoveredHistory, let first = recovered.filter({ !$0.value.isEmpty }).keys.min()
        else { return [] }
        return entries.filter { $0.version >= first }.map { entry in
            var entry = entry
            entry.changeset = recovered[entry.version] ?? []
            entry.reciprocal = nil
            entry.serverVersion = serverVersion
            return entry
        }
    }

    // MARK: A new file

    /// Returns the client under the fresh copy's identifier and at its version; the client's own versions go on.
    private func restarted(
        _ fresh: FreshCopy, state: RealmState, entries: [Entry]
    ) throws(SimulationFailure) -> SimulatedClient {
        var client = try SimulatedClient(ident: fresh.ident, engine: engine, clock: clock)
        client.state = state
        client.lastStamp = lastStamp
        client.version = version + 1
        client.progress.download.serverVersion = fresh.serverVersion
        client.progress.latest.version = fresh.serverVersion
        client.progress.upload.serverVersion = fresh.serverVersion
        client.entries = entries
        client.entries.append(
            Entry(
                version: client.version, isLocal: true, timestamp: 0, serverVersion: fresh.serverVersion,
                changeset: [], reciprocal: nil))
        try client.reconnect()
        return client
    }
}

import Storage
import SyncModel

/// One thing that is done with a slice in every engine, through one of the two stores that each has open.
struct SliceStep: Sendable {
    enum Action: Sendable {
        case claim(worker: String, now: UInt64, leaseUntil: UInt64, gone: String?, overdue: UInt64?)
        case renew(leaseUntil: UInt64)
        case release(at: UInt64)
        case putBack(RestoreRecord)
        case setCluster(String)
        case commit(SliceBatch)
        /// Commits while a snapshot of before is open.
        case commitBesideSnapshot(SliceBatch)
        case mark(TerminationSteps, limit: Int)
        /// Sweeps to the end: which rows go first is up to the engine.
        case sweep(RealmID, maxRows: Int, maxBytes: Int)
        case returnSpace
        case reopen
    }

    /// What came of a step.
    enum Outcome: Sendable, Equatable {
        case done
        case claimed(SliceClaim)
        case marked(TerminationSteps)
        case failed(StoreError.Code)
        /// A snapshot has changed with a commit.
        case moved(String)
    }

    var place: Int
    var epoch: Epoch
    var action: Action
}

extension SliceStep {
    /// - Parameter scope: what is read of a snapshot.
    func run(on twin: inout SliceTwin, _ scope: SliceScope) async throws -> Outcome {
        let store = twin.store(place)
        do {
            switch action {
            case .claim(let worker, let now, let leaseUntil, let gone, let overdue):
                return .claimed(
                    try await store.claim(by: worker, now: now, leaseUntil: leaseUntil, gone: gone, overdue: overdue))
            case .renew(let leaseUntil): try await store.renew(epoch: epoch, leaseUntil: leaseUntil)
            case .release(let at): try await store.release(epoch: epoch, at: at)
            case .putBack(let restore): try await store.putBack(restore, epoch: epoch)
            case .setCluster(let id): try await store.setCluster(id)
            case .commit(let batch): try await store.commit(batch, epoch: epoch)
            case .commitBesideSnapshot(let batch): return try await commit(batch, beside: store, scope)
            case .mark(let steps, let limit): return .marked(try await store.mark(steps, limit: limit, epoch: epoch))
            case .sweep(let realm, let maxRows, let maxBytes):
                while try await !store.sweep(realm, maxRows: maxRows, maxBytes: maxBytes, epoch: epoch) {}
            case .returnSpace: _ = try await store.returnSpace(maxBytes: 1 << 20, epoch: epoch)
            case .reopen: try await twin.reopen(place)
            }
            return .done
        } catch let error as StoreError {
            return .failed(error.code)
        }
    }

    private func commit(
        _ batch: SliceBatch, beside store: any SliceStore, _ scope: SliceScope
    ) async throws -> Outcome {
        try await store.withSnapshot { snapshot in
            let before = try await scope.contents(of: snapshot, listing: scope.realms.suffix(2))
            try await store.commit(batch, epoch: epoch)
            let after = try await scope.contents(of: snapshot, listing: scope.realms.suffix(2))
            return [Reading].difference([("before", before), ("after", after)]).map(Outcome.moved) ?? .done
        }
    }
}

extension SliceStep: CustomStringConvertible {
    var description: String {
        let what =
            switch action {
            case .commit(let batch): "commit \(batch.changes)"
            case .commitBesideSnapshot(let batch): "commit beside a snapshot \(batch.changes)"
            default: "\(action)"
            }
        return "through store \(place), under epoch \(epoch): \(what)"
    }
}

extension SliceBatch {
    /// The parts of the batch that change something.
    fileprivate var changes: String {
        Mirror(reflecting: self).children.compactMap { child in
            guard let part = child.value as? any Collection, !part.isEmpty else { return nil }
            return "\n  \(child.label ?? ""): \(part)"
        }.joined()
    }
}

import Changesets
import SeededRandom
import Storage
import SyncModel

/// Makes up the steps of a random run: the same ones from the same seed.
struct SliceStepMaker {
    private var random: SeededGenerator
    private(set) var scope = SliceScope()
    private var now: UInt64 = 1_000
    /// Erased realms of which nothing is stored any more.
    private var swept: Set<RealmID> = []
    private var made = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func next(_ situation: SliceSituation) -> SliceStep {
        now += 1 + UInt64(random.below(400))
        // A slice that nobody has had is at epoch 0 in PostgreSQL, which no owner ever has.
        let current = situation.ownership?.epoch ?? Epoch(1)
        // Now and then an owner goes on that has lost the slice, or somebody who never had it.
        let isStale = random.below(16) == 0
        let epoch = isStale ? Epoch(current.value &+ (random.below(3) == 0 ? 1 : .max)) : current
        let action = action(situation, isLost: situation.ownership?.isReleased ?? true, isStale: isStale)
        if case .sweep(let realm, _, _) = action, !isStale, situation.ownership?.isReleased == false {
            swept.insert(realm)
        }
        return SliceStep(place: random.below(SliceTwin.places), epoch: epoch, action: action)
    }

    /// Picks which of an engine's stores is read to see what a step has done.
    mutating func place() -> Int { random.below(SliceTwin.places) }

    mutating func probe() -> (realm: RealmID, probe: SliceProbe) {
        let low = [UInt8(random.below(3))]
        let probe = SliceProbe(
            maxBytes: 1 + random.below(200), limit: 1 + random.below(4), listsAll: random.below(10) == 0,
            time: now - min(now, UInt64(random.below(2_000))), row: random.pick(SliceScope.rows),
            values: [
                IndexRange(low: low, high: low + [UInt8(random.below(3))]), IndexRange(low: [low[0] + 1], high: [9]),
            ])
        return (scope.realms.isEmpty ? RealmID(1) : random.pick(scope.realms), probe)
    }

    private mutating func action(_ situation: SliceSituation, isLost: Bool, isStale: Bool) -> SliceStep.Action {
        if random.below(isLost ? 2 : 12) == 0 {
            return .claim(
                worker: random.pick(["w1", "w2"]), now: now, leaseUntil: now + UInt64(random.below(9_000)),
                gone: random.below(6) == 0 ? situation.ownership?.owner : nil,
                overdue: random.below(6) == 0 ? situation.ownership?.leaseUntil : nil)
        }
        switch random.below(40) {
        case 0: return .renew(leaseUntil: now + 1_000)
        case 1: return .release(at: now)
        case 2 where random.below(3) == 0:
            made += 1
            let epoch = (situation.ownership?.epoch.value ?? 0) + random.pick([0, 1, 2, 1_000])
            return .putBack(RestoreRecord(id: "restore-\(epoch)-\(made)", at: now))
        case 3: return .setCluster("cluster-\(random.below(9))")
        case 4, 5: return .reopen
        // An engine that has nothing to return does not look who asks.
        case 6 where !isLost && !isStale: return .returnSpace
        case 7...12:
            guard let steps = situation.steps.first(where: { !$0.isMarked }) else { break }
            return .mark(steps, limit: 1 + random.below(5))
        case 13...17:
            guard let erasure = situation.erasures.first(where: { !swept.contains($0.realm) }) else { break }
            return .sweep(erasure.realm, maxRows: 1 + random.below(20), maxBytes: 1 + random.below(300))
        case 18, 19: return .commitBesideSnapshot(batch(situation))
        default: break
        }
        return .commit(batch(situation))
    }

    private mutating func batch(_ situation: SliceSituation) -> SliceBatch {
        var draft = SliceDraft(random: random, now: now, made: made, situation: situation, scope: scope)
        if situation.realms.count > 2, random.below(4) == 0 {
            draft.erase(swept: &swept)
        } else {
            for _ in 0...random.below(6) { draft.change() }
        }
        let batch = draft.finished()
        (random, now, made) = (draft.random, draft.now, draft.made)
        scope.note(batch)
        return batch
    }
}

extension SeededGenerator {
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
    mutating func bytes(_ most: Int) -> [UInt8] { (0..<below(most + 1)).map { _ in UInt8(below(256)) } }
    mutating func changePlace() -> ChangePlace {
        ChangePlace(generation: next(), version: ServerVersion(next() >> 1), index: below(9))
    }
    mutating func told() -> ToldChanges {
        guard below(3) > 0 else { return ToldChanges() }
        var told = below(2) == 0 ? ToldChanges() : ToldChanges(after: changePlace())
        for _ in 0..<below(4) { _ = told.tell(changePlace(), of: ByteString(bytes(5))) }
        return told
    }
}

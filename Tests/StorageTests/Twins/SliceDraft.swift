import SeededRandom
import Storage
import SyncModel

/// A batch that is being made up, change by change.
struct SliceDraft {
    var random: SeededGenerator
    var now: UInt64
    /// How many things have got a name so far.
    var made: Int
    /// The situation as the batch leaves it.
    var situation: SliceSituation
    /// What was named before.
    let scope: SliceScope
    var batch = SliceBatch()

    init(random: SeededGenerator, now: UInt64, made: Int, situation: SliceSituation, scope: SliceScope) {
        self.random = random
        self.now = now
        self.made = made
        self.situation = situation
        self.scope = scope
    }

    /// A time that no other record has: which of two with the same time comes first is up to the engine.
    mutating func tick() -> UInt64 {
        now += 1
        return now
    }

    /// A name that nothing else has.
    mutating func name(_ kind: String) -> String {
        made += 1
        return "\(kind)-\(made)"
    }

    mutating func change() {
        switch random.below(20) {
        case 0: makeRealm()
        case 1: message()
        case 2: use()
        case 3: terminate()
        case 4: goOnTerminating()
        case 5: hold()
        default:
            guard !situation.realms.isEmpty else { return makeRealm() }
            change(random.below(situation.realms.count))
        }
    }

    /// Changes one realm or what belongs to it.
    private mutating func change(_ index: Int) {
        switch random.below(20) {
        case 0, 1: changeHeading(index)
        case 2, 3, 4: append(index)
        case 5: compact(index)
        case 6: makeBase(index)
        case 7: changeBase(index)
        case 8, 9: makeFile(index)
        case 10, 11, 12: changeFile(index)
        case 13: changeReciprocals(index)
        case 14: changeResetCase(index)
        case 15, 16: putObjects(index)
        case 17: removeObjects(index)
        default: changeIndex(index)
        }
    }

    /// The batch with the headings that it changes, and now and then with something that makes it fail as a whole.
    mutating func finished() -> SliceBatch {
        guard random.below(12) == 0, let realm = situation.realms.first else { return batch }
        if random.below(2) == 0 {
            batch.realms.append(
                RealmRecord(id: situation.nextRealm, name: realm.name, generation: 1, salt: 1, saltEpoch: Epoch(1)))
        } else {
            let key = HistoryKey(realm: realm.id, generation: realm.generation)
            let entry = Sample.entry(ServerVersion(max(1, realm.latest.version.rawValue)))
            batch.history[key, default: []] += [entry, entry]
        }
        return batch
    }

    // MARK: What belongs to no realm

    private mutating func message() {
        batch.seenMessages += (0...random.below(3)).map { _ in random.pick(SliceScope.messages) }
        batch.outbox += (0...random.below(3)).map { _ in
            OutboxRecord(id: random.pick(SliceScope.messages), body: random.bytes(80))
        }
        batch.outboxRemovals += situation.outbox.filter { _ in random.below(3) == 0 }
    }

    private mutating func use() {
        // Whole half-lives, so that what is left of an amount is a number that every engine has exactly.
        batch.usageAt = UInt64(UserUsage.halfLife) * UInt64(1 + random.below(5))
        let user = random.pick(SliceScope.appUsers)
        batch.usage[user] = UsageAmounts(realms: 1, clientFiles: Double(random.below(9)), bytes: 1_024)
        if random.below(4) == 0 { batch.usageRemovals.append(random.pick(SliceScope.appUsers)) }
    }

    private mutating func hold() {
        let app = random.pick(SliceScope.apps)
        batch.resetHolds[app] = ResetHoldRecord(
            app: app, heldSince: random.below(2) == 0 ? now : nil, asked: random.below(50), clientFiles: 80,
            allowedUntil: random.below(2) == 0 ? now + 9 : nil)
    }

    // MARK: Terminations

    private mutating func terminate() {
        let app = random.pick(SliceScope.apps)
        let campaign = random.below(6) == 0 ? nil : name("c")
        let record = AppGenerationRecord(
            app: app, generation: situation.generation(of: app) + 1, campaign: campaign, at: tick())
        batch.terminations.append(record)
        situation.generations.removeAll { $0.app == app }
        situation.generations.append(record)
        guard let campaign else { return }
        if random.below(2) == 0 { batch.reasons[campaign] = "because of \(campaign)" }
        if random.below(4) == 0 { batch.reasons[campaign + "x"] = "" }
        guard !situation.steps.contains(where: { $0.app == app }), random.below(2) == 0 else { return }
        let steps = TerminationSteps(app: app, generation: record.generation, campaign: campaign)
        batch.terminationSteps.append(steps)
        situation.steps.append(steps)
    }

    private mutating func goOnTerminating() {
        guard var steps = situation.steps.first(where: \.isMarked) else { return }
        situation.steps.removeAll { $0.campaign == steps.campaign }
        guard random.below(2) == 0 else { return batch.terminationStepsDone.append(steps.campaign) }
        (steps.chunks, steps.reported) = (4, steps.reported + 1)
        batch.terminationSteps.append(steps)
    }
}

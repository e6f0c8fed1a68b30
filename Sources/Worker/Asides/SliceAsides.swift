import Query
import SyncModel

/// What a slice has done beside it: merges, and looks at what views say. Looks have threads of their own, so that what takes a moment does not
/// wait for what takes seconds.
struct SliceAsides {
    var merges: AsideLine<AsideMerge>
    private var looks: AsideLine<AsideLook>
    /// What was found out for realms whose first waiting messages wait for looks.
    private var findings: [RealmName: LookFindings] = [:]

    init(merges: AsidePool, looks: AsidePool) {
        self.merges = AsideLine(merges)
        self.looks = AsideLine(looks)
    }

    /// Begins a batch: forgets realms that nothing is waiting for any more.
    mutating func beginBatch(waiting: Set<RealmName>) {
        merges.beginBatch(waiting: waiting)
        looks.beginBatch(waiting: waiting)
        if !findings.isEmpty { findings = findings.filter { waiting.contains($0.key) } }
    }

    mutating func endBatch() {
        merges.endBatch()
        looks.endBatch()
    }

    /// Whether the realm's messages have to wait.
    func isBusy(_ realm: RealmName) -> Bool { merges.isBusy(realm) || looks.isBusy(realm) }

    // MARK: Looks

    /// What was found out for the realm's first waiting message, with room for what others leave of a slice's.
    func findings(of realm: RealmName) -> LookFindings {
        var found = findings[realm] ?? LookFindings()
        let others = findings.reduce(0) { $0 + ($1.key == realm ? 0 : $1.value.answers.bytes) }
        found.give(room: max(TrialAnswers.maxBytes - others, 0))
        return found
    }

    /// Takes up what has come of the realm's look, for its first waiting message to be begun anew.
    ///
    /// - Returns: the steps that the look has taken, as far as they are not counted yet.
    mutating func takeUp(_ realm: RealmName) -> UInt64 {
        let outcome = looks.take(of: realm) { _ in true }
        guard let outcome else { return 0 }
        return findings[realm, default: LookFindings()].add(outcome)
    }

    /// Has the realm wait.
    ///
    /// - Parameter messages: how many messages it is that wait.
    mutating func pause(_ realm: RealmName, messages: Int, for pause: LookPause) {
        // What was taken up of a merge in vain would take as long again.
        merges.putBack(realm)
        findings[realm, default: LookFindings()].begin(with: pause.answers)
        if let look = pause.look { looks.pause(realm, messages: messages, for: look) }
    }

    /// The realm's first waiting message is through.
    mutating func forget(_ realm: RealmName) {
        if !findings.isEmpty { findings[realm] = nil }
        merges.leave(realm)
        looks.leave(realm)
    }
}

/// What was found out for a message that has to be begun anew.
struct LookFindings {
    private(set) var views = FoundViews()
    private(set) var answers = TrialAnswers()
    /// How often the message was begun anew.
    private var beginnings = 0
    /// Each beginning finds something out that later ones need no more. After so many the message goes on in its slice, however long it takes:
    /// begun anew for ever, it would hold up its realm.
    private static let mostBeginnings = 2_000

    /// Whether the message may be begun anew once more.
    var mayWait: Bool { beginnings < Self.mostBeginnings }

    /// - Returns: the steps that the look has taken, as far as they are not counted yet.
    mutating func add(_ outcome: AsideLook.Outcome) -> UInt64 {
        switch outcome {
        case .views(let found):
            views.add(found)
            return 0
        case .answer(let answer, let trial):
            answers.add(answer, of: trial)
            answers.settle()
            return UInt64(max(answer.steps, 0))
        }
    }

    /// The message is to be begun anew.
    mutating func begin(with known: TrialAnswers) {
        beginnings += 1
        answers = known
        answers.settle()
    }

    mutating func give(room: Int) { answers.room = room }
}

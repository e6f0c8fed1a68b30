import SyncModel

/// What a slice has done beside it of one kind: one task at a time. The realm concerned waits for it with all of its messages, and other realms
/// whose messages take as long wait in a line; everybody else goes on.
struct AsideLine<Task: AsideTask> {
    /// A realm whose first waiting messages take long, and how many messages those are.
    private struct Waiting {
        var realm: RealmName
        var messages: Int
    }

    private struct Running {
        var waiting: Waiting
        var task: Task
        var aside: RunningAside<Task>
    }

    private let pool: AsidePool
    private var current: Running?
    /// The realms whose tasks come next, in the order in which they came.
    private var line: [Waiting] = []
    /// The app whose task went on last: another app's comes next, if one waits.
    private var lastApp: String?
    /// Held for the rest of what was taken up in this batch: what has come of it must not be lost.
    private var kept: Running?

    init(_ pool: AsidePool) { self.pool = pool }

    /// Begins a batch: forgets realms that nothing is waiting for any more.
    mutating func beginBatch(waiting: Set<RealmName>) {
        line.removeAll { !waiting.contains($0.realm) }
        if let current, !waiting.contains(current.waiting.realm) { self.current = nil }
    }

    /// What was taken up has had its effect, or is to be done again.
    mutating func endBatch() { kept = nil }

    /// Whether the realm's messages have to wait for its task or for its place in the line.
    func isBusy(_ realm: RealmName) -> Bool {
        if let current, current.waiting.realm == realm { return current.aside.outcome == nil }
        guard line.contains(where: { $0.realm == realm }) else { return false }
        return current != nil || !pool.hasRoom || next?.realm != realm
    }

    /// How many messages the realm waits with; nil if it waits with none.
    func messages(of realm: RealmName) -> Int? {
        if let current, current.waiting.realm == realm { return current.waiting.messages }
        return line.first { $0.realm == realm }?.messages
    }

    /// What became of a realm's task; nil if none has gone on, or if it goes on still.
    ///
    /// - Parameter isRight: whether the task is the one that is asked for; another one is forgotten.
    mutating func take(of realm: RealmName, where isRight: (Task) -> Bool) -> Task.Outcome? {
        guard let current, current.waiting.realm == realm, let outcome = current.aside.outcome else { return nil }
        self.current = nil
        guard isRight(current.task) else { return nil }
        kept = current
        return outcome
    }

    /// Has what was taken up of the realm's task in this batch taken up once more in a later one.
    mutating func putBack(_ realm: RealmName) {
        guard current == nil, let kept, kept.waiting.realm == realm else { return }
        current = kept
        self.kept = nil
    }

    /// Has a task go on beside the slice, or its realm wait in the line.
    ///
    /// - Parameter messages: how many messages it is of.
    mutating func pause(_ realm: RealmName, messages: Int, for task: Task) {
        let waiting = Waiting(realm: realm, messages: messages)
        let isKept = kept?.waiting.realm == realm
        if isKept || current == nil && (next == nil || next?.realm == realm),
            let place = isKept ? kept?.aside.place : pool.place()
        {
            line.removeAll { $0.realm == realm }
            lastApp = realm.app
            current = Running(waiting: waiting, task: task, aside: RunningAside(task, in: place))
        } else {
            line.put(waiting) { $0.realm == realm }
        }
        if isKept { kept = nil }
    }

    /// The realm's first waiting message is through: it waits in the line no more.
    mutating func leave(_ realm: RealmName) {
        if !line.isEmpty { line.removeAll { $0.realm == realm } }
    }

    private var next: Waiting? { line.first { $0.realm.app != lastApp } ?? line.first }
}

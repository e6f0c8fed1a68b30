import Messages
import Storage

/// The memory of an owner from one batch to the next. The store or the next messages can tell all of it again.
final class SliceMemory {
    var realms = RealmCache()
    var generations: [String: AppGenerationRecord] = [:]
    var nextRealm: RealmID?
    var outbox = Outbox()
    var quiet = QuietRealms()
    var requestAges = RequestAges()
    var paces = ResetPaces()
    var deadLetters = DeadLetterBudget()
    var brakes = ResetBrakes()
    /// The last time that the slice was put back; nil while that was not looked at.
    var restore: RestoreRecord??
    var rules = RulesSeen()
    var users = UsersSeen()
    var usage = UsageLedger()
    /// Where the last tick has stopped going through the slice's apps.
    var lastApp: String?
    var idleLooks = IdleLooks()
    /// The coordinator's time at its last tick.
    var tickedAt: UInt64 = 0
    let compaction = CompactionState()
    var erasure = ErasureState()
    var terminations = OpenTerminations()
    var restarts = OpenRestarts()
    var realmResets = OpenRealmResets()
    var indexes = OpenRealms()
    var trims = OpenRealms()
    /// Sessions of erased realms that ended before there was another realm of the name.
    var endedWithoutRealm: [UnbindNotice] = []
    var shares: SliceShares
    var asides: SliceAsides
    var newer = NewerMessages()

    init(_ limits: WorkerLimits, merges: AsidePool, looks: AsidePool) {
        shares = SliceShares(limits)
        asides = SliceAsides(merges: merges, looks: looks)
    }

    /// Memory may be ahead of the store: the realms are read again.
    func forgetRealms() {
        realms = RealmCache()
        generations = [:]
        nextRealm = nil
        outbox.forget()
        quiet.dropped()
        terminations = OpenTerminations()
        restarts = OpenRestarts()
        realmResets = OpenRealmResets()
        indexes = OpenRealms()
        trims = OpenRealms()
    }
}

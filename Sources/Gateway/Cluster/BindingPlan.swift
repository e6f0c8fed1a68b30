import DequeModule

/// Decides with which routing keys the gateway's queue is bound: says what to ask of the broker, and is told what became of it. Pure.
///
/// Every key that has users is bound by itself, a bounded number at a time. Where more keys of one app have to wait than a few, the
/// queue is bound with all keys of that app at once, by the pattern `<app>.*`: then the sessions of a lost gateway, thousands of them,
/// wait for one binding instead of one each. Behind the pattern the keys are bound at a pace that leaves the broker to the others, and when
/// all of them are, the pattern is unbound, and with it go the notices that nobody here wants.
struct BindingPlan {
    enum Action: Hashable, Sendable {
        case bind(String)
        case unbind(String)
    }

    /// What is known of a binding.
    private enum Standing { case wanted, binding, bound, unbinding }

    private struct Entry {
        var users = 0
        var unusedSince: UInt64 = 0
        var standing = Standing.wanted
        /// The key waits in `queue` or in `covered`.
        var isQueued = false
    }

    private struct Group {
        /// The standing of the pattern; nil if the queue is not bound with it.
        var pattern: Standing?
        /// Keys that wait in `queue`.
        var queued = 0
        /// The pattern is superfluous since then.
        var settledSince: UInt64?
        /// The broker has refused the pattern: do without it until then.
        var refusedUntil: UInt64 = 0
    }

    /// Bindings that somebody waits for: how many are asked for at once, and how many keys of one app may wait beyond that.
    static let maxUnderWay = 64
    static let maxWaiting = 64
    /// Bindings that nobody waits for, made or undone with each `tick`.
    static let pace = 200
    /// How long the broker is not asked again for a pattern that it has refused.
    private static let refusal: UInt64 = 60_000

    private var entries: [String: Entry] = [:]
    private var groups: [String: Group] = [:]
    /// Keys that somebody waits for, and keys that a pattern stands for, in the order in which they came.
    private var queue: Deque<String> = []
    private var covered: Deque<String> = []
    private var underWay: Set<String> = []
    private var pacedUnderWay: Set<String> = []
    /// Patterns to be asked for.
    private var due: [Action] = []
    private var now: UInt64
    private let linger: UInt64

    /// - Parameter linger: milliseconds for which a key stays bound after its last user, and a pattern after the last key that needs it:
    ///   clients leave and return.
    init(linger: UInt64, at now: UInt64 = 0) {
        self.linger = linger
        self.now = now
    }

    /// Keys that have users, or had some until lately.
    var count: Int { entries.count }
    /// Patterns that the queue is bound with.
    var patternCount: Int { groups.values.count { $0.pattern == .bound } }

    var keys: [String] { Array(entries.keys) }

    /// Whether there is a user of the key, or of the same key of all apps (`*.settings`), or was until lately.
    func wants(_ key: String) -> Bool {
        if entries[key] != nil { return true }
        guard let dot = key.firstIndex(of: ".") else { return false }
        return entries["*\(key[dot...])"] != nil
    }

    /// Whether the queue is bound for the key, by itself or by a pattern.
    func covers(_ key: String) -> Bool {
        if entries[key]?.standing == .bound { return true }
        return Self.group(of: key).flatMap { groups[$0]?.pattern } == .bound
    }

    /// Whether a binding for the key is on its way: if not, waiting for one is in vain.
    func isPending(_ key: String) -> Bool {
        guard let entry = entries[key] else { return false }
        return entry.isQueued || entry.standing == .binding || entry.standing == .unbinding
    }

    /// The app of a key of two words, as it stands there; keys of one word have no pattern.
    static func group(of key: String) -> String? { key.firstIndex(of: ".").map { String(key[..<$0]) } }
    static func pattern(of group: String) -> String { "\(group).*" }
    private static func group(ofPattern key: String) -> String? { key.hasSuffix(".*") ? String(key.dropLast(2)) : nil }

    // MARK: Users

    mutating func retain(_ key: String) {
        entries[key, default: Entry()].users += 1
        enqueue(key)
    }

    mutating func release(_ key: String, at now: UInt64) {
        guard entries[key] != nil else { return }
        entries[key]?.users -= 1
        entries[key]?.unusedSince = now
    }

    // MARK: What to do

    /// What to ask for now. To be called after every change.
    mutating func next() -> [Action] {
        var actions = due
        due = []
        while underWay.count < Self.maxUnderWay, let key = queue.popFirst() {
            let group = Self.group(of: key)
            if let group { dequeue(from: group) }
            guard let entry = entries[key], entry.standing == .wanted, entry.users > 0 else {
                entries[key]?.isQueued = false
                continue
            }
            switch group.flatMap({ groups[$0]?.pattern }) {
            case .binding, .bound: covered.append(key)
            case .wanted, .unbinding, nil:
                bind(key)
                underWay.insert(key)
                actions.append(.bind(key))
            }
        }
        return actions
    }

    /// What nobody waits for, and is to be done at a pace. To be called twice a second.
    mutating func tick(at now: UInt64) -> [Action] {
        self.now = now
        var actions = next()
        var room = Self.pace - pacedUnderWay.count
        func hasNoUser(_ entry: Entry) -> Bool { entry.users <= 0 && now >= entry.unusedSince &+ linger }
        for (key, entry) in entries where hasNoUser(entry) {
            switch entry.standing {
            case .wanted: if !entry.isQueued { entries[key] = nil }
            case .bound where room > 0:
                room -= 1
                entries[key]?.standing = .unbinding
                pacedUnderWay.insert(key)
                actions.append(.unbind(key))
            case .bound, .binding, .unbinding: break
            }
        }
        while room > 0, let key = covered.popFirst() {
            guard let entry = entries[key], entry.standing == .wanted, entry.users > 0 else {
                entries[key]?.isQueued = false
                continue
            }
            room -= 1
            bind(key)
            pacedUnderWay.insert(key)
            actions.append(.bind(key))
        }
        return actions + unbindPatterns()
    }

    private mutating func unbindPatterns() -> [Action] {
        guard groups.values.contains(where: { $0.pattern == .bound }) else { return [] }
        var needed = Set<String>()
        for (key, entry) in entries where entry.users > 0 && entry.standing != .bound {
            if let group = Self.group(of: key) { needed.insert(group) }
        }
        var actions: [Action] = []
        for (name, group) in groups where group.pattern == .bound {
            guard !needed.contains(name) else {
                groups[name]?.settledSince = nil
                continue
            }
            let since = group.settledSince ?? now
            groups[name]?.settledSince = since
            guard now >= since &+ linger else { continue }
            groups[name]?.pattern = .unbinding
            groups[name]?.settledSince = nil
            actions.append(.unbind(Self.pattern(of: name)))
        }
        return actions
    }

    /// Says that nothing is bound any more, since the queue was declared anew: everything that has users is to be bound again.
    mutating func renew() {
        let used = entries.filter { $0.value.users > 0 }
        self = BindingPlan(linger: linger, at: now)
        for (key, entry) in used {
            entries[key] = Entry(users: entry.users)
            enqueue(key)
        }
    }

    private mutating func bind(_ key: String) {
        entries[key]?.standing = .binding
        entries[key]?.isQueued = false
    }

    private mutating func enqueue(_ key: String) {
        guard let entry = entries[key], entry.standing == .wanted, !entry.isQueued else { return }
        entries[key]?.isQueued = true
        guard let name = Self.group(of: key) else { return queue.append(key) }
        var group = groups[name] ?? Group()
        if group.pattern == .bound {
            covered.append(key)
        } else {
            queue.append(key)
            group.queued += 1
        }
        if group.queued > Self.maxWaiting, group.pattern == nil, now >= group.refusedUntil {
            group.pattern = .binding
            due.append(.bind(Self.pattern(of: name)))
        }
        groups[name] = group
    }

    // MARK: What became of it

    /// The broker has done it, or it has failed.
    mutating func done(_ action: Action, failed: Bool) {
        switch action {
        case .bind(let key):
            if let group = Self.group(ofPattern: key) { return patternBound(group, failed: failed) }
            underWay.remove(key)
            pacedUnderWay.remove(key)
            entries[key]?.standing = failed ? .wanted : .bound
            if failed, covers(key) { enqueue(key) }
        case .unbind(let key):
            if let group = Self.group(ofPattern: key) {
                groups[group]?.pattern = nil
                return forget(group)
            }
            pacedUnderWay.remove(key)
            guard let entry = entries[key] else { return }
            guard entry.users > 0 else {
                entries[key] = nil
                return
            }
            // Somebody has come while it was undone.
            entries[key]?.standing = .wanted
            enqueue(key)
        }
    }

    /// An unbinding that was asked for before the plan began anew was done after it: what counts as bound by then is not.
    mutating func undone(_ key: String) {
        if let group = Self.group(ofPattern: key) {
            if groups[group]?.pattern == .bound { patternBound(group, failed: true) }
        } else if entries[key]?.standing == .bound {
            entries[key]?.standing = .wanted
            enqueue(key)
        }
    }

    private mutating func patternBound(_ group: String, failed: Bool) {
        groups[group]?.pattern = failed ? nil : .bound
        guard failed else { return }
        groups[group]?.refusedUntil = now &+ Self.refusal
        // What was to be covered waits for bindings of its own after all.
        let left = covered
        covered = []
        for key in left {
            entries[key]?.isQueued = false
            enqueue(key)
        }
    }

    private mutating func dequeue(from name: String) {
        groups[name]?.queued -= 1
        forget(name)
    }

    /// Only what says something is remembered of an app.
    private mutating func forget(_ name: String) {
        guard let group = groups[name], group.queued <= 0, group.pattern == nil, now >= group.refusedUntil else {
            return
        }
        groups[name] = nil
    }
}

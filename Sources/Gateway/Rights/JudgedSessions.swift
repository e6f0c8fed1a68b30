/// The versions by which the sessions of one app were judged, and the sessions that are due to be judged again. Pure.
///
/// The judgements of the sessions that are not due hold for the versions in `covered`: a session that was judged by older ones as
/// it came is due at once. So a change costs only what the sessions that it concerns cost, and a change that comes while a session
/// begins misses nobody.
struct JudgedSessions {
    private struct Session {
        var user: String
        var rules: UInt64
    }

    private(set) var covered: JudgedBy
    private var sessions: [UInt64: Session] = [:]
    private var byUser: [String: Set<UInt64>] = [:]
    /// The sessions that are due, each with whether it is the user that has changed.
    private var due: [UInt64: Bool] = [:]

    init(coveredBy first: JudgedBy) { covered = first }

    var isEmpty: Bool { sessions.isEmpty }
    var hasDue: Bool { !due.isEmpty }

    mutating func add(_ number: UInt64, user: String, judged: JudgedBy) {
        sessions[number] = Session(user: user, rules: judged.rules)
        byUser[user, default: []].insert(number)
        if judged.isBehind(covered) { due[number] = judged.users < covered.users }
    }

    mutating func remove(_ number: UInt64) {
        guard let session = sessions.removeValue(forKey: number) else { return }
        byUser[session.user]?.remove(number)
        if byUser[session.user]?.isEmpty == true { byUser[session.user] = nil }
        due[number] = nil
    }

    /// The app is at these versions now.
    ///
    /// - Parameter changed: the users that have changed since `covered`; nil: any may have.
    mutating func cover(_ now: JudgedBy, changed: Set<String>?) {
        if now.rules != covered.rules {
            for (number, session) in sessions where session.rules != now.rules { due[number] = due[number] ?? false }
        }
        if let changed {
            for user in changed { for number in byUser[user] ?? [] { due[number] = true } }
        } else {
            for number in sessions.keys { due[number] = true }
        }
        covered = now
    }

    /// Takes out some of the sessions that are due, each with whether it is for its user's sake; they are due no more.
    mutating func takeDue(atMost count: Int) -> [(number: UInt64, isUser: Bool)] {
        let taken = due.prefix(count).map { (number: $0.key, isUser: $0.value) }
        for session in taken { due[session.number] = nil }
        return taken
    }

    /// Judging them has failed.
    mutating func putBack(_ taken: [(number: UInt64, isUser: Bool)]) {
        for session in taken where sessions[session.number] != nil {
            due[session.number] = session.isUser || due[session.number] == true
        }
    }

    mutating func judged(_ number: UInt64, by judged: JudgedBy) {
        sessions[number]?.rules = judged.rules
        // What has changed since is not covered by it.
        if judged.isBehind(covered), sessions[number] != nil { due[number] = judged.users < covered.users }
    }
}

import Messages

/// The versions of an app's rules and users that a decision was made by.
struct JudgedBy: Sendable, Equatable {
    var rules: UInt64
    var users: UInt64

    /// Whether something has changed since that `newer` knows of.
    func isBehind(_ newer: JudgedBy) -> Bool { rules < newer.rules || users < newer.users }
}

extension JudgedBy {
    init(_ judgement: Judgement) {
        self.init(rules: judgement.session.rulesVersion, users: judgement.usersVersion)
    }
}

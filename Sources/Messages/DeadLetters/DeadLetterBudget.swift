/// How many letters each app's clients may still make: a burst at once, then so many an hour. What is beyond is counted and
/// not kept, so that a stranger with an app's credentials cannot fill the broker's disk.
package struct DeadLetterBudget: Sendable {
    private struct Account {
        var letters: Double
        var at: UInt64
    }

    /// The most letters at once, and how long a letter's place takes to come back.
    static let burst = 100.0
    static let refillMilliseconds = 36_000.0
    /// Apps beyond this number are forgotten, which only forgives.
    static let maxApps = 1_000
    private var accounts: [String: Account] = [:]

    package init() {}

    /// The verdict on a letter.
    package enum Verdict: Sendable {
        case keep
        /// The letter is not kept.
        /// - Parameter isFirst: whether an earlier letter of the app was kept since the last that was not.
        case drop(isFirst: Bool)
    }

    /// - Parameter now: milliseconds of a clock that only goes forward.
    package mutating func take(_ app: String, at now: UInt64) -> Verdict {
        if accounts[app] == nil, accounts.count >= Self.maxApps { accounts = [:] }
        var account = accounts[app] ?? Account(letters: Self.burst, at: now)
        let wasEmpty = account.letters < 1
        if now > account.at {
            account.letters = min(Self.burst, account.letters + Double(now - account.at) / Self.refillMilliseconds)
            account.at = now
        }
        let isKept = account.letters >= 1
        if isKept { account.letters -= 1 }
        accounts[app] = account
        return isKept ? .keep : .drop(isFirst: !wasEmpty)
    }
}

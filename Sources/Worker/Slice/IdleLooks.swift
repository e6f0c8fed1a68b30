/// When each app's client files were last looked through for those that were not seen for very long. That goes through rows of other
/// apps, too, and what expires after days need not be looked for at every tick.
struct IdleLooks {
    /// How often an app is looked through, in milliseconds.
    static let interval: UInt64 = 600_000
    /// The number of apps at which all are forgotten, to be looked through once more.
    static let maxApps = 10_000

    private var looked: [String: UInt64] = [:]

    func isDue(_ app: String, at uptime: UInt64) -> Bool {
        looked[app].map { uptime &- $0 >= Self.interval } ?? true
    }

    /// Notes that nothing is left to be found in an app for a while.
    mutating func foundAll(of app: String, at uptime: UInt64) {
        if looked.count >= Self.maxApps { looked = [:] }
        looked[app] = uptime
    }
}

/// When messages of a newer version of Sluice, which this program cannot read, go back to the end of their queue: held for a while
/// first, and for longer each time they come back. Pure.
struct NewerMessages {
    static let firstPause: UInt64 = 1_000
    static let longestPause: UInt64 = 60_000

    private var pause = firstPause
    /// When those that are held go back; nil while none is held.
    private var dueAt: UInt64?
    private var returnedAt: UInt64 = 0

    /// Whether those that are held go back now.
    ///
    /// - Parameter now: the uptime in milliseconds.
    mutating func areDue(at now: UInt64) -> Bool {
        guard let dueAt else {
            // Nobody took the last ones if these come as soon as they could.
            if now > returnedAt &+ 2 * pause { pause = Self.firstPause }
            dueAt = now &+ pause
            return false
        }
        return now >= dueAt
    }

    mutating func returned(at now: UInt64) {
        dueAt = nil
        returnedAt = now
        pause = min(pause * 2, Self.longestPause)
    }
}

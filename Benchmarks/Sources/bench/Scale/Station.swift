import HeapModule

/// Cores of one role, of which each piece of work takes the one that is free first, in the order in which the work comes.
struct Station {
    private var freeAt: Heap<Double>
    /// Seconds of all cores so far.
    private(set) var busy = 0.0
    /// The longest that a piece of work has waited for a core.
    private(set) var longestWait = 0.0

    init(cores: Int) {
        freeAt = Heap(repeatElement(0, count: cores))
    }

    /// - Returns: when work that comes now, and takes so many milliseconds, is done.
    mutating func work(_ milliseconds: Double, at now: Double) -> Double {
        let free = freeAt.popMin() ?? 0
        let start = max(now, free)
        let done = start + milliseconds / 1000
        freeAt.insert(done)
        busy += milliseconds / 1000
        longestWait = max(longestWait, start - now)
        return done
    }
}

extension Duration {
    /// Whole milliseconds, never negative: the unit of messages and stores.
    package var milliseconds: UInt64 {
        let (seconds, attoseconds) = components
        return seconds < 0 ? 0 : UInt64(seconds) &* 1000 &+ UInt64(max(0, attoseconds) / 1_000_000_000_000_000)
    }
}

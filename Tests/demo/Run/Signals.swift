import UnixSignals

enum Signals {
    /// Returns at SIGINT or SIGTERM.
    static func waitForInterrupt() async {
        for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return }
    }
}

import Dispatch
import Foundation

enum Signals {
    /// Returns at SIGINT or SIGTERM.
    static func waitForInterrupt() async {
        let signals = [SIGINT, SIGTERM]
        for number in signals { signal(number, SIG_IGN) }
        let stream = AsyncStream<Void> { continuation in
            let sources = signals.map { number in
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { continuation.finish() }
                source.resume()
                return source
            }
            continuation.onTermination = { _ in sources.forEach { $0.cancel() } }
        }
        for await _ in stream {}
    }
}

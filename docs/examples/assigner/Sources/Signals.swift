import Dispatch
import Foundation

@MainActor
enum Signals {
    /// Kept for as long as the program runs: a source that nobody keeps hears nothing.
    private static var sources: [any DispatchSourceSignal] = []

    /// An element when the program is asked to end.
    static func toStop() -> AsyncStream<Void> {
        let (stream, signals) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        for number in [SIGTERM, SIGINT] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler { signals.yield() }
            source.activate()
            sources.append(source)
        }
        return stream
    }
}

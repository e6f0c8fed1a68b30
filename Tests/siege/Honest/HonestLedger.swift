import SyncModel
import Synchronization

/// What the honest app's clients have written, when the others had it, and everything that went wrong.
final class HonestLedger: Sendable {
    /// A change, by what a DOWNLOAD says of it.
    struct Change: Hashable {
        var file: FileIdent
        var timestamp: SyncTimestamp
    }

    private struct Book {
        var underWay: [Change: ContinuousClock.Instant] = [:]
        var samples: [(sent: ContinuousClock.Instant, latency: Duration)] = []
        var visits: [(begun: ContinuousClock.Instant, lasted: Duration)] = []
        var errors: [(at: ContinuousClock.Instant, text: String)] = []
    }

    private let book = Mutex(Book())

    func sent(_ change: Change) { book.withLock { $0.underWay[change] = .now } }

    /// The change was not sent after all.
    func forget(_ change: Change) { book.withLock { $0.underWay[change] = nil } }

    /// Another client has the change.
    func arrived(_ change: Change, at moment: ContinuousClock.Instant) {
        book.withLock { book in
            guard let sent = book.underWay.removeValue(forKey: change) else { return }
            book.samples.append((sent, moment - sent))
        }
    }

    func visited(since begun: ContinuousClock.Instant) {
        book.withLock { $0.visits.append((begun, .now - begun)) }
    }

    func failed(_ text: String) { book.withLock { $0.errors.append((.now, text)) } }

    /// What the honest app met between two moments.
    struct Extract: Sendable {
        /// How long changes took that were made in between, sorted.
        var latencies: [Double]
        var visits: [Double]
        var errors: [String]

        func quantile(_ share: Double, of values: [Double]) -> Double {
            values.isEmpty ? .nan : values[min(values.count - 1, Int(share * Double(values.count)))]
        }
        var median: Double { quantile(0.5, of: latencies) }
        var p99: Double { quantile(0.99, of: latencies) }
    }

    /// - Parameter rest: until when errors count that an attack may leave behind.
    func extract(
        from start: ContinuousClock.Instant, to end: ContinuousClock.Instant, rest: ContinuousClock.Instant
    ) -> Extract {
        book.withLock { book in
            func milliseconds(_ duration: Duration) -> Double { duration / .milliseconds(1) }
            // A change that is still under way has taken at least this long.
            let waiting = book.underWay.values.filter { $0 >= start && $0 < end }.map { milliseconds(.now - $0) }
            return Extract(
                latencies: (book.samples.filter { $0.sent >= start && $0.sent < end }.map { milliseconds($0.latency) }
                    + waiting).sorted(),
                visits: book.visits.filter { $0.begun >= start && $0.begun < end }.map { milliseconds($0.lasted) }
                    .sorted(),
                errors: book.errors.filter { $0.at >= start && $0.at < rest }.map(\.text))
        }
    }

    /// Changes that no other client has, and that were made this long ago.
    func missing(after patience: Duration) -> Int {
        book.withLock { $0.underWay.values.count { .now - $0 > patience } }
    }

    /// Forgets the changes under way of a client that has lost its connection: they are errors, once.
    func lost(of file: FileIdent, because reason: String) {
        book.withLock { book in
            let lost = book.underWay.keys.filter { $0.file == file }
            for change in lost { book.underWay[change] = nil }
            book.errors.append((.now, lost.isEmpty ? reason : "\(reason), with \(lost.count) changes under way"))
        }
    }
}

import Foundation
import MergeConformance
import Synchronization

/// Says on standard error how far something long has come, every few seconds.
final class ProgressMeter: Sendable {
    private let name: String
    private let total: Int
    private let start = ContinuousClock.now
    private let lastReport = Mutex(ContinuousClock.now)
    private static let interval = Duration.seconds(5)

    init(_ name: String, total: Int) {
        self.name = name
        self.total = total
    }

    func update(_ verdict: Verdict) {
        let now = ContinuousClock.now
        let isDue = lastReport.withLock { last in
            guard now - last >= Self.interval else { return false }
            last = now
            return true
        }
        guard isDue else { return }
        let text = "\(name): \(verdict.summary) of \(total), \(Int(rate(verdict))) seeds/s\n"
        FileHandle.standardError.write(Data(text.utf8))
    }

    /// - Returns: how many seeds a second there were on the whole.
    func finish(_ verdict: Verdict) -> Double { rate(verdict) }

    private func rate(_ verdict: Verdict) -> Double {
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return Double(verdict.passed + verdict.failed) / max(seconds, 0.000_001)
    }
}

package import Changesets
import Merge

/// Checks a file of recorded pairs: both sides byte for byte, or a refusal where the reference refuses.
package struct PairCheck {
    /// Equal instructions over another table of strings.
    package static let interning = "interning"
    /// A typed error for hostile input that the reference's release build lets pass.
    package static let refusedHostile = "refused"

    private let compatibility: PeerCompatibility
    private let engine: MergeEngine
    private let reference = MergeEngine(compatibility: .stockClients)
    private var report: FileReport

    /// - Parameter limit: how many differences the report keeps.
    package static func check(
        _ file: InputFile, compatibility: PeerCompatibility = .stockClients, limit: Int = 3
    ) -> FileReport {
        var check = PairCheck(compatibility, FileReport(file: file.name, unit: .cases, limit: limit))
        for line in file.lines { check.check(line) }
        if check.report.verdict == Verdict() {
            check.report.add(ConformanceError(.malformed, "expected a case a line, found none", file: file.name))
            check.report.verdict.count(false)
        }
        return check.report
    }

    private init(_ compatibility: PeerCompatibility, _ report: FileReport) {
        self.compatibility = compatibility
        self.report = report
        engine = MergeEngine(compatibility: compatibility)
    }

    private mutating func check(_ line: InputLine) {
        do throws(ConformanceError) {
            let pair = try line.decode(RecordedPair.self)
            let difference = difference(pair, line: line.number ?? 0)
            report.verdict.count(difference == nil)
            if let difference { report.add(difference) }
        } catch {
            report.add(error)
            report.verdict.count(false)
        }
    }

    private mutating func difference(_ pair: RecordedPair, line: Int) -> Difference? {
        let outcome = pair.merge(engine)
        switch pair.compare(outcome) {
        case .equal: return nil
        case .equalInstructions:
            report.accept(Self.interning)
            return nil
        case .different: break
        }
        // Only what is exact under the other rules differs on purpose under these.
        if compatibility != .stockClients, pair.compare(pair.merge(reference)) != .different {
            let reasons = pair.possibleDifferences
            if !reasons.isEmpty {
                report.accept(reasons.map(\.rawValue).joined(separator: "+"))
                return nil
            }
        }
        if case .refused = outcome, case .merged = pair.recorded, pair.kind == "hostile" {
            report.accept(Self.refusedHostile)
            return nil
        }
        return pair.difference(outcome, line: line)
    }
}

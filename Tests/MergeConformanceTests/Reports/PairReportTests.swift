import Changesets
import Foundation
import Merge
import MergeConformance
import TestSupport
import Testing

@Suite struct PairReportTests {
    /// Clears a list.
    private static let changeset = "3f0001543f0101660b000a30303030303030303030303001010100"

    private func file(_ lines: String...) -> InputFile {
        InputFile(name: "pairs", bytes: Array(lines.joined(separator: "\n").utf8))
    }

    private func pair(_ rest: String, kind: String = "single") -> String {
        let side = #"{"version":1,"timestamp":1,"origin_file_ident":"#
        return #"{"kind":"\#(kind)","ours":[\#(side)2,"changeset":"\#(Self.changeset)"}],"#
            + #""theirs":[\#(side)3,"changeset":""}],\#(rest)}"#
    }

    @Test func aPairThatHoldsPasses() {
        let report = PairCheck.check(file(pair(#""ours_after":["\#(Self.changeset)"],"theirs_after":[""]"#)))
        expectTrue(report.hasPassed, "\(report.details)")
        expectEqual(report.verdict.summary, "1 passed, 0 failed")
    }

    @Test func theSideAndTheInstructionThatDifferAreNamed() throws {
        let other = pair(#""ours_after":[""],"theirs_after":[""]"#)
        let report = PairCheck.check(file(pair(#""error":"no""#), other))
        expectEqual(report.verdict.summary, "0 passed, 2 failed")
        expectEqual(report.differences.map(\.kind), [.refusal, .instructions])
        let difference = try #require(report.differences.last)
        expectEqual(difference.line, 2)
        expectEqual(difference.message, "ours_after[0] differs in instruction 1")
        expectEqual(difference.comparison?.firstDifference, 0)
    }

    @Test func aTypedErrorIsAllRightForHostileInput() {
        let broken = pair(#""ours_after":["ff"],"theirs_after":[""]"#, kind: "hostile")
            .replacingOccurrences(of: #""changeset":""}"#, with: #""changeset":"ff"}"#)
        let report = PairCheck.check(file(broken))
        expectTrue(report.hasPassed, "\(report.details)")
        expectEqual(report.accepted, [PairCheck.refusedHostile: 1])
        let honest = PairCheck.check(file(broken.replacingOccurrences(of: "hostile", with: "single")))
        expectEqual(honest.differences.map(\.kind), [.refusal])
    }

    @Test func aRefusalIsExpectedWhereTheReferenceDidNotSurvive() {
        let broken = pair(#""note":"aborted""#).replacingOccurrences(
            of: #""changeset":""}"#, with: #""changeset":"ff"}"#)
        expectTrue(PairCheck.check(file(broken)).hasPassed)
    }

    @Test func aBrokenLineDoesNotStopTheOthers() {
        let good = pair(#""ours_after":["\#(Self.changeset)"],"theirs_after":[""]"#)
        let report = PairCheck.check(file(good, String(good.prefix(40)), "", good, pair(#""ours_after":[""]"#)))
        expectEqual(report.verdict.summary, "2 passed, 2 failed")
        expectEqual(report.errors.map(\.line), [2, 5])
        expectTrue(report.isUnreadable)
    }

    @Test func changesetsAfterTheMergeAreCounted() {
        let report = PairCheck.check(file(pair(#""ours_after":[],"theirs_after":[""]"#)))
        expectEqual(report.errors.first?.message.contains("expected 1 and 1 changesets after the merge"), true)
    }

    @Test func versionsThatRepeatDoNoHarm() {
        let side = #"{"version":9,"timestamp":1,"origin_file_ident":2,"changeset":"\#(Self.changeset)"}"#
        let after = #""\#(Self.changeset)""#
        let report = PairCheck.check(
            file(#"{"ours":[\#(side),\#(side)],"theirs":[],"ours_after":[\#(after),\#(after)],"theirs_after":[]}"#))
        expectTrue(report.hasPassed, "\(report.details)")
    }

    /// What the convergent rules change on purpose passes under them, and a wrong recording still fails.
    @Test func aDeliberateDifferenceNeedsTheReferenceToBeRight() {
        var erase = Changeset()
        let table = erase.strings.intern("T")
        let field = erase.strings.intern("f")
        erase.instructions = [.eraseColumn(table: table, field: field)]
        var change = erase
        change.instructions = [.addInteger(FieldPath(table: table, object: .int(1), field: field), delta: 5)]
        let column = Edited.hex(erase.encoded())
        let add = Edited.hex(change.encoded())
        func line(_ after: String) -> String {
            let side = #"{"version":1,"timestamp":1,"origin_file_ident":"#
            return #"{"ours":[\#(side)2,"changeset":"\#(column)"}],"theirs":[\#(side)3,"changeset":"\#(add)"}],"#
                + #""ours_after":["\#(column)"],"theirs_after":["\#(after)"]}"#
        }
        expectTrue(PairCheck.check(file(line(add))).accepted.isEmpty)
        let convergent = PairCheck.check(file(line(add)), compatibility: .convergent)
        expectTrue(convergent.hasPassed, "\(convergent.details)")
        expectEqual(convergent.accepted, ["D3": 1])
        expectTrue(!PairCheck.check(file(line(column)), compatibility: .convergent).hasPassed)
    }
}

import Changesets
import Foundation
import MergeConformance
import TestSupport
import Testing

@Suite struct ReplayReportTests {
    @Test func aRecordingThatHoldsPasses() throws {
        let report = ScenarioReplay.check(try Edited("merge").file)
        expectTrue(report.hasPassed, "\(report.details)")
        expectEqual(report.verdict.failed, 0)
        expectTrue(report.summary.hasPrefix("ok "))
        expectTrue(report.details.isEmpty)
    }

    @Test func aMissingInstructionIsFoundWhereItIsMissing() throws {
        var recording = try Edited("merge")
        let line = try recording.editResult { $0.instructions.remove(at: 2) }
        let report = ScenarioReplay.check(recording.file)
        expectTrue(!report.hasPassed)
        expectTrue(report.verdict.failed >= 1)
        let difference = try #require(report.differences.first)
        expectEqual(difference.kind, .instructions)
        expectEqual(difference.line, line)
        expectTrue(difference.peer != nil && difference.from != nil && difference.version != nil)
        expectEqual(difference.comparison?.firstDifference, 2)
        let marked = difference.lines.filter { $0.hasPrefix("  >") }
        expectEqual(marked.count, 1)
        expectEqual(marked.first?.contains(" 3 "), true)
    }

    @Test func anotherValueIsFound() throws {
        var recording = try Edited("merge")
        _ = try recording.editResult { changeset in
            changeset.instructions[4] = .eraseColumn(
                table: changeset.strings.intern("T"), field: changeset.strings.intern("f"))
        }
        let difference = try #require(ScenarioReplay.check(recording.file).differences.first)
        expectEqual(difference.comparison?.firstDifference, 4)
        expectEqual(difference.comparison?.expected[4], "EraseColumn T.f")
    }

    @Test func anotherTableOfStringsIsReportedAndPasses() throws {
        var recording = try Edited("merge")
        _ = try recording.editResult { _ = $0.strings.intern("nobody needs this") }
        let report = ScenarioReplay.check(recording.file)
        expectTrue(report.hasPassed, "\(report.details)")
        expectEqual(report.accepted, [PairCheck.interning: 1])
    }

    @Test func anotherStateIsFound() throws {
        var recording = try Edited("merge")
        let line = try recording.edit(
            "a state", where: { $0["event"] as? String == "state" },
            { $0["json"] = ["Item": [["_id": 1]]] })
        let report = ScenarioReplay.check(recording.file)
        expectTrue(!report.hasPassed)
        expectEqual(report.verdict.failed, 0)
        expectEqual(report.differences.map(\.kind), [.state])
        expectEqual(report.differences.first?.line, line)
        expectEqual(report.differences.first?.message.contains("class "), true)
    }

    @Test func peersThatEndInDifferentStatesAreFoundWithoutARecordedOne() throws {
        var recording = try Edited("merge")
        _ = try recording.edit(
            "a state", where: { $0["event"] as? String == "state" }, { $0["event"] = "something later" })
        expectTrue(ScenarioReplay.check(recording.file).hasPassed)
        // A creation that only this one peer keeps.
        _ = try recording.edit(
            "a local write", where: { $0["event"] as? String == "integrate" && $0["peer"] as? Int != 1 },
            { line in
                var changeset = Changeset()
                let table = changeset.strings.intern("Only here")
                let key = changeset.strings.intern("id")
                changeset.instructions = [
                    .addTable(
                        .init(
                            table: table,
                            kind: .topLevel(keyField: key, keyType: .int, keyNullable: false, asymmetric: false)))
                ]
                let result = try #require(line["result"] as? String)
                line["result"] = result + Edited.hex(changeset.encoded())
            })
        let report = ScenarioReplay.check(recording.file)
        expectEqual(report.differences.map(\.kind), [.instructions, .state])
    }

    @Test func aLineThatIsCutShortIsNamed() throws {
        var recording = try Edited("merge")
        recording.cut(line: 7, to: 30)
        let report = ScenarioReplay.check(recording.file)
        expectTrue(report.isUnreadable)
        expectTrue(!report.hasPassed)
        expectEqual(report.errors.first?.line, 7)
        expectEqual(report.details.first?.contains("expected one JSON object"), true)
    }

    @Test func aMissingMemberIsNamed() throws {
        var recording = try Edited("merge")
        let line = try recording.edit(
            "an integration", where: { $0["event"] as? String == "integrate" }, { $0["version"] = nil })
        let error = try #require(ScenarioReplay.check(recording.file).errors.first)
        expectEqual(error.line, line)
        expectTrue(error.message.contains("expected \"version\""))
    }

    @Test(arguments: [
        (#"{"event":"local","peer":2,"version":2,"timestamp":1,"changeset":"ff"}"#, "expected a changeset of peer 2"),
        (#"{"event":"local","peer":2,"version":2,"timestamp":1,"changeset":"0"}"#, "hexadecimal"),
        (#"{"event":"local","peer":2,"version":1,"timestamp":1,"changeset":""}"#, "expected a version of peer 2"),
        (#"{"event":"integrate","peer":2,"from":1,"version":2,"changesets":[],"result":""}"#, "found none"),
        (#"{"event":"begin"}"#, "expected integrate events"),
        (#"{"event":"integrate","peer":-2}"#, "out of range"),
        (#"[]"#, "expected"),
    ])
    func hostileLinesAreRefused(line: String, expected: String) throws {
        let report = ScenarioReplay.check(InputFile(name: "hostile", bytes: Array(line.utf8)))
        let error = try #require(report.errors.first)
        expectTrue(error.message.contains(expected), "\(error)")
    }

    @Test func onlySoManyDifferencesAreKept() throws {
        var recording = try Edited("merge")
        for _ in 0..<4 {
            _ = try recording.editResult { $0.instructions.removeAll { _ in true } }
        }
        let report = ScenarioReplay.check(recording.file, limit: 1)
        expectEqual(report.differences.count, 1)
        expectTrue(report.differenceCount >= 4)
        expectEqual(report.details.last, "\(report.differenceCount - 1) more differences")
    }
}

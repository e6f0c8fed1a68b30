import Changesets
import Foundation
import MergeConformance
import Testing

@Suite struct ReplayReportTests {
    @Test func aRecordingThatHoldsPasses() throws {
        let report = ScenarioReplay.check(try Edited("merge").file)
        #expect(report.hasPassed, "\(report.details)")
        #expect(report.verdict.failed == 0)
        #expect(report.summary.hasPrefix("ok "))
        #expect(report.details.isEmpty)
    }

    @Test func aMissingInstructionIsFoundWhereItIsMissing() throws {
        var recording = try Edited("merge")
        let line = try recording.editResult { $0.instructions.remove(at: 2) }
        let report = ScenarioReplay.check(recording.file)
        #expect(!report.hasPassed)
        #expect(report.verdict.failed >= 1)
        let difference = try #require(report.differences.first)
        #expect(difference.kind == .instructions)
        #expect(difference.line == line)
        #expect(difference.peer != nil && difference.from != nil && difference.version != nil)
        #expect(difference.comparison?.firstDifference == 2)
        let marked = difference.lines.filter { $0.hasPrefix("  >") }
        #expect(marked.count == 1)
        #expect(marked.first?.contains(" 3 ") == true)
    }

    @Test func anotherValueIsFound() throws {
        var recording = try Edited("merge")
        _ = try recording.editResult { changeset in
            changeset.instructions[4] = .eraseColumn(
                table: changeset.strings.intern("T"), field: changeset.strings.intern("f"))
        }
        let difference = try #require(ScenarioReplay.check(recording.file).differences.first)
        #expect(difference.comparison?.firstDifference == 4)
        #expect(difference.comparison?.expected[4] == "EraseColumn T.f")
    }

    @Test func anotherTableOfStringsIsReportedAndPasses() throws {
        var recording = try Edited("merge")
        _ = try recording.editResult { _ = $0.strings.intern("nobody needs this") }
        let report = ScenarioReplay.check(recording.file)
        #expect(report.hasPassed, "\(report.details)")
        #expect(report.accepted == [PairCheck.interning: 1])
    }

    @Test func anotherStateIsFound() throws {
        var recording = try Edited("merge")
        let line = try recording.edit(
            "a state", where: { $0["event"] as? String == "state" },
            { $0["json"] = ["Item": [["_id": 1]]] })
        let report = ScenarioReplay.check(recording.file)
        #expect(!report.hasPassed)
        #expect(report.verdict.failed == 0)
        #expect(report.differences.map(\.kind) == [.state])
        #expect(report.differences.first?.line == line)
        #expect(report.differences.first?.message.contains("class ") == true)
    }

    @Test func peersThatEndInDifferentStatesAreFoundWithoutARecordedOne() throws {
        var recording = try Edited("merge")
        _ = try recording.edit(
            "a state", where: { $0["event"] as? String == "state" }, { $0["event"] = "something later" })
        #expect(ScenarioReplay.check(recording.file).hasPassed)
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
        #expect(report.differences.map(\.kind) == [.instructions, .state])
    }

    @Test func aLineThatIsCutShortIsNamed() throws {
        var recording = try Edited("merge")
        recording.cut(line: 7, to: 30)
        let report = ScenarioReplay.check(recording.file)
        #expect(report.isUnreadable)
        #expect(!report.hasPassed)
        #expect(report.errors.first?.line == 7)
        #expect(report.details.first?.contains("expected one JSON object") == true)
    }

    @Test func aMissingMemberIsNamed() throws {
        var recording = try Edited("merge")
        let line = try recording.edit(
            "an integration", where: { $0["event"] as? String == "integrate" }, { $0["version"] = nil })
        let error = try #require(ScenarioReplay.check(recording.file).errors.first)
        #expect(error.line == line)
        #expect(error.message.contains("expected \"version\""))
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
        #expect(error.message.contains(expected), "\(error)")
    }

    @Test func onlySoManyDifferencesAreKept() throws {
        var recording = try Edited("merge")
        for _ in 0..<4 {
            _ = try recording.editResult { $0.instructions.removeAll { _ in true } }
        }
        let report = ScenarioReplay.check(recording.file, limit: 1)
        #expect(report.differences.count == 1)
        #expect(report.differenceCount >= 4)
        #expect(report.details.last == "\(report.differenceCount - 1) more differences")
    }
}

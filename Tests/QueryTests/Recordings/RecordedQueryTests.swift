import Foundation
import MergeConformance
import TestSupport
import Testing

/// What the reference engine was recorded to select, to write and to refuse.
@Suite struct RecordedQueryTests {
    @Test(.hangGuard, arguments: RecordedVectors.files("queries"))
    func queriesSelectAndReadAsRecorded(file: URL) throws {
        let report = QueryCheck.check(try InputFile(path: file.path), limit: 5)
        expectTrue(report.hasPassed, "\(report.summary)\n\(report.details.joined(separator: "\n"))")
        expectTrue(report.verdict.passed > 100)
    }

    /// The check itself tells a wrong recording from a right one.
    @Test(arguments: [
        (#"{"q":"i == 1","canonical":"i == 1","ids":[1]}"#, true),
        (#"{"q":"i == 1","canonical":"i == 1","ids":[2]}"#, false),
        (#"{"q":"i == 1","canonical":"i = 1","ids":[1]}"#, false),
        (#"{"q":"i == 1","error":{"kind":"query","why":"x"}}"#, false),
        (#"{"q":"i == 'x'","error":{"kind":"query","why":"x"}}"#, true),
        (#"{"q":"i IN {2,1}","canonical":"i IN {1, 2}","ids":[1,2]}"#, true),
    ])
    func checkTellsWrongRecordings(line: String, holds: Bool) throws {
        let head = """
            {"class":"A","schema":[{"name":"A","primaryKey":"_id","properties":[{"name":"_id","type":"int"},
            {"name":"i","type":"int"}]}],"objects":{"A":[{"_id":{"$numberLong":"1"},"i":{"$numberLong":"1"}},
            {"_id":{"$numberLong":"2"},"i":{"$numberLong":"2"}}]}}
            """.filter { $0 != "\n" }
        let report = QueryCheck.check(InputFile(name: "made", bytes: Array("\(head)\n\(line)\n".utf8)))
        expectEqual(report.hasPassed, holds)
    }
}

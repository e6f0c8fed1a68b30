import APIDescriptions
import MergeConformance
import SyncModel
import TestSupport
import Testing

@testable import BoundaryFuzzing

/// `docs/api/messages.json` says what the processes say to each other. That it has every message type with its keys is checked by
/// `.ci/asyncapi`; here messages themselves are read by it.
@Suite struct MessageDescriptionTests {
    @Test func messagesAreAsTheyAreDescribed() throws {
        let description = try APIDescription("messages")
        let corpus = try FuzzCorpus("message").bytes
        var changes = ChangedInputs(of: corpus)
        var seen: Set<String> = []
        for bytes in corpus + (0..<2_000).map({ _ in changes.next() }) {
            guard let (type, swiftType, json) = MessageFuzz.written(bytes) else { continue }
            seen.insert(type)
            if let problem = description.problem(of: json, bySchema: swiftType) { Issue.record("\(type): \(problem)") }
        }
        expectTrue(seen.count > 12, "only \(seen.sorted()) were seen")
    }
}

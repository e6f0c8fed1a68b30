import Changesets
import Foundation
import LocalCluster
import SyncModel
import SyncProtocol
import TestSupport
import Testing

extension SharedClusterTests {
    /// What a stock client is sent that meets a realm with a long history for the first time.
    @MainActor @Suite struct StockClientFirstDownloadTests {
        private struct Realm: Decodable {
            var historyBase: UInt64
        }

        private struct Verdict: Decodable {
            var replay: String
            var base: UInt64?
            var findingCount: Int
        }

        private static let tasks = 1_500

        @Test func aCompactedRealmIsDownloadedPageByPageAndTakenUpAgain() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            try await publishTasks(to: cluster)
            _ = try await StockClientError.within("the history is compacted", limit: .seconds(120)) {
                try await cluster.operateJSON([Realm].self, "realms", "list", "--app", cluster.app).first {
                    $0.historyBase > 0
                }
            }

            // The early client loses its connection in the middle, and goes on where it was.
            let user = try await StockUser(cluster)
            @MainActor func cutOff() async throws -> StockFile {
                let file = StockFile()
                let cut = try await user.connect()
                _ = try await cut.open(StockScenario.path, file)
                try await cut.wait("the first of several pages has come") { _ in !file.entries.isEmpty }
                await cut.close()
                return file
            }
            var early = try await cutOff()
            // The whole download may have come before it was looked at.
            while early.entries.count >= 100 { early = try await cutOff() }
            let again = try await user.connect()
            let session = try await again.open(StockScenario.path, early)
            // A newcomer writes meanwhile.
            let (other, file) = try await StockScenario.newcomer(cluster)
            try await other.upload(StockScenario.task("meanwhile"), 1)
            try await again.download(session)
            try await again.upload(StockScenario.task("afterwards"), session)
            try await other.download(1)

            for image in [early.image, file.image] {
                expectTrue(image.objects.count >= Self.tasks && image.has("Task", "task-0"))
                expectTrue(image.has("Task", "task-\(Self.tasks - 1)"))
            }
            expectTrue(early.image.has("Task", "meanwhile") && file.image.has("Task", "afterwards"))
            // Nothing came twice, and of what the base stands for, far fewer changesets than there were versions; it is of
            // version 1,000 or later.
            let versions = early.entries.map(\.serverVersion)
            expectTrue(versions == versions.sorted() && Set(versions).count == versions.count)
            expectTrue(versions.count < Self.tasks / 2)

            let verdict = try await cluster.operateJSON(Verdict.self, "realms", "verify", "--app", cluster.app)
            expectTrue(verdict.findingCount == 0 && verdict.replay == "equal" && verdict.base != nil)
        }

        /// Publishes the schema and as many changesets of a kilobyte each, which make more state than one page holds.
        @MainActor private func publishTasks(to cluster: LocalCluster) async throws {
            let name = String(repeating: "n", count: 1_000)
            var changesets = [try StockScenario.schemaOfTasks()]
            for number in 0..<Self.tasks {
                changesets.append(StockScenario.task("task-\(number)", name: name))
            }
            let events = stride(from: 0, to: changesets.count, by: 100).map { start in
                let texts = changesets[start..<min(start + 100, changesets.count)].map { bytes in
                    "\"" + bytes.map { String(format: "%02x", $0) }.joined() + "\""
                }
                let partition = StockScenario.path.replacingOccurrences(of: "\"", with: "\\\"")
                return #"{"realm": {"app": "\#(cluster.app)", "partition": "\#(partition)"}, "changesets": "#
                    + "[\(texts.joined(separator: ","))]}"
            }
            let file = cluster.file("events")
            try events.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
            try await cluster.operate("publish", "changeset", "--file", file)
        }
    }
}

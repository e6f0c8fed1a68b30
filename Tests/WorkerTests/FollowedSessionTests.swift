import Logging
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// What the log of an owner says of a session to somebody who searches for it (docs/runbook.md, "Following one session").
@Suite(.hangGuard) struct FollowedSessionTests {
    @Test func theLinesOfASessionTellItsUpload() async throws {
        let log = LogCapture(level: .debug)
        let harness = try await OwnerHarness.make(logger: log.logger)
        let file = try await harness.join(session: 1)
        let other = try await harness.join(session: 2, user: "v", connection: "c2")
        let notice = try await harness.send(
            harness.upload(file, [Changes.schema(), Changes.create(1, title: "milk")])
        ).one(IntegratedNotice.self)
        _ = try await harness.page(other, session: 2)
        _ = try await harness.unbind(file, session: 1)

        let lines = log.lines(with: "session", "g/1")
        expectEqual(
            lines.map(\.message), ["session bound", "client identified", "upload integrated", "session ended"])
        expectTrue(
            lines.allSatisfy {
                $0.metadata["app"] == harness.realm.app && $0.metadata["realm"] == harness.realm.partition
                    && $0.metadata["client_file"] == "\(file.ident)" && $0.metadata["slice"] == "0"
            })
        expectEqual(lines[2].metadata["client_version"], "2")
        // By realm and version the search goes on in the gateways.
        let told = log.lines(with: "server_version", notice.latest.version).filter { $0.metadata["session"] == nil }
        expectEqual(told.map(\.message), ["gateways hear of a commit"])
        expectEqual(told.first?.metadata["realm"], harness.realm.partition)
        expectEqual(log.lines(with: "session", "g/2").last?.message, "page made")
    }

    @Test func theLinesOfAResetNameItsCampaign() async throws {
        let log = LogCapture(level: .debug)
        let harness = try await OwnerHarness.make(logger: log.logger)
        let file = try await harness.join(session: 1)
        let refusal = try await harness.send(harness.upload(file, [[0xff, 0xff]])).one(RefusedAnswer.self)
        let campaign = try #require(refusal.campaign)
        let lines = log.lines(with: "campaign", campaign)
        expectEqual(lines.map(\.message), ["client file must reset", "session refused"])
        expectTrue(
            lines.allSatisfy {
                $0.metadata["session"] == "g/1" && $0.metadata["client_file"] == "\(file.ident)"
                    && $0.metadata["reason"]?.isEmpty == false
            })
    }

    @Test func nothingOfASessionIsLoggedAtInfo() async throws {
        let log = LogCapture(level: .info)
        let harness = try await OwnerHarness.make(logger: log.logger)
        let file = try await harness.join(session: 1)
        try await harness.send(harness.upload(file, [Changes.schema()]))
        expectTrue(log.lines(with: "session", "g/1").isEmpty)
    }
}

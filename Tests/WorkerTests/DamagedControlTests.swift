import AMQP
import Messages
import Storage
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Worker

/// What the control store cannot tell is no message's fault.
@Suite(.hangGuard) struct DamagedControlTests {
    @Test func messagesWaitUntilTheAppsSettingsCanBeReadAgain() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        let batch = [
            try AMQPMessage(harness.upload(file, [Changes.schema(), Changes.create(1, title: "kept")])),
            try AMQPMessage(ResetMessage(realm: harness.realm, clientFile: file.ident, campaign: "r-1", reason: nil)),
            try AMQPMessage(TerminationMessage(app: OwnerHarness.app, campaign: "c-1", generation: 2, reason: nil)),
            try AMQPMessage(TickMessage(at: harness.time.now())),
        ]
        harness.apps.failure.withLock { $0 = StoreError(.corrupt, "the app is damaged, as the test wants it") }
        for messages in [batch] + batch.dropLast().map({ [$0] }) {
            let error = await #expect(throws: StoreError.self) { try await harness.send(messages) }
            expectEqual(error?.code, .unavailable)
            expectTrue((error?.underlying as? StoreError)?.code == .corrupt)
        }
        harness.apps.failure.withLock { $0 = nil }
        let published = try await harness.send(batch)
        expectTrue(published.dead.isEmpty)
        try expectEqual(published.every(FoundReport.self).map(\.campaign), ["r-1", "c-1"])
        try await expectEqual(harness.titles(), [1: "kept"])
    }
}

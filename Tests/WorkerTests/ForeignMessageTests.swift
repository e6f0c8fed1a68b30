import AMQP
import Messages
import MessagingSupport
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Messages of publishers that say who they are and how long they matter, as the broker lets them.
@Suite(.hangGuard) struct ForeignMessageTests {
    @Test func deadLettersArePersistentWithoutForeignUserOrExpiration() async throws {
        let harness = try await OwnerHarness.make()
        var poison = try AMQPMessage(ChangesetMessage(realm: harness.realm, upload: nil, entries: []))
        poison.body = [2, 9, 9]
        poison.properties.userID = "shell"
        poison.properties.expiration = "1000"
        poison.properties.persistent = false
        let letter = try #require(try await harness.send([poison]).dead.first)
        expectEqual(letter.body, poison.body)
        expectTrue(letter.properties.userID == nil)
        expectTrue(letter.properties.expiration == nil)
        expectTrue(letter.properties.persistent)
    }

    @Test(.needsBrokerControl) func anotherUsersMessagesAreSetAsideAndPassedOn() async throws {
        try await Cluster.with { cluster in
            let worker = try cluster.startWorker("a")
            let user = TestBroker.uniqueName("shell")
            try await TestBroker.control("-q", "add_user", user, "of-a-test")
            try await TestBroker.control("-q", "set_permissions", user, ".*", ".*", ".*")
            var configuration = try TestTopology.configuration()
            configuration.credentials = .plain(user: user, password: "of-a-test")
            let connection = AMQPConnection(configuration: configuration, logger: TestTopology.logger)
            try await connection.start()
            let channel = try await connection.openChannel(confirms: true)
            func publish(_ message: AMQPMessage, to slice: SliceNumber) async throws {
                var message = message
                message.properties.userID = user
                message.properties.expiration = "3600000"
                try await channel.publish(
                    message, exchange: cluster.topology.slices, routingKey: "\(slice)", mandatory: true,
                    timeout: .seconds(120))
            }

            let event = try AMQPMessage(
                ChangesetMessage(
                    realm: cluster.realm, upload: nil, entries: [.init(timestamp: 1, changeset: Changes.schema())]))
            var poison = event
            poison.body = [2, 9, 9]
            try await publish(poison, to: cluster.slice)
            let other = try #require(cluster.slices.all.first { $0 != cluster.slice })
            try await publish(event, to: other)
            try await expectEqual(cluster.nextDead().body, poison.body)
            try await expectEqual(cluster.next(IntegratedNotice.self).latest.version, 1)

            await connection.close()
            try await TestBroker.control("-q", "delete_user", user)
            try await worker.stop()
        }
    }
}

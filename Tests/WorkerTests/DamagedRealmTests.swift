import AMQP
import Changesets
import Messages
import Storage
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Worker

/// A realm that cannot be read costs its own clients, little else, and no room.
@Suite(.hangGuard) struct DamagedRealmTests {
    private static let realm = RealmName(app: OwnerHarness.app, partition: "\"broken\"")

    /// What gateways say of the damaged realm's clients.
    private static func requests(_ session: UInt64, _ harness: OwnerHarness) throws -> [AMQPMessage] {
        let context = harness.context(session, realm: realm)
        let bind = BindRequest(
            context: context, user: "u", connection: "c1", needsClientFile: true, sessionReason: 0, protocolVersion: 10,
            userAgent: "test")
        let identify = IdentifyRequest(
            context: context, user: "u", clientFile: ClientFileIdent(ident: 2, salt: 1), download: DownloadCursor(),
            latest: SaltedServerVersion(version: 0, salt: 0))
        let page = PageRequest(
            context: context, clientFile: 2, generation: 1, after: DownloadCursor(), maxBytes: 1_000, isMark: false)
        return [try AMQPMessage(bind), try AMQPMessage(identify), try AMQPMessage(page)]
    }

    private static func unbind(_ session: UInt64) throws -> AMQPMessage {
        try AMQPMessage(
            UnbindNotice(
                realm: realm, session: SessionReference(gateway: "g", number: session), user: "u", connection: "c1",
                clientFile: nil, isOrderly: true, wasRefused: true))
    }

    private static func event() throws -> AMQPMessage {
        try AMQPMessage(
            ChangesetMessage(realm: realm, upload: nil, entries: [.init(timestamp: 1, changeset: Changes.schema())]))
    }

    @Test func aBatchIsNotGoneThroughForEachOfItsMessages() async throws {
        let store = CountingStore()
        let harness = try await OwnerHarness.make(on: store)
        let file = try await harness.join(session: 1)
        store.damaged.withLock { $0 = Self.realm }
        var batch: [AMQPMessage] = []
        for number in 0..<UInt64(40) {
            batch += try Self.requests(100 + number, harness)
            batch.append(
                try AMQPMessage(
                    harness.upload(
                        file, follows: ClientVersion(number),
                        [number == 0 ? Changes.schema() : Changes.create(Int64(number))])))
            batch += [try Self.event(), try Self.unbind(100 + number)]
        }
        let published = try await harness.send(batch)
        // Once for all of the batch, then by its first two messages.
        expectEqual(store.damageMet.withLock { $0 }, 3)
        try expectEqual(published.every(RefusedAnswer.self).count, 120)
        expectEqual(published.dead.map(\.properties.type), Array(repeating: ChangesetMessage.type, count: 40))
        expectTrue(
            published.dead.allSatisfy {
                $0.properties.headers[DeadLetter.reasonHeader]?.stringValue?.contains("damaged") == true
                    && $0.properties.headers[DeadLetter.appHeader]?.stringValue == OwnerHarness.app
            })
        // The other realm has everything, once.
        try await expectEqual(harness.record().latest.version, 40)
        try await expectEqual(harness.titles().count, 39)
    }

    @Test(arguments: 0..<3) func damagedRealmsClientsAreToldToRetryMuchLater(_ request: Int) async throws {
        let store = CountingStore()
        let harness = try await OwnerHarness.make(on: store)
        store.damaged.withLock { $0 = Self.realm }
        let published = try await harness.send([Self.requests(1, harness)[request]])
        let refusal = try published.one(RefusedAnswer.self)
        expectEqual(refusal.code, 229)
        expectEqual(refusal.action, "Transient")
        expectTrue(refusal.tryAgain)
        expectEqual(refusal.backoff, .init(intervalSeconds: 60, maxDelaySeconds: 600, multiplier: 2))
        expectTrue(refusal.message.contains(Self.realm.partition) && refusal.message.contains(Self.realm.app))
        expectTrue(refusal.message.contains("sluice realms verify"))
        expectTrue(published.dead.isEmpty)
    }

    @Test func anUnbindOfADamagedRealmIsNoDeadLetter() async throws {
        let store = CountingStore()
        let harness = try await OwnerHarness.make(on: store)
        let file = try await harness.join(session: 1)
        store.damaged.withLock { $0 = Self.realm }
        let published = try await harness.send([
            Self.unbind(1), AMQPMessage(TickMessage(at: harness.time.now())),
            AMQPMessage(harness.upload(file, [Changes.schema()])),
        ])
        expectTrue(published.dead.isEmpty)
        try await expectEqual(harness.record().latest.version, 1)
    }

    @Test func aDamagedObjectStopsOnlyWhatTouchesIt() async throws {
        let before = try await OwnerHarness.make()
        let a = try await before.join(session: 1)
        let b = try await before.join(session: 2)
        try await before.send(
            before.upload(a, [Changes.schema(), Changes.create(1), Changes.create(2)]))
        let realm = try await before.record().id
        let row = try #require(
            try await before.store.objects(in: realm, after: nil, maxBytes: .max).map(\.row).first { $0.key == .int(1) }
        )
        var damage = SliceBatch()
        damage.objects = [realm: [row: [0xff, 0xff]]]
        try await before.store.commit(damage, epoch: before.owner.epoch)

        let harness = try await OwnerHarness.make(on: before.store)
        let bad = try AMQPMessage(harness.upload(a, follows: 3, base: 3, [Changes.set(1, title: "stopped")]))
        let good = try AMQPMessage(harness.upload(b, session: 2, base: 3, [Changes.set(2, title: "fine")]))
        let published = try await harness.send([bad, good])
        // The client keeps what was not acknowledged, and comes back with it.
        let refusal = try published.one(RefusedAnswer.self)
        expectTrue(refusal.code == 229 && refusal.session.number == 1)
        expectTrue(published.dead.isEmpty)
        try await expectEqual(harness.record().latest.version, 4)
    }
}

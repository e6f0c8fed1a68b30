import AMQP
import Changesets
import Logging
import Messages
import Storage
import StorageSQLite
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Messages in a queue that is not their realm's: no realm comes into being there, whoever has published them.
@Suite struct MisroutedMessageTests {
    private static let slices = SliceCount(4)

    /// The owner of a slice that the realm is not in.
    private func owner(_ realm: RealmName) async throws -> (SliceOwner, any SliceStore, right: SliceNumber) {
        let slices = try #require(Self.slices)
        let right = realm.slice(of: slices)
        let wrong = try #require(slices.all.first { $0 != right })
        let stores = SQLiteStores.inMemory()
        let control = try await stores.control()
        try await control.insert(AppRecord(id: realm.app, createdAt: 0))
        let store = try await stores.store(for: wrong)
        guard case .owned(let epoch) = try await store.claim(by: "w", now: 1, leaseUntil: 2, gone: nil) else {
            throw WorkerError(.corrupt, "not owned")
        }
        let owner = SliceOwner(
            store: store, epoch: epoch, apps: AppDirectory(store: control), topology: Topology(), slices: slices,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        return (owner, store, right)
    }

    private func messages(_ realm: RealmName) throws -> [AMQPMessage] {
        let session = SessionReference(gateway: "g", number: 1)
        let context = RequestContext(realm: realm, session: session, sentAt: 1, patience: 10_000, rights: .all)
        let file = ClientFileIdent(ident: 2, salt: 3)
        return [
            try AMQPMessage(
                BindRequest(
                    context: context, user: "u", connection: "c", needsClientFile: true, sessionReason: 0,
                    protocolVersion: 14, userAgent: "")),
            try AMQPMessage(
                IdentifyRequest(
                    context: context, user: "u", clientFile: file, download: DownloadCursor(),
                    latest: SaltedServerVersion(version: 0, salt: 0))),
            try AMQPMessage(
                PageRequest(
                    context: context, clientFile: 2, generation: 1, after: DownloadCursor(), maxBytes: 1_000,
                    isMark: false)),
            try AMQPMessage(
                UnbindNotice(
                    realm: realm, session: session, user: "u", connection: "c", clientFile: 2, isOrderly: true,
                    wasRefused: false)),
            try AMQPMessage(ResetMessage(realm: realm, clientFile: 2, campaign: "c", reason: nil)),
            try AMQPMessage(
                ChangesetMessage(
                    realm: realm, upload: nil, entries: [.init(timestamp: 1, changeset: Changes.schema())])),
        ]
    }

    @Test func eachGoesOnToItsRealmsSliceOnce() async throws {
        let realm = RealmName(app: "tasks", partition: "\"p\"")
        let (owner, store, right) = try await owner(realm)
        for message in try messages(realm) {
            let type = message.properties.type ?? ""
            let passedOn = try await owner.process([message])
            expectEqual(passedOn.map(\.target), [.slice(right)], "\(type)")
            expectEqual(passedOn.first?.message.body, message.body)
            // The owner that passed the message on knows another number of slices.
            let again = try await owner.process(passedOn.map(\.message))
            expectEqual(again.map(\.target), [.dead], "\(type)")
        }
        try await expectTrue(store.realm(realm) == nil)
    }
}

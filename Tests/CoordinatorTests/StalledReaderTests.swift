import AMQP
import AdminAPI
import AsyncHTTPClient
import Changesets
import Documents
import ExtendedJSON
import Foundation
import Messages
import NIOCore
import NIOHTTP1
import RealmState
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

/// Clients that stop reading documents for which a store's snapshot is held.
@Suite(.hangGuard) struct StalledReaderTests {
    private static let realm = RealmName(app: "tasks", partition: "\"nw\"")

    /// A realm with more than connections and buffers hold while nobody reads.
    private func withLargeRealm(
        _ body: (CoordinatorHarness, RunningCoordinator) async throws -> Void
    ) async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(
                AppRecord(id: "tasks", changeFeed: ChangeFeedSetting(.keys, since: 1), createdAt: 1))
            let (store, epoch) = try await harness.owned(Self.realm.slice(of: harness.slices))
            var state = RealmState()
            _ = try state.record { (transaction: inout RecordingTransaction) throws(RecordingError) in
                try transaction.createTable("Note", key: KeySchema(name: "_id", type: .int, nullable: false))
                try transaction.addColumn("Note", "text", ElementType(type: .string, nullable: false))
            }
            let mapping = DocumentMapping(schema: state.schema)
            let table = try mapping.table("Note")
            var record = RealmRecord(id: RealmID(1), name: Self.realm, generation: 1, salt: 1, saltEpoch: epoch)
            record.schema = state.schema.encoded()
            let text = BSONValue(String(repeating: "x", count: 1 << 20))
            for key in 0..<64 as Range<Int64> {
                var batch = SliceBatch()
                if key == 0 { batch.realms = [record] }
                let document: BSONDocument = ["_id": BSONValue(key), "text": text]
                batch.objects[record.id, default: [:]][ObjectRow(table: table.id.rawValue, key: .int(key))] =
                    try mapping.object(mapping.content(document, of: table), of: table).encoded()
                try await store.commit(batch, epoch: epoch)
            }
            try await harness.withCoordinator(stalledReader: .milliseconds(300)) { coordinator in
                try await eventually { coordinator.isServing }
                try await body(harness, coordinator)
            }
        }
    }

    /// What still comes of a stream; a connection that is closed ends it, too.
    private func rest(of stream: HTTPClientResponse) async -> Rest {
        var rest = Rest()
        do {
            for try await chunk in stream.body { rest.bytes += chunk.readableBytesView }
        } catch {
            rest.bytes += Data(" broke off: \(error)".utf8)
        }
        return rest
    }

    /// Megabytes, which `Data` searches quickly in unoptimized builds, too.
    private struct Rest: CustomStringConvertible {
        var bytes = Data()
        func has(_ event: String) -> Bool { bytes.range(of: Data("event: \(event)".utf8)) != nil }
        var description: String { String(decoding: bytes.suffix(200), as: UTF8.self) }
    }

    @Test func streamsOfDocumentsThatNobodyReadsEnd() async throws {
        try await withLargeRealm { _, coordinator in
            // More than there are places for: those that come later need the places of the first.
            var streams: [HTTPClientResponse] = []
            for _ in 0..<2 * AdminLimits.searches {
                try await eventually("a place is given back") {
                    let stream = try await coordinator.execute(
                        "GET", "apps/tasks/documents/stream?partition=nw&class=Note")
                    guard stream.status == .ok else { return false }
                    streams.append(stream)
                    return true
                }
            }
            for stream in streams.prefix(AdminLimits.searches) {
                let rest = await rest(of: stream)
                expectTrue(!rest.has("end"), "\(rest)")
            }
        }
    }

    @Test func aFollowerThatDoesNotReadTheDocumentsIsGivenUp() async throws {
        try await withLargeRealm { harness, coordinator in
            let stream = try await coordinator.execute("GET", "apps/tasks/changes?from=start&class=Note")
            let place = try #require(ChangePlace("1.4.0"))
            let message = try AMQPMessage(
                ChangesMessage(
                    realm: Self.realm, history: "9c2f01ab",
                    changes: [
                        FeedChange(
                            realm: Self.realm, history: "9c2f01ab", place: place, writtenAt: 5,
                            change: ["class": "Note", "operation": "delete", "key": 7])
                    ]),
                id: "c-1")
            // The follower's queue is gone with the follower: what is published then leads nowhere.
            try await eventually("the follower is given up") {
                do {
                    try await harness.channel.publish(
                        message, exchange: harness.topology.changes,
                        routingKey: Topology.changeKey(app: "tasks", class: "Note", operation: "delete"),
                        mandatory: true)
                    return false
                } catch let error as AMQPError where error.code == .unroutable {
                    return true
                }
            }
            let rest = await rest(of: stream)
            expectTrue(!rest.has("state") && !rest.has("ready"), "\(rest)")
        }
    }
}

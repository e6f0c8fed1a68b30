import AMQP
import Changesets
import Documents
import ExtendedJSON
import MergeConformance
import Messages
import RealmState
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Follows the changes of one realm as docs/change-feed.md says: keeps the last place, and drops what is not behind it.
struct Follower {
    private(set) var documents = ReplayedDocuments()
    private(set) var last: ChangePlace?
    /// The history of the last place: what a place of another one means nobody knows.
    private(set) var history: String?
    private(set) var repetitions = 0
    /// The last change of each class.
    private var lastOfClasses: [BSONValue: ChangePlace] = [:]
    /// The realm was erased, and every class goes on behind that.
    private var erasure: ChangePlace?
    /// The changes that counted.
    private(set) var changes: [FeedChange] = []

    mutating func take(_ published: Published, _ comment: String = "") throws {
        for publication in published.all where publication.isChange {
            let message = try publication.message.decode(ChangesMessage.self)
            let first = try #require(message.changes.first)
            expectEqual(
                publication.message.properties.messageID,
                ChangesMessage.id(realm: message.realm, at: FeedPlace(first.place, of: message.history)))
            expectEqual(publication.changes, message.changes.count)
            for change in message.changes { try take(change, comment) }
        }
    }

    private mutating func take(_ change: FeedChange, _ comment: String) throws {
        expectTrue(change.history != nil && (history == nil || history == change.history), "\(comment)")
        history = change.history
        if let last, change.place <= last {
            repetitions += 1
            return
        }
        let className = change.change["class"]
        expectEqual(
            change.follows,
            change.isErasure
                ? ChangePredecessors()
                : ChangePredecessors(inRealm: last, inClass: className.flatMap { lastOfClasses[$0] } ?? erasure),
            "\(comment): \(change)")
        last = change.place
        if let className { lastOfClasses[className] = change.place }
        changes.append(change)
        if change.isErasure {
            documents = ReplayedDocuments()
            (lastOfClasses, erasure) = ([:], change.place)
            return
        }
        expectTrue(documents.apply(change.change), "\(comment): \(change)")
    }

    /// What differs from the objects in the store.
    func differences(from harness: OwnerHarness) async throws -> [String] {
        var left = documents.documents
        var found: [String] = []
        if let record = try await harness.store.realm(harness.realm), !record.schema.isEmpty {
            let mapping = DocumentMapping(schema: try Schema(decoding: record.schema))
            for (row, body) in try await harness.store.objects(in: record.id, after: nil, maxBytes: .max) {
                guard let table = mapping.schema.table(TableID(rawValue: row.table)) else { continue }
                let key = DocumentMapping.value(of: row.key)
                let document = mapping.document(of: try StoredObject(decoding: body), key: row.key, table)
                guard let told = left[table.name]?.removeValue(forKey: key) else {
                    found.append("\(table.name) \(row.key) is not there")
                    continue
                }
                for member in document where told[member.key] != member.value {
                    found.append("\(table.name) \(row.key).\(member.key)")
                }
            }
        }
        return found + left.flatMap { name, documents in documents.keys.map { "\(name) \($0) is there" } }
    }
}

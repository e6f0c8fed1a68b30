package import Changesets
import Documents
package import ExtendedJSON
package import Messages
import RealmState
package import Storage
package import SyncModel

/// A realm's documents at one version, for somebody who goes on with the changes behind it.
package struct FollowedRealm: Sendable {
    /// What one page reads of the store, in bytes.
    static let pageBytes = 1 << 20
    /// How long a realm's documents may be read: the store keeps meanwhile what its owner deletes.
    static let patience = Duration.seconds(600)
    /// How many documents are looked up at most for somebody who comes back, and through how much history.
    static let maxMissed = 100_000
    static let maxHistoryBytes = 64 << 20
    static let keysAtOnce = 64

    /// Why somebody has to start anew, or come again.
    package enum Failure: Error, Equatable {
        /// The changes after the place are not told any more.
        case placeGone(String)
        /// The reader takes too long.
        case tooSlow
    }

    /// The news of a document: what it is, or that it is gone.
    package struct Document: Sendable {
        package var className: ByteString
        package var key: BSONValue
        /// Nil: there is no such document.
        package var content: BSONDocument?
    }

    private let snapshot: any SliceReader
    private let record: RealmRecord
    private let mapping: DocumentMapping
    private let className: ByteString?
    private let history: String
    private let deadline = ContinuousClock.now + FollowedRealm.patience

    /// Tells a realm's documents, all of them as they are at one version.
    ///
    /// - Parameters:
    ///   - className: nil: of all classes.
    ///   - place: tells only documents that were touched behind it; nil: all.
    ///   - app: the realm's.
    ///   - tell: is given documents of about a page at once, none if there is nothing.
    /// - Returns: the place of the version; nil if there is no such realm.
    /// - Throws: `Failure`.
    package static func read(
        _ name: RealmName, of className: ByteString?, since place: FeedPlace? = nil, in reader: any SliceReader,
        app: AppRecord, tell: ([Document], FeedPlace) async throws -> Void
    ) async throws -> FeedPlace? {
        try await reader.withSnapshot { snapshot in
            guard let record = try await snapshot.realm(name) else {
                if place != nil { throw Failure.placeGone("there is no such realm any more") }
                return nil
            }
            let realm = FollowedRealm(
                snapshot: snapshot, record: record, mapping: DocumentMapping(schema: try record.storedSchema()),
                className: className, history: app.history(after: try await snapshot.restore()))
            if let place { try await realm.tellMissed(since: place, tell) } else { try await realm.tellAll(tell) }
            return realm.place
        }
    }

    private init(
        snapshot: any SliceReader, record: RealmRecord, mapping: DocumentMapping, className: ByteString?,
        history: String
    ) {
        self.snapshot = snapshot
        self.record = record
        self.mapping = mapping
        self.className = className
        self.history = history
    }

    private var place: FeedPlace {
        FeedPlace(
            ChangePlace(generation: record.generation, version: record.latest.version, index: .max), of: history)
    }

    private func requireTime() throws(Failure) {
        guard ContinuousClock.now < deadline else { throw .tooSlow }
    }

    private func tellAll(_ tell: ([Document], FeedPlace) async throws -> Void) async throws {
        for table in mapping.schema.tables {
            guard className == nil || table.name == className, (try? mapping.table(table.name)) != nil else { continue }
            var last: ObjectRow?
            while true {
                try requireTime()
                let page = try await snapshot.objects(
                    in: record.id, of: table.id.rawValue, after: last, maxBytes: Self.pageBytes)
                guard let end = page.last?.row else { break }
                let documents = try page.map { row, body in
                    Document(
                        className: table.name, key: DocumentMapping.value(of: row.key),
                        content: mapping.document(of: try StoredObject(decoding: body), key: row.key, table))
                }
                try await tell(documents, place)
                last = end
            }
        }
    }

    // MARK: Coming back

    private func tellMissed(
        since place: FeedPlace, _ tell: ([Document], FeedPlace) async throws -> Void
    ) async throws {
        let addresses = try await missed(since: place)
        var waiting = addresses[...]
        while !waiting.isEmpty {
            try requireTime()
            let some = waiting.prefix(Self.keysAtOnce)
            waiting = waiting.dropFirst(some.count)
            var rows: [ObjectAddress: ObjectRow] = [:]
            for address in some {
                guard let table = try? mapping.table(address.className) else { continue }
                rows[address] = ObjectRow(table: table.id.rawValue, key: address.key)
            }
            let found = try await snapshot.objects(in: record.id, at: Array(rows.values))
            let documents: [Document] = try some.compactMap { address in
                guard let row = rows[address], let table = try? mapping.table(address.className) else { return nil }
                let content = try found[row].map {
                    mapping.document(of: try StoredObject(decoding: $0), key: address.key, table)
                }
                return Document(
                    className: address.className, key: DocumentMapping.value(of: address.key), content: content)
            }
            try await tell(documents, self.place)
        }
    }

    /// The documents that versions behind a place have touched.
    private func missed(since from: FeedPlace) async throws -> [ObjectAddress] {
        let latest = record.latest.version
        guard from.history == nil || from.history == history else {
            throw Failure.placeGone("the store was put back to an earlier state since, or the app was made anew")
        }
        let place = from.place
        guard place.generation == record.generation, place.version <= latest else {
            throw Failure.placeGone(
                "the realm's versions began anew since: sync was terminated, or the store was put back")
        }
        // All changes are told again of a version of which some are known.
        var after =
            place.index == .max || place.version == 0 ? place.version : ServerVersion(place.version.rawValue - 1)
        var addresses: [ObjectAddress] = []
        var known: Set<ObjectAddress> = []
        var bytes = 0
        while after < latest {
            try requireTime()
            let records = try await snapshot.history(
                of: HistoryKey(realm: record.id, generation: record.generation), after: after, through: latest,
                maxBytes: Self.pageBytes)
            guard after >= record.historyBase, let first = records.first, first.version.rawValue == after.rawValue + 1,
                let last = records.last
            else {
                throw Failure.placeGone(
                    "the history behind it is not kept any more: it begins at \(record.historyBase)")
            }
            for version in records {
                bytes += version.entry.changeset.count
                let changeset = try Changeset(parsing: version.entry.changeset)
                for instruction in changeset.instructions {
                    switch instruction {
                    case .eraseTable, .eraseColumn:
                        throw Failure.placeGone("version \(version.version) took a class or a field away")
                    default: break
                    }
                }
                for address in changeset.touchedAddresses
                where (className == nil || address.className == className) && known.insert(address).inserted {
                    addresses.append(address)
                }
            }
            guard addresses.count <= Self.maxMissed, bytes <= Self.maxHistoryBytes else {
                throw Failure.placeGone("too much has changed since")
            }
            after = last.version
        }
        return addresses
    }
}

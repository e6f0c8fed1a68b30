import AdminAPI
import Changesets
import Foundation
import Hummingbird
import Inspection
import Storage
import SyncModel

/// `apps/{app}/realms` and `apps/{app}/realm`: what is stored of an app's realms, read beside their owners.
struct RealmRoutes: Sendable {
    let context: CoordinatorContext

    /// Realms looked at for one page, of all apps: those of an app are not stored together.
    static let reach = 2_000

    func add(to group: RouterGroup<BasicRequestContext>) {
        group.on(.get, .realms) { request, route in
            let app = try await context.app(route.value(of: .app))
            let limit = try AdminRequest.limit(request, default: AdminLimits.realms)
            return try AdminResponse.json(
                try await realms(of: app.id, after: try cursor(AdminRequest.query(.after, request)), limit: limit))
        }
        group.on(.get, .realm) { request, route in
            let (reader, pages) = try await realm(request, app: route.value(of: .app))
            let weight = try await reader.weight(of: pages.record.id)
            return try AdminResponse.json(
                RealmDocument(
                    realm: try await RealmSummary(pages.record, reader), objects: weight.objects, bytes: weight.bytes,
                    classes: try pages.classes()))
        }
        group.on(.get, .realmClientFiles) { request, route in
            let (reader, pages) = try await realm(request, app: route.value(of: .app))
            let limit = try AdminRequest.limit(request)
            let after = try number(of: request)
            let found = try await reader.clientFiles(
                in: pages.record.id, state: nil, after: FileIdent(after ?? 0), limit: limit)
            return try AdminResponse.json(
                StoredClientFileList(
                    clientFiles: found.map { StoredClientFile($0, of: pages.record) },
                    next: found.count == limit ? found.last.map { "\($0.ident)" } : nil))
        }
        group.on(.get, .realmHistory) { request, route in
            let (_, pages) = try await realm(request, app: route.value(of: .app))
            let limit = try AdminRequest.limit(request, default: AdminLimits.versions)
            let found = try await pages.versions(
                before: try number(of: request).map { ServerVersion($0) }, limit: limit)
            return try AdminResponse.json(
                VersionList(versions: found, next: found.count == limit ? found.last.map { "\($0.version)" } : nil))
        }
        group.on(.get, .realmObjects) { request, route in
            let (_, pages) = try await realm(request, app: route.value(of: .app))
            let limit = try AdminRequest.limit(request, default: AdminLimits.objects)
            var after: ObjectRow?
            if let text = AdminRequest.query(.after, request) {
                after = ObjectRow(cursor: text)
                guard after != nil else { throw AdminError.invalid("after: expected the \"next\" of the page before") }
            }
            do {
                let (objects, next) = try await pages.objects(
                    ofClass: AdminRequest.query(.className, request), after: after, limit: limit)
                return try AdminResponse.json(
                    StoredObjectList(
                        objects: objects.map { .init(className: $0.className, object: $0.json) }, next: next?.cursor))
            } catch let error as InspectionError where error.code == .notFound {
                throw AdminError(status: .notFound, code: "not_found", message: error.message)
            }
        }
    }

    private func stores() throws(AdminError) -> any StoreInspector {
        guard let stores = context.configuration.stores else {
            throw AdminError(
                status: .notImplemented, code: "no_store", message: "this coordinator cannot read the slices' stores")
        }
        return stores
    }

    /// - Throws: `not_found` for the app and the realm.
    private func realm(_ request: Request, app id: String) async throws -> (any SliceReader, RealmPages) {
        let app = try await context.app(id)
        let name: RealmName
        if app.syncMode == .flexible {
            name = RealmName(app: id, partition: "")
        } else {
            guard let partition = AdminRequest.query(.partition, request) else {
                throw AdminError.invalid("the query must name the partition: ?partition=...")
            }
            name = RealmName(app: id, partition: RealmName.partition(fromText: partition))
        }
        let slice = name.slice(of: context.slices)
        let stores = try stores()
        let missing = AdminError.notFound("realm \(name.partition.prefix(200)) of app \(id)")
        guard try await stores.slices().contains(slice) else { throw missing }
        let reader = try await stores.reader(for: slice)
        guard let record = try await reader.realm(name) else { throw missing }
        return (reader, RealmPages(reader: reader, record: record))
    }

    private func realms(of app: String, after start: (slice: Int, realm: Int64), limit: Int) async throws -> RealmList {
        let stores = try stores()
        var list = RealmList(realms: [])
        var looked = 0
        for slice in try await stores.slices().filter({ $0.value >= start.slice }).sorted(by: { $0.value < $1.value }) {
            let reader = try await stores.reader(for: slice)
            var last = slice.value == start.slice && start.realm > 0 ? RealmID(start.realm) : nil
            while true {
                let page = try await reader.realms(after: last, limit: 200)
                for record in page {
                    last = record.id
                    looked += 1
                    if record.name.app == app { list.realms.append(try await RealmSummary(record, reader)) }
                    if list.realms.count == limit || looked >= Self.reach {
                        list.next = "\(slice.value).\(record.id.value)"
                        return list
                    }
                }
                if page.count < 200 { break }
            }
        }
        return list
    }

    private func cursor(_ text: String?) throws(AdminError) -> (slice: Int, realm: Int64) {
        guard let text else { return (0, 0) }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let slice = Int(parts[0]), let realm = Int64(parts[1]), slice >= 0, realm >= 0 else {
            throw .invalid("after: expected the \"next\" of the page before")
        }
        return (slice, realm)
    }

    private func number(of request: Request) throws(AdminError) -> UInt64? {
        guard let text = AdminRequest.query(.after, request) else { return nil }
        guard let number = UInt64(text), number <= UInt64(Int64.max) else {
            throw .invalid("after: expected the \"next\" of the page before")
        }
        return number
    }
}

/// A realm in a list.
struct RealmSummary: Codable, Sendable {
    var partition: String
    var slice: SliceNumber
    var generation: UInt64
    var version: ServerVersion
    var historyBase: ServerVersion
    var historyBytes: UInt64
    /// How many client files there are by their state.
    var clientFiles: [String: Int]

    init(_ record: RealmRecord, _ reader: any SliceReader) async throws {
        partition = record.name.partition
        slice = reader.slice
        generation = record.generation
        version = record.latest.version
        historyBase = record.historyBase
        historyBytes = record.historyBytes
        clientFiles = Dictionary(
            uniqueKeysWithValues: try await reader.clientFileCounts(in: record.id).map { ($0.rawValue, $1) })
    }
}

struct RealmList: Codable, Sendable {
    var realms: [RealmSummary]
    /// The `after` of the following page, which may be there although this page has no realm; absent at the end.
    var next: String?
}

struct RealmDocument: Codable, Sendable {
    var realm: RealmSummary
    var objects: Int
    var bytes: UInt64
    var classes: [RealmPages.ClassSummary]
}

/// A client file without its salt.
struct StoredClientFile: Codable, Sendable {
    var clientFile: FileIdent
    var user: String
    var state: String
    var generation: UInt64
    var campaign: String?
    /// How many versions it has not been seen to have; absent where it is of another generation.
    var behind: UInt64?
    var lastSeen: UInt64
    var userAgent: String

    init(_ record: ClientFileRecord, of realm: RealmRecord) {
        clientFile = record.ident
        user = record.user
        state = record.state.rawValue
        generation = record.generation
        campaign = record.campaign
        let seen = record.seenServerVersion
        behind =
            record.generation == realm.generation && seen <= realm.latest.version
            ? realm.latest.version.rawValue - seen.rawValue : nil
        lastSeen = record.lastSeen
        userAgent = record.userAgent
    }
}

struct StoredClientFileList: Codable, Sendable {
    var clientFiles: [StoredClientFile]
    var next: String?
}

struct VersionList: Codable, Sendable {
    var versions: [RealmPages.VersionSummary]
    var next: String?
}

struct StoredObjectList: Codable, Sendable {
    struct Entry: Codable, Sendable {
        var className: String
        /// MongoDB extended JSON.
        var object: String
    }

    var objects: [Entry]
    var next: String?
}

extension ObjectRow {
    /// The row as one word, safe in a URL.
    var cursor: String {
        let place: String =
            switch key {
            case .null: "n"
            case .int(let value): "i.\(value)"
            case .string(let value): "s.\(HexBytes(Array(value.bytes)).hex)"
            case .globalKey(let high, let low): "g.\(high).\(low)"
            case .objectID(let value): "o.\(value.high).\(value.low)"
            case .uuid(let value): "u.\(value.high).\(value.low)"
            }
        return "\(table).\(place)"
    }

    init?(cursor: String) {
        let parts = cursor.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count >= 2, let table = UInt32(parts[0]) else { return nil }
        func two() -> (UInt64, UInt64)? {
            guard parts.count == 4, let high = UInt64(parts[2]), let low = UInt64(parts[3]) else { return nil }
            return (high, low)
        }
        let key: ObjectKey
        switch (parts[1], parts.count) {
        case ("n", 2): key = .null
        case ("i", 3):
            guard let value = Int64(parts[2]) else { return nil }
            key = .int(value)
        case ("s", 3):
            guard let bytes = HexBytes(hex: parts[2]) else { return nil }
            key = .string(ByteString(bytes.bytes))
        case ("g", 4):
            guard let (high, low) = two() else { return nil }
            key = .globalKey(high: high, low: low)
        case ("o", 4):
            guard let (high, low) = two(), let small = UInt32(exactly: low) else { return nil }
            key = .objectID(ObjectIDValue(high: high, low: small))
        case ("u", 4):
            guard let (high, low) = two() else { return nil }
            key = .uuid(UUIDValue(high: high, low: low))
        default: return nil
        }
        self.init(table: table, key: key)
    }
}

import AdminAPI
import Changesets
import Hummingbird
import Inspection
import Storage
import SyncModel

/// `apps/{app}/realms` and `apps/{app}/realm`: what is stored of an app's realms, read beside their owners.
struct RealmRoutes: Sendable {
    let context: CoordinatorContext

    /// Realms looked at for one page, of all apps: those of an app are not stored together.
    static let reach = 2_000
    /// Realms looked at for a list that is sorted, of all apps.
    static let sortingReach = 50_000

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.answer(.get, .realms) { request, route in
            let app = try await context.app(route.value(of: .app))
            let limit = try AdminRequest.limit(request, default: AdminLimits.realms)
            let search = AdminRequest.query(.search, request)
            if let order = try AdminRequest.query(.sort, request).map(Self.order) {
                let offset = try AdminRequest.after(request, Self.number) ?? 0
                return try await sorted(
                    realmsOf: app.id, by: order, search, after: min(Int(clamping: offset), Self.sortingReach),
                    limit: limit)
            }
            let after = try AdminRequest.after(request, Self.place) ?? (0, 0)
            return try await realms(of: app.id, search, after: after, limit: limit)
        }
        group.answer(.get, .realm) { request, route in
            let (reader, pages) = try await realm(request, app: route.value(of: .app))
            let weight = try await reader.weight(of: pages.record.id)
            return RealmDocument(
                realm: try await RealmSummary(pages.record, reader), objects: weight.objects, bytes: weight.bytes,
                classes: try pages.classes())
        }
        group.answer(.get, .realmClientFiles) { request, route in
            let (reader, pages) = try await realm(request, app: route.value(of: .app))
            let limit = try AdminRequest.limit(request)
            let after = try AdminRequest.after(request, Self.number)
            let found = try await reader.clientFiles(
                in: pages.record.id, state: nil, after: FileIdent(after ?? 0), limit: limit)
            return StoredClientFileList(
                clientFiles: found.map { StoredClientFile($0, of: pages.record) },
                next: found.count == limit ? found.last.map { "\($0.ident)" } : nil)
        }
        group.answer(.get, .realmHistory) { request, route in
            let (_, pages) = try await realm(request, app: route.value(of: .app))
            let limit = try AdminRequest.limit(request, default: AdminLimits.versions)
            let before = try AdminRequest.after(request, Self.number).map { ServerVersion($0) }
            let found = try await pages.versions(before: before, limit: limit)
            return VersionList(versions: found, next: found.count == limit ? found.last.map { "\($0.version)" } : nil)
        }
        group.answer(.get, .realmObjects) { request, route in
            let (_, pages) = try await realm(request, app: route.value(of: .app))
            let limit = try AdminRequest.limit(request, default: AdminLimits.objects)
            let after = try AdminRequest.after(request) { ObjectRow(cursor: $0) }
            do {
                let (objects, next) = try await pages.objects(
                    ofClass: AdminRequest.query(.className, request), after: after, limit: limit)
                return StoredObjectList(
                    objects: objects.map { .init(className: $0.className, object: $0.json) }, next: next?.cursor)
            } catch let error as InspectionError where error.code == .notFound {
                throw AdminError(status: .notFound, code: "not_found", message: error.message)
            }
        }
    }

    private func stores() throws(AdminError) -> any StoreInspector {
        guard let stores = context.configuration.stores else { throw .noStore() }
        return stores
    }

    /// - Throws: `not_found` for the app and the realm.
    private func realm(_ request: Request, app id: String) async throws -> (any SliceReader, RealmPages) {
        let name = try RealmChoice(request).name(in: try await context.app(id))
        let slice = name.slice(of: context.slices)
        let stores = try stores()
        let missing = AdminError.noRealm(name)
        guard try await stores.slices().contains(slice) else { throw missing }
        let reader = try await stores.reader(for: slice)
        guard let record = try await reader.realm(name) else { throw missing }
        return (reader, RealmPages(reader: reader, record: record))
    }

    private static func order(_ text: String) throws(AdminError) -> RealmOrder {
        guard let order = RealmOrder(text) else {
            throw .invalid(
                "sort: expected one of \(RealmOrder.names), with - before it for the other way round, found \(text.prefix(40))"
            )
        }
        return order
    }

    /// Looks through the stores as far as `sortingReach`, and answers a part of what was found in its order.
    private func sorted(
        realmsOf app: String, by order: RealmOrder, _ search: String?, after offset: Int, limit: Int
    ) async throws -> RealmList {
        let stores = try stores()
        var places: [RealmPlace] = []
        var looked = 0
        walk: for slice in try await stores.slices() {
            let reader = try await stores.reader(for: slice)
            var last: RealmID?
            while true {
                let page = try await reader.realms(after: last, limit: 200)
                for record in page where record.name.app == app {
                    let place = RealmPlace(record, slice: slice)
                    if place.contains(search) { places.append(place) }
                }
                looked += page.count
                if looked >= Self.sortingReach { break walk }
                last = page.last?.id
                if page.count < 200 { break }
            }
        }
        places.sort(by: order.isBefore)
        var list = RealmList(realms: [], of: places.count, isComplete: looked < Self.sortingReach)
        for place in places.dropFirst(offset).prefix(limit) {
            let reader = try await stores.reader(for: place.slice)
            // A realm that was erased meanwhile is left out.
            guard let record = try await reader.realm(RealmName(app: app, partition: place.partition)) else { continue }
            list.realms.append(try await RealmSummary(record, reader))
        }
        if places.count > offset + limit { list.next = "\(offset + limit)" }
        return list
    }

    private func realms(
        of app: String, _ search: String?, after start: (slice: Int, realm: Int64), limit: Int
    ) async throws -> RealmList {
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
                    if record.name.app == app, RealmPlace(record, slice: slice).contains(search) {
                        list.realms.append(try await RealmSummary(record, reader))
                    }
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

    private static func place(_ text: String) -> (slice: Int, realm: Int64)? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let slice = Int(parts[0]), let realm = Int64(parts[1]), slice >= 0, realm >= 0 else {
            return nil
        }
        return (slice, realm)
    }

    private static func number(_ text: String) -> UInt64? {
        UInt64(text).flatMap { $0 <= UInt64(Int64.max) ? $0 : nil }
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
    /// The number of realms that were found for a list that is sorted, and whether all were looked at.
    var of: Int?
    var isComplete: Bool?
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
    /// What of its client's history is in the realm, and what of the realm's the client has been seen to have.
    var clientVersion: ClientVersion
    var serverVersion: ServerVersion
    var supersededBy: FileIdent?
    /// When its latest upload says that it was written, if that is far ahead, in milliseconds of Unix time.
    var ahead: UInt64?
    /// The end of the year 9999: no calendar need go further for what a client says.
    private static let lastTime: Int64 = 253_402_300_799_000

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
        clientVersion = record.upload.clientVersion
        serverVersion = seen
        supersededBy = record.supersededBy
        ahead = record.ahead.map { UInt64(min(max(0, $0.unixMilliseconds), Self.lastTime)) }
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
            guard let high = UInt64(parts[2]), let low = UInt64(parts[3]) else { return nil }
            return (high, low)
        }
        let key: ObjectKey? =
            switch (parts[1], parts.count) {
            case ("n", 2): .null
            case ("i", 3): Int64(parts[2]).map { .int($0) }
            case ("s", 3): HexBytes(hex: parts[2]).map { .string(ByteString($0.bytes)) }
            case ("g", 4): two().map { .globalKey(high: $0, low: $1) }
            case ("o", 4):
                two().flatMap { high, low in
                    UInt32(exactly: low).map { .objectID(ObjectIDValue(high: high, low: $0)) }
                }
            case ("u", 4): two().map { .uuid(UUIDValue(high: $0, low: $1)) }
            default: nil
            }
        guard let key else { return nil }
        self.init(table: table, key: key)
    }
}

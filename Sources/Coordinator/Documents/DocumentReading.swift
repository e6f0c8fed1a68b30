import AdminAPI
import Changesets
import Documents
import ExtendedJSON
import Foundation
import Hummingbird
import Inspection
import Logging
import Messages
import NIOCore
import Operations
import Rules
import Storage
import SyncModel

/// The searches of `apps/{app}/documents`: an app's objects as Extended JSON, read beside their realms' owners, each realm at one moment.
struct DocumentReading: Sendable {
    let context: CoordinatorContext
    private let places = EventPlaces(AdminLimits.searches, of: "searches are under way", code: "too_many_searches")

    /// A search that takes longer is told to those who run the cluster.
    private static let slow = Duration.seconds(2)
    /// How long a stream of documents may be: the store keeps meanwhile what its owner deletes.
    private static let patience = Duration.seconds(600)

    init(context: CoordinatorContext) { self.context = context }

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.on(.get, .documents) { request, route in
            let wanted = try wanted(request)
            let page = try await search(request, app: route.value(of: .app)) { try await $0.page(wanted) }
            var answer: BSONDocument = ["documents": .array(page.documents.map { .document($0) })]
            answer["next"] = page.next.map { BSONValue($0.cursor) }
            return try Self.response(answer, request)
        }
        group.on(.get, .documentCount) { request, route in
            let wanted = try wanted(request)
            var count = 0
            let realms = try await searchEach(request, app: route.value(of: .app)) { search in
                count += try await search.count(wanted)
                return true
            }
            return try Self.response(["count": BSONValue(Int64(count))], of: realms, request)
        }
        group.on(.get, .documentDistinct) { request, route in
            guard let field = AdminRequest.query(.field, request) else {
                throw AdminError.invalid("field: expected the field whose values are wanted")
            }
            let wanted = try wanted(request)
            var values = try Self.telling { () throws(DocumentError) in try DistinctValues(of: ByteString(field)) }
            let realms = try await searchEach(request, app: route.value(of: .app)) { search in
                try await search.distinct(wanted, into: &values)
                return true
            }
            return try Self.response(["values": .array(values.values)], of: realms, request)
        }
        group.on(.get, .documentAggregate) { request, route in
            guard let pipeline = try pipeline(request) else {
                throw AdminError.invalid("pipeline: expected an array of stages")
            }
            var run = PipelineRun(pipeline)
            let realms = try await searchEach(request, app: route.value(of: .app)) { search in
                try await search.aggregate(pipeline, into: &run)
                return run.wantsMore
            }
            let documents = try Self.telling { () throws(DocumentError) in try run.finish() }
            return try Self.response(
                ["documents": .array(documents.map { .document($0) })], of: realms, request)
        }
        group.answer(.get, .documentExplanation) { request, route in
            var wanted = try wanted(request)
            if let pipeline = try pipeline(request) { wanted.filter = pipeline.filter }
            let asked = wanted
            return try await search(request, app: route.value(of: .app)) { try await $0.explain(asked) }
        }
        group.on(.get, .documentStream) { try await stream($0, app: $1.value(of: .app)) }
    }

    // MARK: Searching

    /// A class of one realm, and who looks at it.
    private struct Target {
        var app: AppRecord
        var realm: RealmName
        var className: ByteString
        /// The roles of the user as whom is searched, in an app in flexible mode; nil: all is seen.
        var roles: ClosedRoles?
        var reader: any SliceReader
    }

    private func target(_ request: Request, app id: String) async throws -> Target {
        let app = try await context.app(id)
        return try await target(request, app, try RealmChoice(request).name(in: app))
    }

    private func target(_ request: Request, _ app: AppRecord, _ name: RealmName) async throws -> Target {
        let className = try className(request)
        let roles = try await roles(request, app, name)
        let stores = try await context.stores(for: ", from which documents are read")
        guard let reader = try await stores.reader(of: name, in: context.slices) else { throw AdminError.noRealm(name) }
        return Target(app: app, realm: name, className: className, roles: roles, reader: reader)
    }

    private func className(_ request: Request) throws(AdminError) -> ByteString {
        guard let className = AdminRequest.query(.className, request) else {
            throw AdminError.invalid("class: expected the name of a class")
        }
        return ByteString(className)
    }

    /// Returns the roles of the user as whom is searched; nil: all of the realm is seen.
    ///
    /// - Throws: `not_found`, and `unreadable` for a partition that the user may not read.
    private func roles(_ request: Request, _ app: AppRecord, _ realm: RealmName) async throws -> ClosedRoles? {
        guard let id = AdminRequest.query(.user, request) else { return nil }
        let user = RuleUser(try await context.user(id, of: app.id))
        let rules = try await context.rules.document(of: app)
        if realm.isFlexible { return rules?.closedRoles(of: user) ?? ClosedRoles.none }
        guard rules?.partitionRights(of: user, partition: realm.partition).mayRead == true else {
            throw Self.unreadable(realm, by: id)
        }
        return nil
    }

    private static func unreadable(_ realm: RealmName, by user: String) -> AdminError {
        AdminError(
            status: .unprocessableContent, code: "unreadable",
            message: "user \(user.prefix(64)) may not read partition \(realm.partition.prefix(200))")
    }

    /// A search through several realms of an app in partition mode, or all of them; as a user, those that the user may read.
    ///
    /// - Throws: `unreadable` for a named realm that the user may not read.
    private func realmsSearch(
        _ request: Request, _ app: AppRecord, _ names: [RealmName]?
    ) async throws -> RealmsSearch {
        let className = try className(request)
        var reads: @Sendable (RealmName) -> Bool = { _ in true }
        if let id = AdminRequest.query(.user, request) {
            let user = RuleUser(try await context.user(id, of: app.id))
            let rules = try await context.rules.document(of: app)
            reads = { rules?.partitionRights(of: user, partition: $0.partition).mayRead == true }
            if let hidden = names?.first(where: { !reads($0) }) { throw Self.unreadable(hidden, by: id) }
        }
        return RealmsSearch(
            app: app, className: className, declared: DeclaredSchema(try await context.store.schema(ofApp: app.id)),
            stores: try await context.stores(for: ", from which documents are read"), slices: context.slices,
            names: names, reads: reads)
    }

    private func search<Answer>(
        _ request: Request, app id: String, _ body: (DocumentSearch) async throws -> Answer
    ) async throws -> Answer {
        try await search(try await target(request, app: id), body)
    }

    private func search<Answer>(
        _ target: Target, _ body: (DocumentSearch) async throws -> Answer
    ) async throws -> Answer {
        let place = try places.require()
        defer { withExtendedLifetime(place) {} }
        let (began, budget) = (ContinuousClock.now, SearchBudget())
        defer { tellIfSlow(target.realm.key, target.app, target.className, budget, since: began) }
        return try await search(target, within: budget, body)
    }

    /// Searches the realms that a request names, one after the other, within the bounds of one search.
    ///
    /// - Parameter body: returns whether to go on.
    /// - Returns: how many realms have the class; nil for a request that is about one realm.
    private func searchEach(
        _ request: Request, app id: String, _ body: (DocumentSearch) async throws -> Bool
    ) async throws -> Int? {
        let app = try await context.app(id)
        let names: [RealmName]?
        switch try SearchedRealms(request, of: app) {
        case .one(let name):
            _ = try await search(try await target(request, app, name), body)
            return nil
        case .several(let some): names = some
        case .all: names = nil
        }
        let realms = try await realmsSearch(request, app, names)
        let place = try places.require()
        defer { withExtendedLifetime(place) {} }
        let (began, budget) = (ContinuousClock.now, SearchBudget())
        defer { tellIfSlow("several", app, realms.className, budget, since: began) }
        return try await request.whileClientWaits {
            let visited = try await realms.forEach(within: { budget }, body)
            try realms.requireClass(visited: visited)
            return visited
        }
    }

    private func search<Answer>(
        _ target: Target, within budget: SearchBudget, _ body: (DocumentSearch) async throws -> Answer
    ) async throws -> Answer {
        do {
            let answer = try await DocumentSearch.run(
                in: target.realm, of: target.className, reader: target.reader, as: target.roles,
                within: budget, body)
            guard let answer else { throw AdminError.noRealm(target.realm) }
            return answer
        } catch let error as DocumentError {
            throw AdminError(error)
        }
    }

    private static func telling<Value>(_ body: () throws(DocumentError) -> Value) throws(AdminError) -> Value {
        do throws(DocumentError) { return try body() } catch { throw AdminError(error) }
    }

    /// Says which search has taken long, and whether an index would have helped.
    private func tellIfSlow(
        _ realm: String, _ app: AppRecord, _ className: ByteString, _ budget: SearchBudget,
        since began: ContinuousClock.Instant
    ) {
        let time = began.duration(to: .now)
        guard time > Self.slow else { return }
        context.logger.notice(
            "slow search",
            metadata: [
                "app": "\(app.id)", "realm": "\(realm.prefix(200))", "class": "\(className.string.prefix(100))",
                "examined": "\(budget.objects)",
                "by": "\(budget.looksThroughClass ? "looking through the class" : "key or index")",
                "milliseconds": "\(time / .milliseconds(1))",
            ])
    }

    // MARK: Streams

    /// Answers what is selected as server-sent events: the documents as they are at one moment, then `end`. Of an app in partition mode, with
    /// several partitions or with none, those of several realms or all, each of a moment of its own and behind an event `realm`.
    private func stream(_ request: Request, app id: String) async throws -> Response {
        let app = try await context.app(id)
        var wanted = try wanted(request)
        if AdminRequest.query(.limit, request) == nil { wanted.limit = .max }
        guard wanted.after == nil else { throw AdminError.invalid("after: a stream begins with the first document") }
        let form = try Self.form(request)
        let choice = try RealmChoice(request)
        var limits = SearchLimits()
        limits.patience = Self.patience
        let isOfAll = app.syncMode == .partition && choice.partition == nil && choice.flexible == nil
        let realms = isOfAll ? .all : try SearchedRealms(request, of: app)
        let target: Target
        switch realms {
        case .one(let name): target = try await self.target(request, app, name)
        case .several(let names):
            return try await streamEach(wanted, limits, form, of: try await realmsSearch(request, app, names))
        case .all: return try await streamEach(wanted, limits, form, of: try await realmsSearch(request, app, nil))
        }
        let (asked, bounds) = (wanted, limits)
        let place = try places.require()
        // A wrong request is told of before anything is sent.
        _ = try await search(target, within: SearchBudget(bounds)) { try $0.check(asked) }
        return place.response(headers: Self.events) { writer in
            try await tellingErrors(to: &writer) { writer in
                let end = try await search(target, within: SearchBudget(bounds)) { search in
                    let count = try await search.all(asked) { documents in
                        try await Self.write(documents, form, to: &writer)
                    }
                    return ["version": BSONValue(Int64(clamping: search.version)), "count": BSONValue(Int64(count))]
                        as BSONDocument
                }
                try await Self.write("end", end, to: &writer)
            }
        }
    }

    /// The documents of several realms of an app in partition mode.
    private func streamEach(
        _ asked: DocumentSearch.Wanted, _ limits: SearchLimits, _ form: ExtendedJSONWriter.Form, of realms: RealmsSearch
    ) async throws -> Response {
        guard asked.sort.isEmpty else {
            throw AdminError.invalid("sort: documents of several realms are not sorted: name a partition")
        }
        let place = try places.require()
        return place.response(headers: Self.events) { writer in
            try await tellingErrors(to: &writer) { writer in
                var (count, told) = (0, 0)
                _ = try await realms.forEach(within: { SearchBudget(limits) }) { search in
                    var wanted = asked
                    wanted.limit = asked.limit == .max ? .max : asked.limit - count
                    var isFirst = true
                    count += try await search.all(wanted) { documents in
                        if isFirst {
                            try await Self.write("realm", search.heading, to: &writer)
                            (isFirst, told) = (false, told + 1)
                        }
                        try await Self.write(documents, form, to: &writer)
                    }
                    return count < asked.limit
                }
                try await Self.write(
                    "end", ["realms": BSONValue(Int64(told)), "count": BSONValue(Int64(count))], to: &writer)
            }
        }
    }

    private static let events: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]

    private static func write(
        _ documents: [BSONDocument], _ form: ExtendedJSONWriter.Form, to writer: inout any ResponseBodyWriter
    ) async throws {
        var buffer = ByteBuffer()
        for document in documents {
            let data = ExtendedJSONWriter.bytes(of: .document(document), form)
            buffer.writeImmutableBuffer(ServerSentEvent("document", data: data).buffer)
        }
        if buffer.readableBytes > 0 { try await writer.write(buffer) }
    }

    private static func write(
        _ event: String, _ data: BSONDocument, to writer: inout any ResponseBodyWriter
    ) async throws {
        try await writer.write(ServerSentEvent(event, data: ExtendedJSONWriter.bytes(of: .document(data))).buffer)
    }

    /// Sends an error that comes once the answer has begun as an event. A client that has stopped reading is given up.
    private func tellingErrors(
        to writer: inout any ResponseBodyWriter, _ body: (inout any ResponseBodyWriter) async throws -> Void
    ) async throws {
        var writer: any ResponseBodyWriter = PatientWriter(writer, patience: context.configuration.stalledReader)
        do {
            try await body(&writer)
        } catch let error as AdminError {
            try await writer.write(ServerSentEvent(error: error.code, error.message).buffer)
        } catch let stalled as StalledReader {
            CoordinatorMetrics.readerStalled(.documents)
            try await writer.write(ServerSentEvent(stalled).buffer)
        }
    }

    // MARK: What is asked for

    private func wanted(_ request: Request) throws -> DocumentSearch.Wanted {
        let sort = try document(.sort, request).map { field in
            guard let direction = field.value.integer, direction == 1 || direction == -1 else {
                throw AdminError.invalid("sort: expected 1 or -1 for \(field.key)")
            }
            return DocumentSearch.SortField(field.key, isAscending: direction == 1)
        }
        let query = AdminRequest.query(.query, request)
        guard query == nil || AdminRequest.query(.filter, request) == nil else {
            throw AdminError.invalid("query: expected either a query or a filter")
        }
        return DocumentSearch.Wanted(
            id: try AdminRequest.query(.id, request).map { try read($0, .id) }, filter: try document(.filter, request),
            query: query.map { ByteString($0) }, sort: sort, projection: try projection(request),
            limit: try AdminRequest.limit(request, default: AdminLimits.documents),
            after: try AdminRequest.after(request) { SearchPlace(cursor: $0) })
    }

    /// Reads which parts of documents are shown: an object as MongoDB has it, or the names of properties.
    private func projection(_ request: Request) throws -> BSONDocument? {
        guard let text = AdminRequest.query(.fields, request), !text.isEmpty else { return nil }
        guard !text.hasPrefix("{") else { return try document(.fields, request) }
        return BSONDocument(text.split(separator: ",").map { (ByteString(String($0)), 1) })
    }

    private func pipeline(_ request: Request) throws -> Pipeline? {
        guard let text = AdminRequest.query(.pipeline, request) else { return nil }
        guard let stages = try read(text, .pipeline).array else {
            throw AdminError.invalid("pipeline: expected an array of stages")
        }
        do {
            return try Pipeline(stages)
        } catch {
            throw AdminError(error)
        }
    }

    /// An object that the query has; an empty one if it has none.
    private func document(_ name: AdminQuery, _ request: Request) throws -> BSONDocument {
        guard let text = AdminRequest.query(name, request) else { return [:] }
        guard let document = try read(text, name).document else {
            throw AdminError.invalid("\(name.rawValue): expected an object")
        }
        return document
    }

    private func read(_ text: String, _ name: AdminQuery) throws -> BSONValue {
        do throws(ExtendedJSONError) {
            return try ExtendedJSONParser.parse(Array(text.utf8))
        } catch {
            throw AdminError.invalid("\(name.rawValue): \(error)")
        }
    }

    // MARK: Answers

    private static func form(_ request: Request) throws -> ExtendedJSONWriter.Form {
        try AdminRequest.flag(.canonical, request) ? .canonical : .relaxed
    }

    /// - Parameter realms: how many have the class, of a search of several; nil for one of one realm.
    static func response(_ document: BSONDocument, of realms: Int? = nil, _ request: Request) throws -> Response {
        var document = document
        document["realms"] = realms.map { BSONValue(Int64($0)) }
        var headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        // The search has read the connection to its end, to hear whether anybody waits.
        if realms != nil { headers[.connection] = "close" }
        var buffer = ByteBuffer(bytes: ExtendedJSONWriter.bytes(of: .document(document), try form(request)))
        buffer.writeString("\n")
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: buffer))
    }
}

extension DocumentSearch {
    /// The realm that is searched, and its version.
    fileprivate var heading: BSONDocument {
        ["realm": .document(name.document), "version": BSONValue(Int64(clamping: version))]
    }
}

extension SearchPlace {
    /// The place as one word, safe in a URL.
    var cursor: String { index.map { "\(row.cursor)~\($0.column)~\(HexBytes($0.value).hex)" } ?? row.cursor }

    init?(cursor: String) {
        let parts = cursor.split(separator: "~", omittingEmptySubsequences: false)
        guard parts.count == 1 || parts.count == 3, let row = ObjectRow(cursor: String(parts[0])) else { return nil }
        guard parts.count == 3 else {
            self.init(row)
            return
        }
        guard let column = UInt32(parts[1]), let value = HexBytes(hex: parts[2]) else { return nil }
        self.init(row, by: Entry(column: column, value: value.bytes))
    }
}

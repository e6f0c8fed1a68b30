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

/// The searches of `apps/{app}/documents`: an app's objects as Extended JSON, read beside their realms' owners, each search at one moment.
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
            let count = try await search(request, app: route.value(of: .app)) { try await $0.count(wanted) }
            return try Self.response(["count": BSONValue(Int64(count))], request)
        }
        group.on(.get, .documentDistinct) { request, route in
            guard let field = AdminRequest.query(.field, request) else {
                throw AdminError.invalid("field: expected the field whose values are wanted")
            }
            let wanted = try wanted(request)
            let values = try await search(request, app: route.value(of: .app)) {
                try await $0.distinct(ByteString(field), wanted)
            }
            return try Self.response(["values": .array(values)], request)
        }
        group.on(.get, .documentAggregate) { request, route in
            guard let pipeline = try pipeline(request) else {
                throw AdminError.invalid("pipeline: expected an array of stages")
            }
            let documents = try await search(request, app: route.value(of: .app)) { try await $0.aggregate(pipeline) }
            return try Self.response(["documents": .array(documents.map { .document($0) })], request)
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
        let name = try RealmChoice(request).name(in: app)
        guard let className = AdminRequest.query(.className, request) else {
            throw AdminError.invalid("class: expected the name of a class")
        }
        let roles = try await roles(request, app, name)
        let stores = try await context.stores(for: ", from which documents are read")
        guard let reader = try await stores.reader(of: name, in: context.slices) else { throw AdminError.noRealm(name) }
        return Target(app: app, realm: name, className: ByteString(className), roles: roles, reader: reader)
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
            throw AdminError(
                status: .unprocessableContent, code: "unreadable",
                message: "user \(id.prefix(64)) may not read partition \(realm.partition.prefix(200))")
        }
        return nil
    }

    private func search<Answer>(
        _ request: Request, app id: String, _ body: (DocumentSearch) async throws -> Answer
    ) async throws -> Answer {
        let target = try await target(request, app: id)
        let place = try places.require()
        defer { withExtendedLifetime(place) {} }
        let began = ContinuousClock.now
        defer { tellIfSlow(target, since: began) }
        return try await search(target, limits: SearchLimits(), body)
    }

    private func search<Answer>(
        _ target: Target, limits: SearchLimits, _ body: (DocumentSearch) async throws -> Answer
    ) async throws -> Answer {
        do {
            let answer = try await DocumentSearch.run(
                in: target.realm, of: target.className, reader: target.reader, as: target.roles, limits: limits, body)
            guard let answer else { throw AdminError.noRealm(target.realm) }
            return answer
        } catch let error as DocumentError {
            throw AdminError(error)
        }
    }

    private func tellIfSlow(_ target: Target, since began: ContinuousClock.Instant) {
        let time = began.duration(to: .now)
        guard time > Self.slow else { return }
        context.logger.notice(
            "slow search",
            metadata: [
                "app": "\(target.app.id)", "class": "\(target.className.string.prefix(100))",
                "milliseconds": "\(time / .milliseconds(1))",
            ])
    }

    // MARK: Streams

    /// Answers what is selected as server-sent events: the documents as they are at one moment, then `end`. Of an app in partition mode, without a
    /// partition, those of all its realms, each of a moment of its own and behind an event `realm`.
    private func stream(_ request: Request, app id: String) async throws -> Response {
        let app = try await context.app(id)
        var wanted = try wanted(request)
        if AdminRequest.query(.limit, request) == nil { wanted.limit = .max }
        guard wanted.after == nil else { throw AdminError.invalid("after: a stream begins with the first document") }
        let form = try Self.form(request)
        let choice = try RealmChoice(request)
        var limits = SearchLimits()
        limits.patience = Self.patience
        if app.syncMode == .partition, choice.partition == nil, choice.flexible == nil {
            guard wanted.sort.isEmpty else {
                throw AdminError.invalid("sort: documents of several realms are not sorted: name a partition")
            }
            return try await streamAll(request, app, wanted, limits, form)
        }
        let target = try await target(request, app: id)
        let (asked, bounds) = (wanted, limits)
        let place = try places.require()
        // A wrong request is told of before anything is sent.
        _ = try await search(target, limits: bounds) { try $0.check(asked) }
        return place.response(headers: Self.events) { writer in
            try await Self.tellingErrors(to: &writer) { writer in
                let end = try await search(target, limits: bounds) { search in
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

    /// The documents of all realms of an app in partition mode.
    private func streamAll(
        _ request: Request, _ app: AppRecord, _ asked: DocumentSearch.Wanted, _ limits: SearchLimits,
        _ form: ExtendedJSONWriter.Form
    ) async throws -> Response {
        guard let className = AdminRequest.query(.className, request) else {
            throw AdminError.invalid("class: expected the name of a class")
        }
        var reads: @Sendable (RealmName) -> Bool = { _ in true }
        if let id = AdminRequest.query(.user, request) {
            let user = RuleUser(try await context.user(id, of: app.id))
            let rules = try await context.rules.document(of: app)
            reads = { rules?.partitionRights(of: user, partition: $0.partition).mayRead == true }
        }
        let stores = try await context.stores(for: ", from which documents are read")
        let place = try places.require()
        return place.response(headers: Self.events) { [reads] writer in
            try await Self.tellingErrors(to: &writer) { writer in
                var (count, realms) = (0, 0)
                try await stores.forEachRealm(of: app.id) { record, reader in
                    // Something may be left of an app that has moved from the other mode.
                    guard !record.name.isFlexible, reads(record.name), count < asked.limit else { return }
                    let target = Target(
                        app: app, realm: record.name, className: ByteString(className), roles: nil, reader: reader)
                    var wanted = asked
                    wanted.limit = asked.limit == .max ? .max : asked.limit - count
                    do {
                        count += try await search(target, limits: limits) { [wanted] search in
                            var told = false
                            return try await search.all(wanted) { documents in
                                if !told {
                                    try await Self.write("realm", search.heading, to: &writer)
                                    (told, realms) = (true, realms + 1)
                                }
                                try await Self.write(documents, form, to: &writer)
                            }
                        }
                    } catch let error as AdminError where error.code == DocumentError.Code.unknownClass.rawValue {
                        // A realm that has not met the class has none of it.
                    } catch let error as AdminError where error.code == "not_found" {
                        // The realm was erased meanwhile.
                    }
                }
                try await Self.write(
                    "end", ["realms": BSONValue(Int64(realms)), "count": BSONValue(Int64(count))], to: &writer)
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

    /// Sends an error that comes once the answer has begun as an event.
    private static func tellingErrors(
        to writer: inout any ResponseBodyWriter, _ body: (inout any ResponseBodyWriter) async throws -> Void
    ) async throws {
        do {
            try await body(&writer)
        } catch let error as AdminError {
            try await writer.write(ServerSentEvent(error: error.code, error.message).buffer)
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

    static func response(_ document: BSONDocument, _ request: Request) throws -> Response {
        var buffer = ByteBuffer(bytes: ExtendedJSONWriter.bytes(of: .document(document), try form(request)))
        buffer.writeString("\n")
        return Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: buffer))
    }
}

extension AdminError {
    fileprivate init(_ error: DocumentError) {
        self.init(status: .unprocessableContent, code: error.code.rawValue, message: error.description)
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

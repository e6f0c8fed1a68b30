import AdminAPI
import Changesets
import Documents
import ExtendedJSON
import Foundation
import HTTPTypes
import Hummingbird
import Inspection
import Messages
import NIOCore
import Operations
import Storage
import SyncModel

/// `apps/{app}/documents`: an app's objects as Extended JSON. They are read beside their realms' owners, and written by these.
struct DocumentRoutes: Sendable {
    let context: CoordinatorContext
    private let places = EventPlaces(AdminLimits.searches, of: "searches are under way", code: "too_many_searches")

    init(context: CoordinatorContext) { self.context = context }

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.on(.get, .documents) { request, route in
            let (search, wanted) = try await search(request, app: route.value(of: .app))
            let place = try places.require()
            defer { withExtendedLifetime(place) {} }
            let page = try await Self.answering { try await search.page(wanted) }
            var answer: BSONDocument = ["documents": .array(page.documents.map { .document($0) })]
            answer["next"] = page.next.map { BSONValue($0.cursor) }
            return try Self.response(answer, request)
        }
        group.on(.get, .documentCount) { request, route in
            let (search, wanted) = try await search(request, app: route.value(of: .app))
            let place = try places.require()
            defer { withExtendedLifetime(place) {} }
            let count = try await Self.answering { try await search.count(wanted.filter) }
            return try Self.response(["count": BSONValue(Int64(count))], request)
        }
        group.on(.post, .documents) { request, route in
            let (message, id) = try await write(request, try await context.app(route.value(of: .app)))
            let written = try await context.answers.write(message, id: id)
            var answer: BSONDocument = [
                "id": BSONValue(id), "version": BSONValue(Int64(clamping: written.version.rawValue)),
                "results": .array(written.results.map(\.document)),
            ]
            if written.isRepetition { answer["isRepetition"] = true }
            return try Self.response(answer, request)
        }
    }

    // MARK: Reading

    private func search(
        _ request: Request, app id: String
    ) async throws -> (search: DocumentSearch, wanted: DocumentSearch.Wanted) {
        let name = try RealmChoice(request).name(in: try await context.app(id))
        guard let className = AdminRequest.query(.className, request) else {
            throw AdminError.invalid("class: expected the name of a class")
        }
        let stores = try await context.stores(for: ", from which documents are read")
        let slice = name.slice(of: context.slices)
        guard stores.stored.contains(slice) else { throw AdminError.noRealm(name) }
        let reader = try await stores.inspector.reader(for: slice)
        guard let record = try await reader.realm(name) else { throw AdminError.noRealm(name) }
        let wanted = try wanted(request)
        return try await Self.answering {
            (try DocumentSearch(in: record, of: ByteString(className), reader: reader), wanted)
        }
    }

    private func wanted(_ request: Request) throws -> DocumentSearch.Wanted {
        let sort = try document(.sort, request).map { field in
            guard let direction = field.value.integer, direction == 1 || direction == -1 else {
                throw AdminError.invalid("sort: expected 1 or -1 for \(field.key)")
            }
            return DocumentSearch.SortField(field.key, isAscending: direction == 1)
        }
        let fields = AdminRequest.query(.fields, request)?.split(separator: ",").map { ByteString(String($0)) }
        return DocumentSearch.Wanted(
            id: try AdminRequest.query(.id, request).map { try read($0, .id) }, filter: try document(.filter, request),
            sort: sort, fields: fields,
            limit: try AdminRequest.limit(request, default: AdminLimits.documents),
            after: try AdminRequest.after(request) { ObjectRow(cursor: $0) })
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

    // MARK: Writing

    /// Reads what a body asks to be written: the members of a `write` message, with `partition` or `flexible` in the realm's place.
    private func write(_ request: Request, _ app: AppRecord) async throws -> (message: WriteMessage, id: String) {
        let bytes = Array(try await request.wholeBody(upTo: AdminLimits.documentsBody).readableBytesView)
        let body: BSONDocument
        do throws(ExtendedJSONError) {
            body = try ExtendedJSONParser.parseDocument(bytes)
        } catch {
            throw AdminError.invalid("the body is not Extended JSON as it should be: \(error)")
        }
        let known: [ByteString] = ["partition", "flexible", "id", "writes", "onlyIf"]
        if let stranger = body.keys.first(where: { !known.contains($0) }) {
            let names = known.map(\.string).joined(separator: ", ")
            throw AdminError.invalid("the key \"\(stranger.string.prefix(64))\" is not known; expected \(names)")
        }
        guard let writes = body["writes"] else { throw AdminError.invalid("writes: expected an array of writes") }
        let id = try body["id"].map { id in
            guard let text = id.string?.string, (1...200).contains(text.utf8.count), !text.utf8.contains(0) else {
                throw AdminError.invalid("id: expected a text of 1 to 200 bytes without U+0000")
            }
            return text
        }
        let realm = try RealmChoice(
            partition: body["partition"]?.string?.string, flexible: body["flexible"]?.bool
        ).name(in: app)
        AuditNotes.current?.set("partition=\"\(realm.partition.prefix(100))\", writes=\(writes.array?.count ?? 0)")
        return (
            WriteMessage(realm: realm, writes: writes, onlyIf: body["onlyIf"]), id ?? UUID().uuidString.lowercased()
        )
    }

    // MARK: Answers

    private static func answering<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as DocumentError {
            throw AdminError(status: .unprocessableContent, code: error.code.rawValue, message: error.description)
        }
    }

    private static func response(_ document: BSONDocument, _ request: Request) throws -> Response {
        let form: ExtendedJSONWriter.Form = try AdminRequest.flag(.canonical, request) ? .canonical : .relaxed
        var buffer = ByteBuffer(bytes: ExtendedJSONWriter.bytes(of: .document(document), form))
        buffer.writeString("\n")
        return Response(
            status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: buffer))
    }
}

import AdminAPI
import Changesets
import ExtendedJSON
import Foundation
import Hummingbird
import Messages
import NIOCore
import Operations
import Storage
import SyncModel

/// `apps/{app}/documents`: an app's objects as Extended JSON. They are read beside their realms' owners, and written by these.
struct DocumentRoutes: Sendable {
    let context: CoordinatorContext

    func add(to group: RouterGroup<AdminRequestContext>) {
        DocumentReading(context: context).add(to: group)
        group.on(.post, .documents) { request, route in
            let (message, id) = try await write(request, try await context.app(route.value(of: .app)))
            let written = try await context.answers.write(message, id: id)
            var answer: BSONDocument = [
                "id": BSONValue(id), "version": BSONValue(Int64(clamping: written.version.rawValue)),
                "results": .array(written.results.map(\.document)),
            ]
            if written.isRepetition { answer["isRepetition"] = true }
            return try DocumentReading.response(answer, request)
        }
    }

    // MARK: Writing

    private static func member<Value>(
        _ key: ByteString, of body: BSONDocument, _ expected: String, _ read: (BSONValue) -> Value?
    ) throws -> Value? {
        try body[key].map { given in
            guard let value = read(given) else { throw AdminError.invalid("\(key.string): expected \(expected)") }
            return value
        }
    }

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
            partition: try Self.member("partition", of: body, "a text") { $0.string?.string },
            flexible: try Self.member("flexible", of: body, "true or false") { $0.bool }
        ).name(in: app)
        AuditNotes.current?.set("partition=\"\(realm.partition.prefix(100))\", writes=\(writes.array?.count ?? 0)")
        return (
            WriteMessage(realm: realm, writes: writes, onlyIf: body["onlyIf"]), id ?? UUID().uuidString.lowercased()
        )
    }
}

import AdminAPI
import Changesets
import ExtendedJSON
import Foundation
import Hummingbird
import Messages
import NIOCore
import Operations
import Rules
import Storage
import SyncModel

/// `apps/{app}/documents`: an app's objects as Extended JSON. They are read beside their realms' owners, and written by these.
struct DocumentRoutes: Sendable {
    let context: CoordinatorContext

    func add(to group: RouterGroup<AdminRequestContext>) {
        DocumentReading(context: context).add(to: group)
        group.on(.post, .documents) { request, route in
            let (message, id, user) = try await write(request, try await context.app(route.value(of: .app)))
            let written = try await send(message, id: id, for: user)
            var answer: BSONDocument = [
                "id": BSONValue(id), "version": BSONValue(Int64(clamping: written.version.rawValue)),
                "results": .array(written.results.map(\.document)),
            ]
            if written.isRepetition { answer["isRepetition"] = true }
            answer["declared"] = written.declared.map { .array($0.map { BSONValue($0) }) }
            return try DocumentReading.response(answer, request)
        }
    }

    // MARK: Writing

    /// How often a write for a user is sent: rules or the user may change while it is on its way.
    private static let attempts = 3

    private func send(_ message: WriteMessage, id: String, for user: String?) async throws -> WrittenAnswer {
        guard let user else { return try await context.answers.write(message, id: id) }
        var message = message
        for attempt in 1... {
            message.author = try await author(user, in: message.realm)
            do {
                return try await context.answers.write(message, id: id)
            } catch let error as AdminError where error.code == "stale" && attempt < Self.attempts {
                try await Task.sleep(for: .milliseconds(200))
            }
        }
        throw CancellationError()
    }

    /// Decides what a user may do in a realm, by the rules in force.
    private func author(_ id: String, in realm: RealmName) async throws -> WriteAuthor {
        // Before the user: what is read of it later is as new as this at least.
        let app = try await context.app(realm.app)
        let record = try await context.user(id, of: app.id)
        guard !record.isDisabled else {
            throw AdminError(
                status: .unprocessableContent, code: "forbidden", message: "user \(id.prefix(64)) is disabled")
        }
        let user = RuleUser(record)
        let rules = try await context.rules.document(of: app)
        let rights: PartitionRights? =
            realm.isFlexible
            ? rules.map { _ in .readWrite } : rules?.partitionRights(of: user, partition: realm.partition)
        return WriteAuthor(
            user: id,
            rights: SessionRights(
                rights ?? .none, rulesVersion: app.rulesVersion, usersVersion: app.usersVersion),
            roles: realm.isFlexible ? rules?.closedRoles(of: user).text : nil)
    }

    private static func realm(of writes: BSONValue, _ body: BSONDocument, _ app: AppRecord) throws -> (
        RealmName, ByteString?
    ) {
        let choice = RealmChoice(
            partition: try member("partition", of: body, "a text") { $0.string?.string },
            flexible: try member("flexible", of: body, "true or false") { $0.bool })
        guard let key = try member("partitionKey", of: body, "the name of a property", { $0.string }) else {
            return (try choice.name(in: app), nil)
        }
        guard app.syncMode == .partition, choice.partition == nil, choice.flexible != true else {
            throw AdminError.invalid(
                "partitionKey: expected an app in partition mode, and neither partition nor flexible beside it")
        }
        do throws(MessageError) {
            return (try PartitionOfWrites.realm(of: app.id, by: key, writes), key)
        } catch {
            throw AdminError.invalid(error.reason)
        }
    }

    private static func member<Value>(
        _ key: ByteString, of body: BSONDocument, _ expected: String, _ read: (BSONValue) -> Value?
    ) throws -> Value? {
        try body[key].map { given in
            guard let value = read(given) else { throw AdminError.invalid("\(key.string): expected \(expected)") }
            return value
        }
    }

    /// Reads what a body asks to be written: the members of a `write` message, with `partition`, `partitionKey` or `flexible` in the realm's place.
    ///
    /// - Returns: also the user for whom it is written, and the id that tells a repetition.
    private func write(
        _ request: Request, _ app: AppRecord
    ) async throws -> (message: WriteMessage, id: String, user: String?) {
        let bytes = Array(try await request.wholeBody(upTo: AdminLimits.documentsBody).readableBytesView)
        let body: BSONDocument
        do throws(ExtendedJSONError) {
            body = try ExtendedJSONParser.parseDocument(bytes)
        } catch {
            throw AdminError.invalid("the body is not Extended JSON as it should be: \(error)")
        }
        let known: [ByteString] = ["partition", "partitionKey", "flexible", "id", "writes", "onlyIf", "user"]
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
        let (realm, partitionKey) = try Self.realm(of: writes, body, app)
        let user = try Self.member("user", of: body, "a user's id") { $0.string?.string }
        let whose = user.map { ", user=\($0.prefix(64).debugDescription)" } ?? ""
        AuditNotes.current?.set(
            "partition=\"\(realm.partition.prefix(100))\", writes=\(writes.array?.count ?? 0)\(whose)")
        return (
            WriteMessage(realm: realm, partitionKey: partitionKey, writes: writes, onlyIf: body["onlyIf"]),
            id ?? UUID().uuidString.lowercased(),
            user
        )
    }
}

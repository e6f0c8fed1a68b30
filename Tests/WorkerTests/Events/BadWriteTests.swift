import AMQP
import Changesets
import ExtendedJSON
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Writes that cannot be made: each is refused with its place and what was expected, and of its message nothing is written.
@Suite(.hangGuard) struct BadWriteTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var write: String
        var code: String
        /// The place in the message, and words of the reason.
        var words: [String]
        var testDescription: String { String(write.prefix(100)) }

        init(_ write: String, _ code: String, _ words: String...) {
            self.write = write
            self.code = code
            self.words = words
        }
    }

    private static func nested(_ depth: Int) -> String {
        String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth)
    }

    static let types: [Case] = [
        Case(
            #"{"update": "Task", "id": 1, "set": {"title": 5}}"#, "wrong_type", "writes[1].set.title", "string", "int"),
        Case(#"{"update": "Task", "id": 1, "set": {"title": null}}"#, "wrong_type", "writes[1].set.title", "string"),
        Case(#"{"update": "Task", "id": 1, "set": {"tags": "a"}}"#, "wrong_type", "writes[1].set.tags"),
        Case(
            #"{"update": "Task", "id": 1, "set": {"tags": ["a", {"$oid": "0000000000000001000000ab"}]}}"#, "wrong_type",
            "writes[1].set.tags[1]", "objectId"),
        Case(
            #"{"insert": "Task", "document": {"_id": "x", "title": "t", "tags": []}}"#, "wrong_type",
            "writes[1].document._id", "int", "string"),
        Case(
            #"{"delete": "Task", "id": {"$uuid": "00000000-0000-0000-0000-000000000001"}}"#, "wrong_type",
            "writes[1].id", "int"),
        Case(
            #"{"update": "Task", "id": 1, "apply": {"$inc": {"title": 1}}}"#, "wrong_type",
            "writes[1].apply.$inc.title"),
        Case(
            #"{"update": "Task", "id": 1, "apply": {"$push": {"title": "x"}}}"#, "unsupported_operator",
            "writes[1].apply.$push.title"),
        Case(
            #"{"update": "Task", "id": 1, "apply": {"$push": {"tags": 7}}}"#, "wrong_type",
            "writes[1].apply.$push.tags", "string"),
        Case(#"{"insert": "Task", "document": {"_id": 9223372036854775808, "title": "t"}}"#, "syntax"),
    ]

    static let names: [Case] = [
        Case(#"{"insert": "Nothing", "document": {"_id": 1}}"#, "unknown_class", "writes[1]", "Nothing"),
        Case(#"{"update": "Task", "id": 1, "set": {"colour": "red"}}"#, "unknown_field", "writes[1].set.colour"),
        Case(
            #"{"insert": "Task", "document": {"_id": 5, "title": "t", "colour": "red"}}"#, "unknown_field",
            "writes[1].document.colour"),
        Case(
            #"{"update": "Task", "filter": {"colour": "red"}, "set": {"title": "x"}}"#, "unknown_field",
            "writes[1].filter", "colour"),
        Case(#"{"update": "Task", "id": 50, "set": {"title.first": "x"}}"#, "", "writes[1].set", "title"),
        Case(#"{"update": "Task", "id": 50, "set": {"tags.99": "x"}}"#, "out_of_range", "writes[1].set", "tags.99"),
        Case(#"{"update": "Task", "id": 50, "set": {"_id": 2}}"#, "immutable_key", "writes[1].set._id"),
        Case(#"{"insert": "Task", "document": {"_id": 6}}"#, "missing_field", "writes[1].document", "title"),
        Case(#"{"insert": "Task", "document": {"_id": 50, "title": "t"}}"#, "object_exists", "writes[1].document._id"),
    ]

    static let forms: [Case] = [
        Case("5", "invalid_write", "writes[1]", "an object"),
        Case("{}", "invalid_write", "writes[1]", "insert, upsert, replace, update, delete"),
        Case(#"{"update": "Task", "id": 1, "set": {}, "where": {}}"#, "invalid_write", "writes[1].where"),
        Case(
            #"{"update": "Task", "id": 1, "apply": {"$rename": {"title": "name"}}}"#, "unsupported_operator", "$rename",
            "$set"),
        Case(#"{"update": "Task", "id": 1, "apply": {"title": "x"}}"#, "", "writes[1].apply"),
        Case(
            #"{"delete": "Task", "filter": {"title": {"$where": "1"}}}"#, "unsupported_operator", "writes[1].filter",
            "$where"),
        Case(
            #"{"delete": "Task", "filter": {"$text": {"$search": "x"}}}"#, "unsupported_operator", "writes[1].filter",
            "$text"),
        Case(
            #"{"delete": "Task", "id": 1, "onlyIf": {"title": {"$mod": [2, 0]}}}"#, "unsupported_operator",
            "writes[1].onlyIf", "$mod"),
        Case(
            #"{"delete": "Task", "filter": {"title": {"$regex": "a.*b"}}}"#, "unsupported_operator", "writes[1].filter"),
    ]

    static let sizes: [Case] = [
        Case(#"{"update": "Task", "id": 1, "set": {"title": \#(nested(200))}}"#, "limit", "128 deep"),
        Case(
            #"{"delete": "Task", "filter": \#(String(repeating: #"{"$and": ["#, count: 60) + #"{"title": "x"}"# + String(repeating: "]}", count: 60))}"#,
            "limit", "writes[1].filter"),
        Case(
            #"{"update": "Task", "id": 1, "set": {"\#(Array(repeating: "a", count: 100).joined(separator: "."))": 1}}"#,
            "limit", "writes[1].set"),
    ]

    @Test(arguments: types + names + forms + sizes) func aBadWriteTakesItsMessageWithIt(_ given: Case) async throws {
        // Whether or not there is the object that it is about.
        for key in ["1", "50"] {
            try await refuses(given, given.write.replacing(#""id": 1,"#, with: #""id": \#(key),"#))
        }
    }

    private func refuses(_ given: Case, _ write: String) async throws {
        let harness = try await OwnerHarness.make()
        try await harness.send(
            ChangesetMessage(
                realm: harness.realm, upload: nil, entries: [.init(timestamp: 1, changeset: Changes.schema())]))
        _ = try await harness.control.updateApp(OwnerHarness.app) { $0.developmentMode = false }
        let good = #"{"insert": "Task", "document": {"_id": 50, "title": "good", "tags": []}}"#
        // As any tool sends it: what is no Extended JSON at all is a dead letter, though somebody waits.
        let body =
            #"{"realm": {"app": "tasks", "partition": "store"}, "writes": [\#(good), \#(write)]}"#
        let writes: BSONValue
        do {
            writes =
                try ExtendedJSONParser.parse(
                    Array(body.utf8), limits: ExtendedJSONLimits(bytes: 32 << 20)
                ).document?["writes"] ?? .null
        } catch {
            let refusal = #expect(throws: MessageError.self) { try WriteMessage(jsonBody: Array(body.utf8)) }
            expectTrue(given.code == "syntax" || given.code == "limit", "\(error)")
            for word in given.words { expectTrue(refusal?.reason.contains(word) == true, "\(error)") }
            return
        }
        let published = try await harness.send(WriteMessage(realm: harness.realm, writes: writes))
        let refusal = try published.one(WriteRefusedAnswer.self)
        if !given.code.isEmpty { expectEqual(refusal.code, given.code, "\(refusal.reason.prefix(300))") }
        for word in given.words { expectTrue(refusal.reason.contains(word), "\(refusal.reason.prefix(300))") }
        expectEqual(refusal.write, 1, "\(refusal.reason.prefix(300))")
        // Nothing of it: no version, no object, no letter, no notice.
        expectTrue(try published.dead.isEmpty && published.every(IntegratedNotice.self).isEmpty)
        try await expectEqual(harness.titles(), [:])
        expectEqual(try await harness.store.realm(harness.realm)?.latest.version, 1)
        let next = try await harness.send(
            WriteMessage(realm: harness.realm, writes: try ExtendedJSONParser.parse(Array("[\(good)]".utf8))))
        expectEqual(try next.one(WrittenAnswer.self).version, 2)
    }

    /// What is too large to be read is set aside, though somebody waits: nobody knows for what.
    @Test func aMessageThatIsTooLargeIsADeadLetter() async throws {
        let harness = try await OwnerHarness.make()
        let write: BSONValue = [
            "insert": "Task", "document": ["_id": 1, "title": BSONValue(String(repeating: "x", count: 16 << 20))],
        ]
        let published = try await harness.send(WriteMessage(realm: harness.realm, writes: [write]))
        let reason = published.dead.first?.properties.headers[DeadLetter.reasonHeader]?.stringValue ?? ""
        expectTrue(reason.contains("expected at most 16777216 bytes"), "\(reason)")
        try await expectTrue(harness.store.realm(harness.realm) == nil)
    }

    @Test func moreWritesThanAMessageMayHaveAreRefused() async throws {
        let harness = try await OwnerHarness.make()
        let write: BSONValue = ["delete": "Task", "id": 1]
        let many = WriteMessage(realm: harness.realm, writes: .array(Array(repeating: write, count: 1_001)))
        let refusal = try await harness.send(many).one(WriteRefusedAnswer.self)
        expectEqual(refusal.code, "limit")
        expectTrue(refusal.reason.contains("writes: expected at most 1000 writes, came 1001"), "\(refusal.reason)")
        // Not even a realm.
        try await expectTrue(harness.store.realm(harness.realm) == nil)
        for onlyIf in [5, ["version": -1], ["version": "x"], ["at": 1]] as [BSONValue] {
            let refusal = try await harness.send(
                WriteMessage(realm: harness.realm, writes: [write], onlyIf: onlyIf)
            ).one(WriteRefusedAnswer.self)
            expectEqual(refusal.code, "invalid_write")
            expectTrue(refusal.reason.hasPrefix("onlyIf"), "\(refusal.reason)")
        }
    }
}

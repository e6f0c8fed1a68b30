import Changesets
import Foundation
import RealmState
import TestSupport
import Testing

@testable import DeviceSync

/// Queries as apps write them, and the text that the server gets.
struct QueryPredicateTests {
    private let schema: StoredSchema

    init() throws {
        var state = RealmState()
        _ = try state.record { try SchemaAdditions.apply(Device.schema, to: &$0) }
        schema = state.schema
    }

    private func text(_ format: String, _ args: Any...) throws -> String {
        try QueryPredicate(format: format, args).text(on: "Task", schema)
    }

    @Test func argumentsStandInTheirPlaces() throws {
        try expectEqual(text("title == %@", "x"), #"title == "x""#)
        try expectEqual(text("title == 'it is 5%@' OR count > %d", 3), #"(title == "it is 5%@" or count > 3)"#)
        try expectEqual(text("%K == %@ AND done != %@", "title", "x", true), #"title == "x" and done != true"#)
        try expectEqual(text("count > $1 AND title != $0", "x", 2), #"count > 2 and title != "x""#)
        try expectEqual(text("title CONTAINS '%%' AND count == %lld", Int64(4)), #"title CONTAINS "%%" and count == 4"#)
        try expectEqual(text("title IN %@", ["a"]), #"title IN {"a"}"#)
        try expectEqual(text("title == %@", NSNull()), "title == NULL")
    }

    @Test func mistakesAreNamed() throws {
        func message(_ body: () throws -> String) -> String {
            do { return "no mistake: \(try body())" } catch { return "\(error)" }
        }
        expectTrue(
            message { try text("title == %@ AND count == %d", "x") }.contains("more placeholders than the 1 arguments"))
        expectTrue(message { try text("title == %@", "x", "y") }.contains("fewer placeholders than the 2 arguments"))
        expectTrue(message { try text("title == %q", "x") }.contains("placeholders are"))
        expectTrue(message { try text("titel == 'x'") }.contains("titel"))
        expectTrue(message { try text("title ==") }.contains("at byte"))
        expectTrue(message { try text("title == %@", StubTransport.Offline()) }.contains("cannot store a Offline"))
        let other = message { try QueryPredicate.all.text(on: "Other", schema) }
        expectTrue(other.contains("Other"))
    }

    /// What a subscription asks for is what the server reads: never something else.
    @Test func theServerReadsWhatAPredicateSays() throws {
        try expectEqual(text("done == %@ AND count == YES", 1), "done == true and count == 1")
        try expectEqual(text("title == 'it\\'s'"), #"title == B64"aXQncw==""#)
        try expectEqual(text("title CONTAINS '' OR count > 1"), "(FALSEPREDICATE or count > 1)")
        try expectEqual(text("title IN[c] %@", ["a", "b"]), #"(title ==[c] "a" or title ==[c] "b")"#)
        try expectEqual(text("count BETWEEN %@", [1, 3]), "count between {1, 3}")
        let compound = NSCompoundPredicate(
            notPredicateWithSubpredicate: NSCompoundPredicate(
                orPredicateWithSubpredicates: [
                    NSPredicate(format: "title == %@", "x"), NSPredicate(format: "count > %d", 3),
                ]))
        try expectEqual(
            QueryPredicate(compound).text(on: "Task", schema), #"!((title == "x" or count > 3))"#)
        try expectEqual(
            QueryPredicate(NSCompoundPredicate(andPredicateWithSubpredicates: [])).text(on: "Task", schema),
            "TRUEPREDICATE")
    }

    @Test(arguments: ["title ==[d] 'x'", "title CONTAINS[cd] 'x'", "done == TRUE AND NOT title BEGINSWITH[d] 'x'"])
    func whatNoServerUnderstandsIsNoSubscription(format: String) {
        let error = #expect(throws: ValueMismatch.self) { try text(format) }
        expectTrue(error?.description.contains("[d] is no part of the query language") == true)
    }
}

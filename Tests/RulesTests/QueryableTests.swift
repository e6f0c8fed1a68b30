import SyncModel
import TestSupport
import Testing

@testable import Rules

/// The properties that subscriptions may look at, and those of them that development mode may add.
@Suite struct QueryableTests {
    private func document(_ text: String) throws -> RulesDocument {
        let check = RulesCheck(Array(text.utf8))
        return try #require(check.document, "\(check.findings)")
    }

    @Test func theKeyAndTheIndexedPropertyAlwaysAre() throws {
        let queryable = try document(#"{"queryable": {"indexed": "team", "classes": {"Task": ["done"]}}}"#).queryable
        expectTrue(queryable.includes("_id", of: "Task") && queryable.includes("team", of: "Other"))
        expectTrue(queryable.includes("done", of: "Task") && !queryable.includes("done", of: "Other"))
    }

    /// An author who lists properties and no classes has said what there is.
    @Test(arguments: [
        (#"{"queryable": {"global": []}}"#, true), (#"{"queryable": {"global": ["a"]}}"#, true),
        (#"{"queryable": {}}"#, true),
        (#"{"queryable": {"indexed": "a"}}"#, true), (#"{"queryable": {"global": ["a"], "classes": {}}}"#, false),
        (#"{"queryable": {"classes": {"Task": ["a"]}}}"#, false), ("{}", false),
        (#"{"defaultRoles": "readOwnWriteOwn"}"#, false),
        (#"{"classes": {"Task": "readOwnWriteOwn"}}"#, false), (#""own""#, false), (#""open""#, false),
        (#"{"defaultRoles": "readOwnWriteOwn", "queryable": {"global": ["a"]}}"#, true),
    ])
    func developmentModeAddsToWhatIsNotComplete(text: String, isComplete: Bool) throws {
        let document = try document(text)
        expectEqual(document.queryable.isComplete, isComplete)
        expectEqual((document.adding(queryable: ["Task": ["x"]]) == nil), isComplete)
        // As it is stored it says the same.
        let stored = try #require(RulesCheck(document.bytes).document)
        expectTrue(stored.queryable == document.queryable && stored.bytes == document.bytes)
    }

    @Test func addedQueryableFieldsBelongToTheirClass() throws {
        let old = try document(
            #"{"defaultRoles": "readOwnWriteOwn", "classes": {"News": "readAll"}, "values": {"a": 1}}"#)
        let json = try #require(old.adding(queryable: ["Task": ["done", "at"], "News": ["topic"]]))
        let new = try #require(RulesCheck(json).document)
        expectEqual(new.queryable.global, ["owner_id"])
        expectEqual(new.queryable.classes, ["Task": ["done", "at"], "News": ["topic"]])
        expectTrue(
            new.defaultRoles?.map(\.name) == old.defaultRoles?.map(\.name) && new.source.objectValue?["values"] != nil)
        expectEqual(
            new.queryable.missing(of: ["Task": ["done", "owner_id", "_id", "size"], "News": ["topic"]]),
            [
                "Task": ["size"]
            ])
        // What cannot be named is left out.
        expectTrue(new.queryable.missing(of: ["Task": ["limit", "", "a.b", "ALL"]]).isEmpty)
    }

    @Test func anAppThatMovesLeavesRoomForMore() throws {
        let source = try #require(
            try document(#"{"partition": "open"}"#).movedToFlexible(field: "_partition", makesRoles: true))
        let moved = try #require(RulesCheck(source).document)
        expectTrue(moved.queryable.global == ["_partition"] && !moved.queryable.isComplete)
    }
}

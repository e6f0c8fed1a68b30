import Changesets
import RealmState
import SyncModel
import TestSupport
import Testing

@testable import Views

/// Tests of whom a commit of a flexible realm concerns.
@Suite struct ViewFanTests {
    private static let everything =
        #"{"name": "all", "apply_when": {}, "read": true, "write": true, "document_filters": {"read": true, "write": true}}"#

    private func definition(_ query: String, _ roles: String) -> ViewDefinition {
        ViewDefinition(version: 1, queries: #"{"Item": "\#(query)"}"#, roles: roles)
    }

    private func slot(_ key: Int64) throws -> ObjectSlot {
        ObjectSlot(try #require(ViewTests.schema.table("Item")).id, .int(key))
    }

    private func owned(_ owner: String) -> StoredObject { ViewTests.item(["owner_id": .string(ByteString(owner))]) }

    /// One version that touches objects: each with its owner before and now.
    private func stretch(
        after follows: UInt64, by author: FileIdent = 99,
        _ touched: [(key: Int64, before: String?, now: String?)]
    ) throws -> FannedStretch {
        func images(_ owner: (String?, String?) -> String?) throws -> [UInt8] {
            BeforeImages(
                try touched.map { .init(try slot($0.key), before: owner($0.before, $0.now).map { owned($0) }) }
            ).encoded()
        }
        return try FannedStretch(
            follows: ServerVersion(follows), latest: ServerVersion(follows + 1),
            entries: [
                HistoryEntry(
                    serverVersion: ServerVersion(follows + 1), clientVersion: 1, originFile: author, timestamp: 1,
                    changeset: [])
            ], before: [try images { before, _ in before }], now: try images { _, now in now }, addressed: [])
    }

    private func concerned(_ outcome: ViewFan.Outcome) -> [UInt64] { outcome.groups.flatMap(\.sessions).sorted() }

    private func fan() -> ViewFan {
        var fan = ViewFan()
        fan.learn(ViewTests.schema, stamp: 7)
        return fan
    }

    @Test func onlyThoseAreConcernedThatHaveAnObjectOrGetIt() throws {
        var fan = fan()
        let roles = try ViewTests.roles(Self.everything)
        for (session, owner) in [(1, "a"), (2, "b"), (3, "c")] as [(UInt64, String)] {
            expectEqual(
                fan.follow(session, file: FileIdent(session + 10), definition("owner_id == '\(owner)'", roles), at: 5),
                0)
        }
        _ = fan.follow(4, file: 14, definition("TRUEPREDICATE", roles), at: 5)
        expectTrue(fan.pass(to: 5).lost.isEmpty)
        expectEqual(concerned(fan.take(try stretch(after: 5, [(1, nil, "a")]), schema: (7, nil))), [1, 4])
        expectEqual(concerned(fan.take(try stretch(after: 6, [(1, "a", "b")]), schema: (7, nil))), [1, 2, 4])
        expectEqual(concerned(fan.take(try stretch(after: 7, [(1, "b", nil)]), schema: (7, nil))), [2, 4])
        expectEqual(concerned(fan.take(try stretch(after: 8, [(1, nil, "d")]), schema: (7, nil))), [4])
        fan.leave(4)
        let none = fan.take(try stretch(after: 9, [(1, "d", "e")]), schema: (7, nil))
        expectTrue(none.groups.isEmpty && none.lost.isEmpty && fan.position == 10)
    }

    @Test func propertyConditionsOfRolesAreLookedUpToo() throws {
        var fan = fan()
        for (session, user) in [(1, "a1"), (2, "b2")] as [(UInt64, String)] {
            let roles = try ViewTests.roles(ViewTests.own, user: user)
            let view = try View(definition("TRUEPREDICATE", roles), schema: ViewTests.schema)
            expectEqual(view.subscribed.first?.anchor?.values, [.string(ByteString(user))])
            _ = fan.follow(session, file: FileIdent(session + 10), definition("TRUEPREDICATE", roles), at: 5)
        }
        _ = fan.pass(to: 5)
        expectEqual(concerned(fan.take(try stretch(after: 5, [(1, nil, "a1"), (2, "x", "y")]), schema: (7, nil))), [1])
    }

    @Test func aQueryThatSelectsNothingIsNeverLookedAt() throws {
        var fan = fan()
        _ = fan.follow(1, file: 11, definition("FALSEPREDICATE", try ViewTests.roles(Self.everything)), at: 5)
        _ = fan.pass(to: 5)
        expectTrue(concerned(fan.take(try stretch(after: 5, [(1, nil, "a")]), schema: (7, nil))).isEmpty)
    }

    @Test func aSessionIsToldOfItsOwnWritesInAnyCase() throws {
        var fan = fan()
        let roles = try ViewTests.roles(Self.everything)
        _ = fan.follow(1, file: 11, definition("owner_id == 'a'", roles), at: 5)
        _ = fan.pass(to: 5)
        let outcome = fan.take(try stretch(after: 5, by: 11, [(1, nil, "b")]), schema: (7, nil))
        let own = try slot(1)
        expectTrue(concerned(outcome) == [1] && outcome.groups.first?.slots == [own])
    }

    @Test func sessionsThatMissedNoticesHaveToAsk() throws {
        var fan = fan()
        let roles = try ViewTests.roles(Self.everything)
        _ = fan.follow(1, file: 11, definition("owner_id == 'a'", roles), at: 5)
        _ = fan.follow(2, file: 12, definition("owner_id == 'a'", roles), at: 8)
        // The first notice that the gateway hears follows version 7.
        let outcome = fan.take(try stretch(after: 7, [(1, nil, "a")]), schema: (7, nil))
        expectEqual(outcome.lost, [1])
        expectEqual(concerned(outcome), [2])
        expectEqual(fan.follow(3, file: 13, definition("owner_id == 'a'", roles), at: 6), 8)
        expectEqual(fan.pass(to: 9).lost.sorted(), [1, 2, 3])
    }

    @Test func sessionAheadOfTheNoticeIsNotLost() throws {
        var fan = fan()
        let roles = try ViewTests.roles(Self.everything)
        _ = fan.pass(to: 5)
        _ = fan.follow(1, file: 11, definition("owner_id == 'a'", roles), at: 9)
        expectTrue(fan.take(try stretch(after: 6, [(1, nil, "a")]), schema: (7, nil)).lost.isEmpty)
    }

    @Test func aNewSchemaGoesToEverybody() throws {
        var fan = fan()
        let roles = try ViewTests.roles(Self.everything)
        _ = fan.follow(1, file: 11, definition("owner_id == 'a'", roles), at: 5)
        _ = fan.pass(to: 5)
        expectEqual(fan.take(try stretch(after: 5, []), schema: (8, ViewTests.schema)).lost, [1])
        expectEqual(fan.stamp, 8)
        expectEqual(fan.take(try stretch(after: 6, []), schema: (9, nil)).lost, [1])
    }

    @Test func withoutTheSchemaNobodyCanTell() throws {
        var fan = ViewFan()
        _ = fan.follow(1, file: 11, definition("owner_id == 'a'", try ViewTests.roles(Self.everything)), at: 5)
        _ = fan.pass(to: 5)
        expectEqual(fan.take(try stretch(after: 5, []), schema: (7, nil)).lost, [1])
        fan.learn(ViewTests.schema, stamp: 7)
        expectTrue(fan.take(try stretch(after: 6, [(1, nil, "b")]), schema: (7, nil)).lost.isEmpty)
    }

    @Test func nothingOfASessionIsLeftBehind() throws {
        var fan = fan()
        let roles = try ViewTests.roles(Self.everything)
        for session in UInt64(1)...50 {
            _ = fan.follow(session, file: FileIdent(session), definition("owner_id == 'a\(session % 7)'", roles), at: 5)
        }
        for session in UInt64(1)...50 { fan.leave(session) }
        expectTrue(fan.isEmpty && fan.isForgotten)
    }
}

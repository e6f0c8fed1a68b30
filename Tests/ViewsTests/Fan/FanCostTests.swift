import Changesets
import Query
import RealmState
import SyncModel
import TestSupport
import Testing

@testable import Views

/// What sessions cost a gateway: memory for each set once, and of a commit no more than they may.
@Suite struct FanCostTests {
    private static let everything =
        #"{"name": "all", "apply_when": {}, "read": true, "write": true, "document_filters": {"read": true, "write": true}}"#

    private func definition(_ query: String, roles: String = everything) throws -> ViewDefinition {
        ViewDefinition(version: 1, queries: #"{"Item": "\#(query)"}"#, roles: try ViewTests.roles(roles))
    }

    private func fan() -> ViewFan {
        var fan = ViewFan()
        fan.learn(ViewTests.schema, stamp: 7)
        return fan
    }

    private func stretch(after follows: UInt64, owners: [String]) throws -> FannedStretch {
        let table = try #require(ViewTests.schema.table("Item")).id
        let now = owners.enumerated().map { index, owner in
            BeforeImages.Image(
                ObjectSlot(table, .int(Int64(index))), before: ViewTests.item(["owner_id": .string(ByteString(owner))]))
        }
        let before = now.map { BeforeImages.Image($0.slot, before: nil) }
        let entry = HistoryEntry(
            serverVersion: ServerVersion(follows + 1), clientVersion: 1, originFile: 99, timestamp: 1, changeset: [])
        return try FannedStretch(
            follows: ServerVersion(follows), latest: ServerVersion(follows + 1), entries: [entry],
            before: [BeforeImages(before).encoded()], now: BeforeImages(now).encoded(), addressed: [])
    }

    @Test func equalQueriesAreHeldOnce() throws {
        let texts = (0..<5_000).map { "'text \($0)'" }.joined(separator: ", ")
        var fan = fan()
        _ = fan.follow(1, file: 1, try definition("owner_id IN {\(texts)}"), at: 0)
        let one = fan.bytes
        // With other roles, and in a set that is written otherwise.
        _ = fan.follow(2, file: 2, try definition("owner_id IN {\(texts)}", roles: ViewTests.own), at: 0)
        var other = try definition("owner_id IN {\(texts)}")
        other.queries = " " + other.queries
        _ = fan.follow(3, file: 3, other, at: 0)
        expectEqual(fan.bytes, one)
        expectTrue(fan.bytes(of: 1) > one && one < 4 * texts.utf8.count, "\(one) of \(texts.utf8.count)")
        _ = fan.follow(4, file: 4, try definition("owner_id IN {\(texts), 'another'}"), at: 0)
        expectTrue(fan.bytes > one)
        for session in [1, 2, 3, 4] as [UInt64] { fan.leave(session) }
        expectTrue(fan.bytes == 0 && fan.isForgotten)
    }

    /// What takes long is read before the fan is asked for, and by the schema that there is by then.
    @Test func aViewThatWasMadeByAnotherSchemaIsMadeAnew() throws {
        var fan = fan()
        let definition = try definition("owner_id == 'a'")
        let prepared = try #require(fan.preparation(for: 1, definition)).made()
        fan.learn(ViewTests.schema, stamp: 8)
        _ = fan.follow(1, file: 1, definition, at: 0, prepared: prepared)
        expectTrue(fan.preparation(for: 1, definition) == nil)
        _ = fan.pass(to: 5)
        expectEqual(fan.take(try stretch(after: 5, owners: ["a"]), schema: (8, nil)).groups.flatMap(\.sessions), [1])
    }

    @Test func costlySessionsAskTheirOwnerAndOthersAreTold() throws {
        var fan = fan()
        let dear = (0..<3_000).map { "owner_id CONTAINS 'x\($0)'" }.joined(separator: " OR ")
        for session in 1...10 as ClosedRange<UInt64> {
            _ = fan.follow(
                session, file: FileIdent(session), try definition(dear + " OR owner_id CONTAINS 'y\(session)'"), at: 5)
        }
        for session in 11...20 as ClosedRange<UInt64> {
            _ = fan.follow(
                session, file: FileIdent(session), try definition("owner_id != 'z\(session)'"), at: 5)
        }
        _ = fan.pass(to: 5)
        let limits = EvaluationLimits()
        for commit in 5...7 as ClosedRange<UInt64> {
            let stretch = try stretch(after: commit, owners: (0..<20).map { "owner \($0)" })
            // Less than one of the ten wants.
            let outcome = fan.take(stretch, schema: (7, nil), allowance: .init(limits, together: 100_000))
            expectEqual(outcome.lost.sorted(), Array(1...10))
            expectEqual(outcome.groups.flatMap(\.sessions).sorted(), Array(11...20))
            expectTrue(outcome.tooDear == 10)
            expectTrue(outcome.steps < 100_000 + 10 * limits.stepsPerSetAtLeast, "\(outcome.steps)")
        }
    }

    @Test func manyValuesAreNoWayToAGroup() throws {
        func anchor(_ count: Int) throws -> ViewAnchor? {
            let texts = (0..<count).map { "'\($0)'" }.joined(separator: ", ")
            return try View(definition("owner_id IN {\(texts)}"), schema: ViewTests.schema).subscribed.first?.anchor
        }
        try expectEqual(anchor(64)?.values.count, 64)
        try expectTrue(anchor(65) == nil)
    }

    /// A chain of alternatives takes a hundred times what its text does, unless it is held as what it says.
    @Test func aLongChainIsHeldAsAList() throws {
        let chain = (0..<13_000).map { "owner_id=='\($0)'" }.joined(separator: "||")
        let view = try View(definition(chain), schema: ViewTests.schema, isRead: true)
        expectTrue(view.bytes < 4 * chain.utf8.count, "\(view.bytes) of \(chain.utf8.count)")
        let table = try #require(ViewTests.schema.table("Item")).id
        for (owner, isIn) in [("0", true), ("12999", true), ("13000", false)] {
            expectEqual(
                view.contains(ViewTests.item(["owner_id": .string(ByteString(owner))]), table, .int(1)), isIn)
        }
    }

    @Test func aViewWithAMeterTellsWhatTakesTooMuch() throws {
        let meter = EvaluationMeter(perObject: 100)
        let view = try View(
            definition((0..<100).map { "owner_id CONTAINS '\($0)'" }.joined(separator: " OR ")),
            schema: ViewTests.schema
        ).metered(by: meter)
        let table = try #require(ViewTests.schema.table("Item")).id
        let item = ViewTests.item(["owner_id": .string("x")])
        expectTrue(view.membership(of: item, table, .int(1)) == nil && !view.contains(item, table, .int(1)))
        expectTrue(view[table]?.membership(of: item, .int(1)) == Bool?.none)
        expectTrue(meter.explanation?.contains("class \"Item\"") == true, "\(meter.explanation ?? "")")
        expectTrue(view.metered(by: nil).membership(of: item, table, .int(1)) == false)
    }
}

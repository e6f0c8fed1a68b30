import Changesets
import RealmState
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// The move between the sync modes that an error demands of a realm.
struct ModeMoveTests {
    private static func body(_ action: ErrorAction, query: String? = nil) -> JSONErrorBody {
        var body = JSONErrorBody(message: "moved", action: action, tryAgain: false)
        body.partitionQuery = query
        return body
    }

    @Test func aPartitionMovesWithItsQuery() throws {
        let body = Self.body(.migrateToFLX, query: "owner == \"a\"")
        let move = try #require(
            ModeMove(demandedBy: .migrateToFLX, body, of: .partition(.string("a")), after: nil))
        expectEqual(move.field, "owner")
        expectEqual(move.pending?.action, .migrateToFLX)
        let withoutQuery = Self.body(.migrateToFLX)
        expectTrue(
            ModeMove(demandedBy: .migrateToFLX, withoutQuery, of: .partition(.string("a")), after: nil) == nil)
        expectTrue(ModeMove(demandedBy: .migrateToFLX, body, of: .flexible, after: nil) == nil)
    }

    @Test func aRealmGoesBackToThePartitionThatItCameFrom() {
        let body = Self.body(.revertToPBS)
        let earlier = ModeMove(partition: "\"a\"", query: "owner == \"a\"")
        let move = ModeMove(demandedBy: .revertToPBS, body, of: .flexible, after: earlier)
        expectEqual(move?.partition, earlier.partition)
        expectEqual(move?.pending?.action, .revertToPBS)
        expectTrue(ModeMove(demandedBy: .revertToPBS, body, of: .flexible, after: nil) == nil)
    }

    @Test func itSubscribesToTheClassesThatHaveTheProperty() throws {
        var state = RealmState(compatibility: .stockClients)
        _ = try state.record { try SchemaAdditions.apply(Device.schema, to: &$0) }
        let move = ModeMove(partition: "null", query: "title == NULL")
        let wanted = move.subscriptions(in: state.schema)
        expectEqual(wanted.map(\.className), ["Task"])
        expectEqual(wanted.map(\.name), ["flx_migrated_Task"])
        expectEqual(wanted.map(\.query), [move.query])
    }
}

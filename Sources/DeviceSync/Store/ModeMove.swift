internal import Changesets
internal import RealmState
import SyncModel
internal import SyncProtocol

/// A partition's file of an app that has moved to flexible sync: it syncs in flexible mode what was its partition, though its
/// configuration still names the partition.
struct ModeMove: Sendable, Equatable, Codable {
    /// A client reset that brings the file to its new mode, until it is merged.
    struct Pending: Sendable, Equatable, Codable {
        /// `migrateToFLX` or `revertToPBS`.
        var action: PendingReset.Action
        var errorCode: Int
        var message: String
    }

    /// The partition as a partition BIND names it.
    var partition: String
    /// What selects the partition's objects, of any class that has the property.
    var query: String
    var pending: Pending?

    /// The property that says which partition an object is of.
    var field: String { String(query.prefix { $0 != " " }) }

    /// The subscriptions that select what was the partition, of all classes of a flexible realm that have the property.
    func subscriptions(in schema: StoredSchema) -> [Subscription] {
        schema.tables.filter { table in
            table.kind == .topLevel && table.columns.contains { $0.name.string == field }
        }.map { table in
            Subscription(name: "flx_migrated_\(table.name.string)", className: table.name.string, query: query)
        }
    }
}

extension ModeMove {
    /// The move that the server demands of a realm.
    /// - Parameters:
    ///   - target: what the realm syncs now.
    ///   - earlier: the realm's last move to flexible sync, which a move back needs.
    /// - Returns: nil if the error says no such thing, or cannot be about this realm.
    init?(demandedBy code: ErrorCode, _ body: JSONErrorBody, of target: SyncTarget, after earlier: ModeMove?) {
        let action: PendingReset.Action
        switch (body.action.effective, target) {
        case (.migrateToFLX, .partition(let partition)):
            guard let query = body.partitionQuery else { return nil }
            self.init(partition: partition.path, query: query)
            action = .migrateToFLX
        case (.revertToPBS, .flexible):
            guard let earlier else { return nil }
            self = earlier
            action = .revertToPBS
        default: return nil
        }
        pending = Pending(action: action, errorCode: code.rawValue, message: body.message)
    }
}

extension SyncFileState {
    /// What the file syncs.
    ///
    /// - Parameter configured: as its configuration says.
    func target(_ configured: SyncTarget) -> SyncTarget {
        guard let move, move.pending?.action != .revertToPBS else { return configured }
        return .flexible
    }
}

import Changesets
import TestSupport
import Testing

@testable import RealmState

/// One realm on both sides of a reset: a common beginning, unsynced changes here, other changes there.
struct ReplayBench {
    var local = RealmState(indexingIncomingLinks: true)
    var fresh = RealmState(indexingIncomingLinks: true)
    var changesets: [[UInt8]] = []

    static let owner = ObjectAddress("Owner", .int(0))
    static func target(_ number: Int64) -> ObjectAddress { ObjectAddress("Target", .int(number)) }
    static func at(_ field: ByteString, _ path: PathStep...) -> FieldAddress { FieldAddress(owner, field, path) }

    /// Owner 0 with empty fields, targets 1 to 6.
    init(_ begin: (inout RecordingTransaction) throws -> Void = { _ in }) throws {
        for side in [\ReplayBench.local, \ReplayBench.fresh] {
            _ = try self[keyPath: side].record { transaction in
                let key = KeySchema(name: "_id", type: .int, nullable: false)
                try transaction.createTable("Owner", key: key)
                try transaction.createTable("Target", key: key)
                try transaction.createEmbeddedTable("Part")
                try transaction.addColumn("Target", "value", ElementType(type: .int, nullable: true))
                try transaction.addColumn("Part", "name", ElementType(type: .string, nullable: true))
                try transaction.addColumn("Part", "size", ElementType(type: .int, nullable: true))
                let link = ElementType(type: .link, nullable: false, target: "Target")
                let nullableLink = ElementType(type: .link, nullable: true, target: "Target")
                try transaction.addColumn("Owner", "list", link, collection: .list)
                try transaction.addColumn("Owner", "set", link, collection: .set)
                try transaction.addColumn("Owner", "map", nullableLink, collection: .dictionary)
                try transaction.addColumn("Owner", "link", nullableLink)
                try transaction.addColumn("Owner", "any", .mixed)
                try transaction.addColumn("Owner", "name", ElementType(type: .string, nullable: true))
                try transaction.addColumn("Owner", "count", ElementType(type: .int, nullable: false))
                try transaction.addColumn(
                    "Owner", "numbers", ElementType(type: .int, nullable: false), collection: .list)
                let part = ElementType(type: .link, nullable: true, target: "Part")
                try transaction.addColumn("Owner", "part", part)
                try transaction.addColumn(
                    "Owner", "parts", ElementType(type: .link, nullable: false, target: "Part"), collection: .list)
                try Self.addDeepColumns(&transaction)
                try transaction.createObject(Self.owner)
                for number in 1...5 as ClosedRange<Int64> { try transaction.createObject(Self.target(number)) }
                try begin(&transaction)
            }
        }
    }

    /// Collections of values, embedded objects on two levels, and mixed collections.
    private static func addDeepColumns(_ transaction: inout RecordingTransaction) throws {
        let int = ElementType(type: .int, nullable: false)
        let text = ElementType(type: .string, nullable: true)
        let leaf = ElementType(type: .link, nullable: true, target: "Leaf")
        try transaction.createEmbeddedTable("Leaf")
        try transaction.addColumn("Leaf", "name", text)
        try transaction.addColumn("Leaf", "count", int)
        try transaction.addColumn("Leaf", "numbers", int, collection: .list)
        try transaction.addColumn("Part", "numbers", int, collection: .list)
        try transaction.addColumn("Part", "count", int)
        try transaction.addColumn("Part", "leaf", leaf)
        try transaction.addColumn(
            "Part", "leaves", ElementType(type: .link, nullable: false, target: "Leaf"), collection: .list)
        let part = ElementType(type: .link, nullable: true, target: "Part")
        try transaction.addColumn("Owner", "partMap", part, collection: .dictionary)
        try transaction.addColumn("Owner", "values", int, collection: .set)
        try transaction.addColumn("Owner", "valueMap", int, collection: .dictionary)
        try transaction.addColumn("Owner", "anys", .mixed, collection: .list)
        try transaction.addColumn("Owner", "anyMap", .mixed, collection: .dictionary)
    }

    /// An unsynced change.
    mutating func here(_ body: (inout RecordingTransaction) throws -> Void) throws {
        changesets.append(try local.record(body).changeset)
    }

    /// A change of the server's.
    mutating func there(_ body: (inout RecordingTransaction) throws -> Void) throws { _ = try fresh.record(body) }

    /// Replays, and brings the result over; both sides are the same then, and the bytes do to the server what was done
    /// to the copy.
    mutating func recover() throws -> ReplayStatistics {
        var server = fresh
        var replay = ChangesetReplay(onto: fresh, local: local)
        for bytes in changesets {
            try server.apply(Changeset(parsing: try replay.replay(Changeset(parsing: bytes))))
        }
        expectEqual(StateDump.digest(of: server), StateDump.digest(of: replay.fresh))
        _ = try StateTransfer.transfer(from: replay.fresh, to: &local)
        expectEqual(StateDump.digest(of: server), StateDump.digest(of: local))
        return replay.statistics
    }

    mutating func discard() throws -> StateTransfer.Statistics {
        let statistics = try StateTransfer.transfer(from: fresh, to: &local)
        expectEqual(StateDump.digest(of: fresh), StateDump.digest(of: local))
        return statistics
    }

    func value(_ field: ByteString, _ path: PathStep...) -> Value? {
        local.value(at: FieldAddress(Self.owner, field, path))
    }

    /// The keys that a collection of links points to.
    func links(_ field: ByteString) -> [Int64]? {
        let values: [Value]
        switch value(field) {
        case .list(let items), .set(let items): values = items
        case .dictionary(let entries): values = entries.sorted { $0.key < $1.key }.map(\.value)
        default: return nil
        }
        return values.map { value in
            if case .link(let target) = value, case .int(let key) = target.key { return key }
            return 0
        }
    }
}

extension RecordingTransaction {
    mutating func add(_ targets: Int64...) throws {
        for target in targets {
            guard case .list(let items)? = state.value(at: ReplayBench.at("list")) else { return }
            try insert(.link(ReplayBench.target(target)), at: ReplayBench.at("list", .index(items.count)))
        }
    }
    mutating func drop(_ targets: Int64...) throws {
        for target in targets {
            guard case .list(let items)? = state.value(at: ReplayBench.at("list")),
                let index = items.firstIndex(of: .link(ReplayBench.target(target)))
            else { return }
            try remove(at: ReplayBench.at("list", .index(index)))
        }
    }
    mutating func delete(_ target: Int64) throws { try deleteObject(ReplayBench.target(target)) }
    mutating func move(_ from: Int, _ to: Int) throws { try move(ReplayBench.at("list", .index(from)), to: to) }
    mutating func clearList() throws { try clear(ReplayBench.at("list")) }
}

import ArgumentParser
import Changesets
import Foundation
import RealmState
import Rules
import SyncModel
import Views

/// What a commit to a flexible realm costs a gateway by the number of its sessions: finding those that it concerns, and making what they
/// are sent. No socket and no broker.
struct ViewsBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "views", abstract: "Commits a second at a gateway by sessions of a flexible realm.")

    @Option(help: "Sessions, each with a query of its own; the first is what the others are compared with.")
    var sessions: [Int] = [100, 10_000]
    @Option(help: "Commits, each of which one session sees.") var commits = 20_000
    @Option(help: "Runs of each; the best one counts.") var runs = 5
    @Flag(help: "Print one JSON line a measurement.") var json = false

    func validate() throws {
        guard sessions.allSatisfy({ $0 > 0 }), commits > 0 else { throw ValidationError("expected numbers above 0") }
    }

    func run() throws {
        let realm = try ViewsBenchRealm()
        var first: Double?
        for count in sessions {
            let fan = try realm.fan(of: count)
            let stretches = try (0..<commits).map { try realm.stretch($0, owner: $0 % count) }
            var best = Duration.seconds(1_000_000)
            for _ in 0..<max(runs, 1) {
                var fan = fan
                var told = 0
                let time = try ContinuousClock().measure {
                    for stretch in stretches { told += try realm.deliver(stretch, to: &fan) }
                }
                guard told == commits else { throw BenchFailure("\(told) of \(commits) commits reached a session") }
                best = min(best, time)
            }
            let microseconds = best.milliseconds * 1_000 / Double(commits)
            let ratio = first.map { microseconds / $0 }
            first = first ?? microseconds
            if json {
                Measurement(name: "views/\(count)", value: microseconds, unit: "us", comparison: first).printLine()
            } else {
                let text = ratio.map { String(format: "  %.2f times that of %d", $0, sessions[0]) } ?? ""
                print(
                    String(format: "%7d sessions  %7.2f us a commit that one of them sees", count, microseconds) + text)
            }
        }
    }
}

/// A class of tasks with owners; each session subscribes to its own.
private struct ViewsBenchRealm {
    private let schema: Schema
    private let table: TableSchema
    private let owner: ColumnSchema
    private let roles: String

    init() throws {
        var state = RealmState()
        var changeset = Changeset()
        let task = changeset.strings.intern("Task")
        changeset.instructions.append(
            .addTable(
                .init(
                    table: task,
                    kind: .topLevel(
                        keyField: changeset.strings.intern("_id"), keyType: .int, keyNullable: false, asymmetric: false)
                )))
        for name in ["owner_id", "title"] {
            changeset.instructions.append(
                .addColumn(
                    .init(
                        table: task, field: changeset.strings.intern(ByteString(name)), type: .string, nullable: true,
                        collection: .single)))
        }
        try state.apply(changeset)
        schema = state.schema
        guard let table = schema.table("Task"), let owner = table.column("owner_id") else {
            throw BenchFailure("no class Task")
        }
        (self.table, self.owner) = (table, owner)
        let rules = #"""
            {"queryable": {"global": ["owner_id"]}, "defaultRoles": [{"name": "all", "apply_when": {}, "read": true, "write": true,
             "document_filters": {"read": true, "write": true}}]}
            """#
        guard let document = RulesCheck(Array(rules.utf8)).document else { throw BenchFailure("no rules") }
        roles = document.closedRoles(of: RuleUser(id: "u")).text
    }

    func fan(of count: Int) throws -> ViewFan {
        var fan = ViewFan()
        fan.learn(schema, stamp: 1)
        _ = fan.pass(to: 1)
        for number in 0..<count {
            let queries = #"{"Task": "owner_id == 'user-\#(number)'"}"#
            _ = fan.follow(
                UInt64(number), file: FileIdent(UInt64(number + 10)),
                ViewDefinition(version: 1, queries: queries, roles: roles), at: 1)
        }
        return fan
    }

    /// A version that makes an object of one owner.
    func stretch(_ index: Int, owner number: Int) throws -> FannedStretch {
        let slot = ObjectSlot(table.id, .int(Int64(index)))
        let name = ByteString("user-\(number)")
        var image = StoredObject()
        image[owner.id] = .string(name)
        var changeset = Changeset()
        let task = changeset.strings.intern("Task")
        changeset.instructions.append(.createObject(table: task, object: .int(Int64(index))))
        for (field, value) in [("owner_id", name), ("title", "something to be done")] as [(ByteString, ByteString)] {
            changeset.instructions.append(
                .update(
                    .init(
                        target: FieldPath(
                            table: task, object: .int(Int64(index)), field: changeset.strings.intern(field)),
                        value: .string(value), qualifier: .isDefault(false))))
        }
        let version = ServerVersion(UInt64(index + 2))
        return try FannedStretch(
            follows: ServerVersion(UInt64(index + 1)), latest: version,
            entries: [
                HistoryEntry(
                    serverVersion: version, clientVersion: 1, originFile: 2, timestamp: 1,
                    changeset: changeset.encoded())
            ],
            before: [BeforeImages([.init(slot, before: nil)]).encoded()],
            now: BeforeImages([.init(slot, before: image)]).encoded(), addressed: [])
    }

    /// - Returns: how many sessions get something.
    func deliver(_ stretch: FannedStretch, to fan: inout ViewFan) throws -> Int {
        let outcome = fan.take(stretch, schema: (1, nil))
        guard outcome.lost.isEmpty else { throw BenchFailure("sessions were lost") }
        var told = 0
        for group in outcome.groups {
            let part = stretch.part(for: 3, at: 0, group.slots, in: group.view) {
                try? SplitChangeset(parsing: stretch.entries[$0].changeset)
            }
            if let part, !part.entries.isEmpty { told += group.sessions.count }
        }
        return told
    }
}

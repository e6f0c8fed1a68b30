import Changesets
import TestSupport
import Testing

@testable import RealmState

/// What recovered writes have come to, said once more (docs/resets.md, "What stock clients recover").
struct RestatementTests {
    private typealias Bench = ReplayBench

    /// Applies a changeset at one side alone, as a stock client's upload of what its own copy has nothing of, and then what is said once more at
    /// both.
    ///
    /// - Returns: the objects that have to be sent anew.
    @discardableResult
    private func recover(
        _ bench: inout ReplayBench, _ body: (inout ChangesetBuilder) -> Void
    ) throws -> Set<ObjectAddress> {
        var builder = ChangesetBuilder()
        body(&builder)
        try bench.fresh.apply(builder.changeset)
        var restatement = Restatement()
        let others = restatement.add(builder.changeset, bench.fresh.schema)
        let said = try restatement.changeset(of: bench.fresh)
        try bench.local.apply(said)
        try bench.fresh.apply(said)
        return others
    }

    @Test func aCopyThatLacksASumOrAValueComesToAgree() throws {
        var bench = try Bench {
            try $0.set(Bench.at("count"), to: .int(4))
            try $0.set(Bench.at("name"), to: .string("old"))
        }
        let others = try recover(&bench) {
            $0.increment(Bench.at("count"), 2)
            $0.update(Bench.at("name"), .string("new"))
            $0.update(Bench.at("link"), linkTo: Bench.target(3))
        }
        expectTrue(others.isEmpty)
        expectEqual(bench.local.value(at: Bench.at("count")), .int(6))
        expectEqual(bench.local.object(Bench.owner), bench.fresh.object(Bench.owner))
    }

    @Test func anObjectThatWasMadeOrErasedIsMadeOrErasedAtBoth() throws {
        var bench = try Bench()
        try recover(&bench) {
            $0.create("Target", .int(9))
            $0.update(FieldAddress(Bench.target(9), "value"), .int(7))
            $0.erase("Target", .int(2))
        }
        expectEqual(bench.local.value(at: FieldAddress(Bench.target(9), "value")), .int(7))
        expectTrue(!bench.local.contains(Bench.target(2)))
    }

    @Test func onlyWhatWasSetIsSaid() throws {
        var bench = try Bench()
        try bench.here { try $0.set(Bench.at("name"), to: .string("newer, and not uploaded yet")) }
        try recover(&bench) { $0.increment(Bench.at("count"), 1) }
        expectEqual(bench.local.value(at: Bench.at("name")), .string("newer, and not uploaded yet"))
    }

    @Test func objectsWhoseCollectionsWereChangedHaveToComeAnew() throws {
        var bench = try Bench { try $0.set(Bench.at("count"), to: .int(4)) }
        let others = try recover(&bench) {
            $0.insert(Bench.at("numbers", .index(0)), .int(1), priorSize: 0)
            $0.increment(Bench.at("count"), 1)
        }
        expectEqual(others, [Bench.owner])
        expectEqual(bench.local.value(at: Bench.at("count")), .int(5))
        expectEqual(bench.local.value(at: Bench.at("numbers")), .list([]))
    }
}

import Changesets
import RealmState
import TestSupport
import Testing

@Suite struct SavepointTests {
    @Test func rollbackUndoesObjectsAndSchema() throws {
        var state = try SampleRealm.make()
        _ = state.takeChanges()
        let before = StateDump.canonical(of: state)
        state.begin()
        try state.apply { builder in
            builder.update(SampleRealm.at("i"), .int(9))
            builder.erase("T", .int(1))
            builder.create("T", .int(1))
            builder.table("New")
            builder.create("New", .int(1))
            builder.eraseTable("O")
            builder.eraseColumn("T", "s")
        }
        expectTrue(StateDump.canonical(of: state) != before)
        state.rollback()
        expectEqual(StateDump.canonical(of: state), before)
        expectTrue(!state.hasChanges)
        expectTrue(state.takeChanges().isEmpty)
        expectEqual(state.cachedObjectCount, 2)
    }

    @Test func savepointsNest() throws {
        var state = try SampleRealm.make()
        state.begin()
        try state.apply { $0.update(SampleRealm.at("i"), .int(1)) }
        state.begin()
        try state.apply { builder in
            builder.update(SampleRealm.at("i"), .int(2))
            builder.column("T", "new", .int)
        }
        state.rollback()
        expectEqual(state.value(at: SampleRealm.at("i")), .int(1))
        expectTrue(state.schema.table("T")?.column("new") == nil)
        state.begin()
        try state.apply { $0.update(SampleRealm.at("i"), .int(3)) }
        state.commit()
        expectEqual(state.value(at: SampleRealm.at("i")), .int(3))
        state.rollback()
        expectEqual(state.value(at: SampleRealm.at("i")), .int(0))
        expectTrue(!state.hasSavepoint)
        state.rollback()
        state.commit()
        expectEqual(state.value(at: SampleRealm.at("i")), .int(0))
    }

    @Test func aBadChangesetIsUndoneAndTheOthersStay() throws {
        var state = try SampleRealm.make()
        for value in Int64(1)...3 {
            state.begin()
            do {
                try state.apply { builder in
                    builder.update(SampleRealm.at("i"), .int(value))
                    if value == 2 { builder.update(SampleRealm.at("none"), .int(1)) }
                }
                state.commit()
            } catch {
                state.rollback()
                expectEqual(state.value(at: SampleRealm.at("i")), .int(1))
            }
        }
        expectEqual(state.value(at: SampleRealm.at("i")), .int(3))
    }

    @Test func changesAreToldOnce() throws {
        var state = try SampleRealm.make()
        let first = state.takeChanges()
        expectTrue(first.schemaChanged)
        expectEqual(first.upserted.count, 2)
        expectTrue(state.takeChanges().isEmpty)
        let table = try #require(state.schema.table("O")).id
        try state.apply { builder in
            builder.update(SampleRealm.at("i"), .int(1))
            builder.erase("U", SampleRealm.target.key)
            builder.eraseTable("O")
        }
        let second = state.takeChanges()
        expectEqual(second.upserted.map(\.key), [.int(1)])
        expectEqual(second.erased.map(\.key), [SampleRealm.target.key])
        expectEqual(second.erasedTables, [table])
        expectTrue(second.schemaChanged)
    }

    @Test func copiesOfAStateAreIndependent() throws {
        let original = try SampleRealm.make()
        var copy = original
        try copy.apply { $0.update(SampleRealm.at("i"), .int(1)) }
        expectEqual(original.value(at: SampleRealm.at("i")), .int(0))
        expectEqual(copy.value(at: SampleRealm.at("i")), .int(1))
    }
}

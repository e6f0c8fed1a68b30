import Changesets
import RealmState
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
        #expect(StateDump.canonical(of: state) != before)
        state.rollback()
        #expect(StateDump.canonical(of: state) == before)
        #expect(!state.hasChanges)
        #expect(state.takeChanges().isEmpty)
        #expect(state.cachedObjectCount == 2)
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
        #expect(state.value(at: SampleRealm.at("i")) == .int(1))
        #expect(state.schema.table("T")?.column("new") == nil)
        state.begin()
        try state.apply { $0.update(SampleRealm.at("i"), .int(3)) }
        state.commit()
        #expect(state.value(at: SampleRealm.at("i")) == .int(3))
        state.rollback()
        #expect(state.value(at: SampleRealm.at("i")) == .int(0))
        #expect(!state.hasSavepoint)
        state.rollback()
        state.commit()
        #expect(state.value(at: SampleRealm.at("i")) == .int(0))
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
                #expect(state.value(at: SampleRealm.at("i")) == .int(1))
            }
        }
        #expect(state.value(at: SampleRealm.at("i")) == .int(3))
    }

    @Test func changesAreToldOnce() throws {
        var state = try SampleRealm.make()
        let first = state.takeChanges()
        #expect(first.schemaChanged)
        #expect(first.upserted.count == 2)
        #expect(state.takeChanges().isEmpty)
        let table = try #require(state.schema.table("O")).id
        try state.apply { builder in
            builder.update(SampleRealm.at("i"), .int(1))
            builder.erase("U", SampleRealm.target.key)
            builder.eraseTable("O")
        }
        let second = state.takeChanges()
        #expect(second.upserted.map(\.key) == [.int(1)])
        #expect(second.erased.map(\.key) == [SampleRealm.target.key])
        #expect(second.erasedTables == [table])
        #expect(second.schemaChanged)
    }

    @Test func copiesOfAStateAreIndependent() throws {
        let original = try SampleRealm.make()
        var copy = original
        try copy.apply { $0.update(SampleRealm.at("i"), .int(1)) }
        #expect(original.value(at: SampleRealm.at("i")) == .int(0))
        #expect(copy.value(at: SampleRealm.at("i")) == .int(1))
    }
}

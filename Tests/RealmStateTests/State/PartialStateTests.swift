import Changesets
import RealmState
import TestSupport
import Testing

@Suite struct PartialStateTests {
    private func make() throws -> RealmState {
        RealmState(schema: try SampleRealm.make().schema, residency: .partial)
    }

    @Test func touchingWhatIsNotLoadedIsAnErrorOfItsOwn() throws {
        var state = try make()
        expectTrue(!state.isLoaded(SampleRealm.object))
        expectEqual(state.failure { $0.create("T", .int(1)) }?.code, .notLoaded)
        expectEqual(state.failure { $0.erase("T", .int(1)) }?.code, .notLoaded)
        expectEqual(state.failure { $0.update(SampleRealm.at("i"), .int(1)) }?.code, .notLoaded)
        state.load(SampleRealm.object, nil)
        expectTrue(state.isLoaded(SampleRealm.object))
        expectEqual(state.failure { $0.update(SampleRealm.at("i"), .int(1)) }?.code, .badInstruction)
        try state.apply { $0.create("T", .int(1)) }
        expectTrue(state.contains(SampleRealm.object))
    }

    @Test func linksNeedOnlyTheClassOfTheirTarget() throws {
        var state = try make()
        state.load(SampleRealm.object, StoredObject())
        try state.apply { $0.update(SampleRealm.at("link"), linkTo: SampleRealm.target) }
        expectEqual(state.value(at: SampleRealm.at("link")), .link(SampleRealm.target))
    }

    @Test func loadingDoesNotOverwriteWhatIsNewer() throws {
        var state = try make()
        state.load(SampleRealm.object, StoredObject())
        try state.apply { $0.update(SampleRealm.at("i"), .int(5)) }
        state.load(SampleRealm.object, StoredObject())
        expectEqual(state.value(at: SampleRealm.at("i")), .int(5))
    }

    @Test func classesCreatedHereNeedNoLoading() throws {
        var state = try make()
        expectTrue(state.isLoaded(ObjectAddress("New", .int(1))))
        try state.apply { builder in
            builder.table("New")
            builder.create("New", .int(1))
        }
        expectTrue(state.isLoaded(ObjectAddress("New", .int(2))))
        _ = state.takeChanges()
        state.trimCache(to: 0)
        expectTrue(!state.isLoaded(ObjectAddress("New", .int(1))))
        expectTrue(!state.isLoaded(ObjectAddress("New", .int(2))))
    }

    @Test func trimmingForgetsTheLeastRecentlyUsedButNoChanges() throws {
        var state = try make()
        for key in Int64(0)..<100 {
            state.load(ObjectAddress("T", .int(key)), StoredObject())
        }
        try state.apply { $0.update(FieldAddress(ObjectAddress("T", .int(0)), "i"), .int(1)) }
        state.trimCache(to: 40)
        expectEqual(state.cachedObjectCount, 35)
        expectTrue(state.isLoaded(ObjectAddress("T", .int(0))))
        expectTrue(state.isLoaded(ObjectAddress("T", .int(99))))
        expectTrue(!state.isLoaded(ObjectAddress("T", .int(1))))
        state.trimCache(to: 0)
        expectEqual(state.cachedObjectCount, 1)
        _ = state.takeChanges()
        state.trimCache(to: 0)
        expectEqual(state.cachedObjectCount, 0)
    }

    @Test func theObjectsThatAChangesetTouchesAreListed() throws {
        var builder = ChangesetBuilder()
        builder.table("T")
        builder.create("T", .int(1))
        builder.update(SampleRealm.at("i"), .int(1))
        builder.update(SampleRealm.at("link"), linkTo: SampleRealm.target)
        builder.erase("U", .null)
        let addresses = builder.changeset.touchedAddresses
        expectEqual(addresses, [SampleRealm.object, ObjectAddress("U", .null)])
    }
}

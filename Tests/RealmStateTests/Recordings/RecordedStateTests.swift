import Changesets
import Foundation
import MergeConformance
import RealmState
import TestSupport
import Testing

@Suite struct RecordedStateTests {
    @Test(arguments: RecordedVectors.files("merge"))
    func everyPeerReachesTheRecordedState(file: URL) throws {
        let realms = try RecordedRealms(file)
        let expected = try #require(realms.expected).sortedState
        expectTrue(realms.states.count > 2)
        expectTrue(realms.changesetCount > 50)
        var canonical: Set<[UInt8]> = []
        var digests: Set<StateDigest> = []
        for (peer, state) in realms.states {
            let actual = try JSON(text: StateDump.json(of: state)).sortedState
            expectEqual(actual, expected, "peer \(peer)")
            canonical.insert(StateDump.canonical(of: state))
            digests.insert(StateDump.digest(of: state))
        }
        expectEqual(canonical.count, 1)
        expectEqual(digests.count, 1)
    }

    @Test(arguments: RecordedVectors.files("merge"))
    func aPartialStateOverAStoreReachesTheSame(file: URL) throws {
        var store = MemoryStore()
        let server = try RecordedRealms(
            file, new: RealmState(residency: .partial),
            prepare: { state, changeset in
                for address in changeset.touchedAddresses where !state.isLoaded(address) {
                    state.load(address, store.object(address, state.schema))
                }
                state.begin()
            },
            finish: { state in
                state.commit()
                try store.write(state.takeChanges(), schema: state.schema)
                state.trimCache(to: 2)
                expectTrue(state.cachedObjectCount <= 2)
            },
            onlyPeer: 1)
        let whole = try RecordedRealms(file)
        let state = try #require(whole.states[1])
        expectTrue(server.changesetCount > 20)
        expectEqual(StateDump.canonical(of: try store.state()), StateDump.canonical(of: state))
    }

    @Test(arguments: RecordedVectors.files("merge"))
    func changesetsMadeFromAStateBuildAnEqualOne(file: URL) throws {
        for (budget, clearing) in [(200, false), (4096, true), (1 << 20, false)] {
            let realms = try RecordedRealms(file)
            let state = try #require(realms.states[1])
            let changesets = state.changesets(byteBudget: budget, clearingCollections: clearing)
            var copy = RealmState()
            for changeset in changesets {
                try copy.apply(Changeset(parsing: changeset.encoded()))
            }
            expectEqual(StateDump.canonical(of: copy), StateDump.canonical(of: state))
            if budget == 200 { expectTrue(changesets.count > 10) }
            for changeset in changesets.dropFirst() where budget == 200 {
                expectTrue(changeset.encoded().count < 600)
            }
        }
    }

    @Test(arguments: RecordedVectors.files("merge"))
    func rollingBackEveryChangesetAndApplyingItAgainChangesNothing(file: URL) throws {
        var before: [[UInt8]] = []
        var count = 0
        let realms = try RecordedRealms(
            file, new: RealmState(indexingIncomingLinks: true),
            prepare: { state, changeset in
                count += 1
                guard count % 7 == 0 else { return }
                before = [StateDump.canonical(of: state)]
                state.begin()
                try state.apply(changeset)
                state.begin()
                try? state.apply(changeset)
                state.rollback()
                state.rollback()
                expectEqual(StateDump.canonical(of: state), before[0])
            })
        let expected = try #require(realms.expected).sortedState
        for state in realms.states.values {
            try expectEqual(JSON(text: StateDump.json(of: state)).sortedState, expected)
        }
    }

    @Test(arguments: RecordedVectors.files("merge"))
    func storedFormsRoundTrip(file: URL) throws {
        let state = try #require(try RecordedRealms(file).states[1])
        let schema = try Schema(decoding: state.schema.encoded())
        expectEqual(schema, state.schema)
        for table in state.schema.tables {
            for (_, object) in state.objects(of: table.name) {
                let bytes = object.encoded()
                try expectEqual(StoredObject(decoding: bytes), object)
                for length in 0..<bytes.count {
                    #expect(throws: RealmStateError.self) { try StoredObject(decoding: Array(bytes.prefix(length))) }
                }
            }
        }
    }

    @Test(arguments: RecordedVectors.files("merge"))
    func theIndexOfIncomingLinksFindsWhatAScanFinds(file: URL) throws {
        let scanned = try RecordedRealms(file)
        let indexed = try RecordedRealms(file, new: RealmState(indexingIncomingLinks: true))
        var plain = try #require(scanned.states[1])
        var state = try #require(indexed.states[1])
        for table in state.schema.tables {
            for (key, _) in state.objects(of: table.name) {
                let address = ObjectAddress(table.name, key)
                expectEqual(Set(state.incomingLinks(to: address)), Set(plain.incomingLinks(to: address)))
            }
        }
    }
}

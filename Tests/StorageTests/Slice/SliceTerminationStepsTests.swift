import Storage
import SyncModel
import TestSupport
import Testing

/// What the contract of slices says of terminations that go in steps.
@Suite(.hangGuard) struct SliceTerminationStepsTests {
    private static let steps = TerminationSteps(app: "tasks", generation: 2, campaign: "c-2")

    /// Client files in two realms of the app and in one of another, and a termination of the app that is recorded.
    private func filled(_ store: any SliceStore) async throws -> Epoch {
        let epoch = try await store.take()
        var batch = SliceBatch()
        let other = RealmRecord(
            id: RealmID(2), name: RealmName(app: "other", partition: "\"p\""), generation: 1, salt: 1,
            saltEpoch: Epoch(1))
        batch.realms = [Sample.realm(1), other, Sample.realm(3)]
        batch.clientFiles =
            [2, 3, 4, 5].map { Sample.file($0) } + [Sample.file(2, realm: 2), Sample.file(2, realm: 3)]
        batch.clientFiles[1].state = .superseded
        batch.clientFiles[2].state = .resetRequired
        batch.clientFiles[2].campaign = "c-1"
        batch.clientFiles.append(Sample.file(3, realm: 3, generation: 2))
        batch.terminations = [AppGenerationRecord(app: "tasks", generation: 2, campaign: "c-2", at: 1)]
        batch.terminationSteps = [Self.steps]
        expectTrue(!batch.isEmpty)
        try await store.commit(batch, epoch: epoch)
        return epoch
    }

    @Test(arguments: SliceVariant.allCases)
    func beginsWithTheGenerationAloneAndMarksStepByStep(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await filled(store)
            try await expectEqual(store.appGeneration("tasks")?.generation, 2)
            try await expectEqual(store.countClientFiles(campaign: "c-2"), 0)
            try await expectEqual(store.terminationSteps(), [Self.steps])

            // An owner that has gone a step further says so with the same commit; what needs no mark counts as looked
            // at.
            let first = try await store.mark(Self.steps, limit: 3, epoch: epoch)
            expectTrue(first.last == Sample.file(4).key && !first.isMarked)
            try await expectEqual(store.terminationSteps(), [first])
            try await expectEqual(store.clientFiles(campaign: "c-2", after: nil, limit: 9).map(\.record.ident), [2, 4])
            expectTrue(first.hasYetToMark(Sample.file(5)) && first.hasYetToMark(Sample.file(2, realm: 3)))
            expectTrue(!first.hasYetToMark(Sample.file(4)) && !first.hasYetToMark(Sample.file(9, generation: 2)))

            let second = try await store.mark(first, limit: 3, epoch: epoch)
            expectTrue(second.last == Sample.file(3, realm: 3).key && !second.isMarked)
            let third = try await store.mark(second, limit: 3, epoch: epoch)
            expectTrue(third.isMarked && third.last == nil)
            try await expectEqual(store.terminationSteps(), [third])
            let found = try await store.clientFiles(campaign: "c-2", after: nil, limit: 9)
            expectEqual(
                found.map(\.record.key), [2, 4, 5].map { Sample.file($0).key } + [Sample.file(2, realm: 3).key])
            expectTrue(found.allSatisfy { $0.record.state == .resetRequired })
            try await expectEqual(store.clientFile(Sample.file(3).key)?.state, .superseded)
            try await expectEqual(store.clientFile(Sample.file(2, realm: 2).key)?.state, .live)
            try await expectEqual(store.clientFile(Sample.file(3, realm: 3).key)?.state, .live)

            var batch = SliceBatch()
            var reported = third
            (reported.chunks, reported.reported) = (4, 1)
            batch.terminationSteps = [reported]
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.terminationSteps(), [reported])
            batch = SliceBatch()
            batch.terminationStepsDone = ["c-2"]
            expectTrue(!batch.isEmpty)
            try await store.commit(batch, epoch: epoch)
            try await expectTrue(store.terminationSteps().isEmpty)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func marksWhatAllOfATerminationAtOnceMarks(_ variant: SliceVariant) async throws {
        for limit in 1...8 {
            try await variant.withStore { store in
                let epoch = try await filled(store)
                var steps = Self.steps
                while !steps.isMarked { steps = try await store.mark(steps, limit: limit, epoch: epoch) }
                let inSteps = try await store.clientFiles(campaign: "c-2", after: nil, limit: 9)
                try await variant.withStore { store in
                    let epoch = try await filled(store)
                    var batch = SliceBatch()
                    batch.terminations = [AppGenerationRecord(app: "tasks", generation: 2, campaign: "c-2", at: 1)]
                    try await store.commit(batch, epoch: epoch)
                    try await expectEqual(store.clientFiles(campaign: "c-2", after: nil, limit: 9), inSteps)
                }
            }
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func waitingFilesAreKnownBeforeTheyAreMarked(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await filled(store)
            let user = RealmUser(realm: RealmID(1), user: "u")
            let waiting = try await store.resets(of: user).waiting
            expectTrue(waiting.map(\.ident) == [5, 4, 2] && waiting.map(\.state) == [.live, .resetRequired, .live])
            try await expectTrue(store.resets(of: RealmUser(realm: RealmID(2), user: "u")).waiting.isEmpty)
            var batch = SliceBatch()
            batch.appRemovals = ["tasks"]
            try await store.commit(batch, epoch: epoch)
            try await expectTrue(store.terminationSteps().isEmpty)
        }
    }

    @Test(arguments: SliceVariant.allCases)
    func ownerThatLostTheSliceMarksNothing(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await filled(store)
            _ = try await store.take("another")
            let error = await #expect(throws: StoreError.self) {
                try await store.mark(Self.steps, limit: 9, epoch: epoch)
            }
            expectEqual(error?.code, .fenced)
            try await expectEqual(store.countClientFiles(campaign: "c-2"), 0)
        }
    }
}

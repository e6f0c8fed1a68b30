import Changesets
import Merge
import SyncModel
import TestSupport
import Testing

struct UploadIntegrationTests {
    private let engine = MergeEngine(compatibility: .convergent)
    private let recorded = ClientFileProgress(
        upload: UploadCursor(clientVersion: 1, serverVersion: 2), lockedServerVersion: 2)

    private func x(_ value: Int64, object: Int64 = 1) -> Changeset {
        changeset([.set(.at("x", object: object), .int(value))])
    }

    private func upload(
        _ changesets: [IncomingChangeset],
        upTo progress: UploadCursor = UploadCursor(clientVersion: 3, serverVersion: 2)
    ) -> UploadIntegration {
        UploadIntegration(
            UploadHead(follows: 1, progress: progress, lockedServerVersion: 4), of: 5, changesets: changesets,
            recorded: recorded)
    }

    @Test func itMeetsTheHistoryStepByStepAsItWouldTheWhole() throws {
        let uploaded = [
            incoming(changeset([.insert(0, .int(3), of: 0)]), version: 2, rank: 2, file: 5, base: 2),
            incoming(changeset([.insert(1, .int(4), of: 1)]), version: 3, rank: 2, file: 5, base: 2),
        ]
        let history = [
            local(changeset([.insert(0, .int(1), of: 0)]), version: 3, rank: 1, file: 2),
            local(changeset([.insert(1, .int(2), of: 1)]), version: 5, rank: 3, file: 2),
        ]
        var inSteps = upload(uploaded)
        expectEqual(inSteps.position, 2)
        try expectEqual(inSteps.merge(over: [history[0]], through: 4, using: engine), 1)
        expectEqual(inSteps.position, 4)
        try expectEqual(inSteps.merge(over: [history[1]], through: 6, using: engine), 1)
        expectEqual(inSteps.position, 6)
        var whole = upload(uploaded)
        try whole.merge(over: history, through: 6, using: engine)
        expectEqual(inSteps.changesets.map(\.changeset), whole.changesets.map(\.changeset))
        expectEqual(inSteps.outcome.reciprocals, whole.outcome.reciprocals)
        expectEqual(inSteps.outcome.reciprocals.map(\.version), [3, 5])
    }

    @Test func aStretchInWhichNothingTakesPartOnlyMovesThePosition() throws {
        var integration = upload([incoming(x(3), version: 2, rank: 2, file: 5, base: 2)])
        try expectEqual(integration.merge(over: [], through: 9, using: engine), 0)
        expectEqual(integration.position, 9)
        expectEqual(integration.changesets.map(\.changeset), [x(3)])
        expectTrue(integration.outcome.reciprocals.isEmpty)
    }

    @Test func othersEntriesThatSaySomethingTakePart() {
        let integration = upload([])
        expectTrue(integration.meets(author: 4, isEmpty: false))
        expectTrue(!integration.meets(author: 4, isEmpty: true))
        expectTrue(!integration.meets(author: 5, isEmpty: false))
    }

    @Test func theOutcomeMovesTheCursorsAndLetsGoOfWhatTheClientHasSeen() throws {
        var integration = upload(
            [
                incoming(x(3), version: 2, rank: 9, file: 5, base: 2),
                incoming(x(4, object: 2), version: 3, rank: 9, file: 5, base: 3),
            ], upTo: UploadCursor(clientVersion: 3, serverVersion: 3))
        let history = [
            local(x(1), version: 3, rank: 1, file: 2), local(x(1, object: 2), version: 4, rank: 1, file: 2),
        ]
        try integration.merge(over: history, through: 4, using: engine)
        let outcome = integration.outcome
        expectEqual(
            outcome.progress,
            ClientFileProgress(
                upload: UploadCursor(clientVersion: 3, serverVersion: 3), lockedServerVersion: 4))
        expectEqual(outcome.settled, 3)
        // The reciprocal of version 3 would be dropped with the same commit.
        expectEqual(outcome.reciprocals.map(\.version), [4])
        expectEqual(outcome.reciprocals.map(\.changeset.isEmpty), [true])
    }

    @Test func aRepetitionMovesNothing() {
        let outcome = upload([], upTo: UploadCursor(clientVersion: 1, serverVersion: 2)).outcome
        expectEqual(outcome.progress.upload, recorded.upload)
        expectTrue(outcome.settled == nil)
    }

    @Test func aServerVersionAloneMovesNothing() {
        let outcome = upload([], upTo: UploadCursor(clientVersion: 1, serverVersion: 4)).outcome
        expectEqual(outcome.progress.upload, recorded.upload)
        expectEqual(outcome.progress.lockedServerVersion, 4)
        expectTrue(outcome.settled == nil)
    }

    @Test func progressAloneSettlesReciprocals() {
        let outcome = upload([], upTo: UploadCursor(clientVersion: 2, serverVersion: 4)).outcome
        expectEqual(outcome.progress.upload, UploadCursor(clientVersion: 2, serverVersion: 4))
        expectEqual(outcome.settled, 4)
    }

    @Test func uploadThatCannotBeMergedThrows() {
        var integration = upload([
            incoming(changeset([.insert(0, .int(3), of: 5)]), version: 2, rank: 2, file: 5, base: 2)
        ])
        #expect(throws: MergeError.self) {
            try integration.merge(
                over: [local(changeset([.insert(0, .int(1), of: 0)]), version: 3, rank: 1, file: 2)], through: 3,
                using: engine)
        }
    }
}

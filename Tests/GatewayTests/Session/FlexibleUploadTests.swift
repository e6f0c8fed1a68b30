import Messages
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

/// Uploads of a session in flexible mode wait for the data of the sets that were asked for before them.
@Suite struct FlexibleUploadTests {
    private typealias Script = FlexibleSessionScript

    /// A write was made under the newest set that was asked for before it.
    @Test func anUploadWaitsForTheDataOfTheSetBeforeIt() throws {
        var script = try Script.begun()
        try script.answer(to: 5)
        _ = script.take()
        try script.ask(1)
        try script.client(.mark(session: 1, request: 1), .mark(1))
        try script.upload(2)
        try script.answer([Script.entry(5)], to: 5, .more(BootstrapPosition(table: 0, key: [], done: 0)), of: 1)
        try script.answer([Script.entry(8)], to: 8, .last, of: 1)
        expectTrue(script.published.isEmpty && script.machine.unacknowledgedBytes == 100)
        try script.answer([Script.entry(9)], to: 9)
        expectEqual(script.published.map(\.progress.clientVersion), [2])
        expectEqual(
            script.take(), ["1/moreToCome of 1 to 5", "1/lastInBatch of 1 to 8", "1/steadyState of 1 to 9", "mark"])
    }

    @Test func anUploadBehindASetThatIsRefusedIsJudgedByTheOneInForce() throws {
        var script = try Script.begun()
        try script.answer(to: 5)
        try script.ask(1)
        try script.upload(2)
        expectTrue(script.published.isEmpty)
        try script.answer(to: 5, .refused("no such class"), of: 1)
        expectEqual(script.published.count, 1)
    }

    /// A set that something was written under is sent, though a newer one is asked for already; and that one waits until the owner has what was
    /// written.
    @Test func eachSetThatSomethingWasWrittenUnderIsSent() throws {
        var script = try Script.begun()
        try script.answer(to: 5)
        try script.ask(1)
        try script.upload(2)
        try script.ask(2)
        try script.upload(3)
        try script.ask(3)
        try script.answer([Script.entry(5)], to: 5, .last, of: 1)
        expectEqual(script.published.map(\.progress.clientVersion), [2])
        // The page that follows a set's data.
        try script.answer(to: 5)
        expectTrue(script.pages.last?.bootstrap == nil)
        let pages = script.pages.count
        try script.cluster(Script.notice(5, by: 3, group: Script.group, acknowledges: 3, through: 2))
        expectTrue(script.pages.count == pages + 1 && script.pages.last?.bootstrap?.version == 2)
        try script.answer([Script.entry(6, from: 2)], to: 6, .last, of: 2)
        expectEqual(script.published.map(\.progress.clientVersion), [2, 3])
    }

    /// New roles show other objects of the set in force, which a client may write to at once.
    @Test func anUploadWaitsForWhatNewRolesShow() throws {
        var script = Script()
        try script.identify(
            Ident(
                session: 1, file: ClientFileIdent(ident: 3, salt: 9), download: DownloadCursor(serverVersion: 5),
                latest: SaltedServerVersion(version: 5, salt: 7),
                query: QuerySet(version: 2, text: #"{"Item": "owner == 1"}"#)), isNew: false)
        try script.upload(2)
        expectTrue(script.published.isEmpty)
        try script.answer([Script.entry(6)], to: 6, .last, of: 2)
        expectEqual(script.published.count, 1)
    }

    /// The upload could be judged by the set before only. The client uploads it again in its next session, behind the set.
    @Test func uploadWaitingForASetIsDroppedOnConnectionLoss() throws {
        var script = try Script.begun()
        try script.answer(to: 5)
        try script.ask(1)
        try script.upload(2)
        try script.cluster(.connectionLost)
        expectTrue(script.published.isEmpty && script.machine.unacknowledgedBytes == 0)
    }

    /// A write that is undone draws its error behind the answers to the MARKs before it.
    @Test func anUploadWaitsForTheAnswersToMarksBeforeIt() throws {
        var script = try Script.begun()
        try script.client(.mark(session: 1, request: 1), .mark(1))
        try script.upload(2)
        try script.client(.upload(progress), .upload(progress, bytes: 0))
        script.now += 10_000
        try script.cluster(.tick)
        expectTrue(script.published.isEmpty)
        try script.answer(to: 5)
        try script.answer(to: 5)
        expectEqual(script.take(), ["mark"])
        // Progress without changesets keeps its place.
        script.now += 10_000
        try script.cluster(.tick)
        expectEqual(script.published.map(\.progress.clientVersion), [2, 4])
    }

    private let progress = Upload(
        session: 1, progress: UploadCursor(clientVersion: 4, serverVersion: 5), lockedServerVersion: 5)

    /// The client sends again what was let go, and is told so as soon as that need not wait any more.
    @Test func uploadsThatWereLetGoComeAgainInAnotherSession() throws {
        var script = try Script.begun()
        try script.client(.mark(session: 1, request: 1), .mark(1))
        try script.upload(2, bytes: 1 << 20)
        script.now += WaitingMessages.patience
        try script.cluster(.tick)
        expectTrue(script.machine.unacknowledgedBytes == 0 && script.take().isEmpty)
        try script.upload(3)
        try script.answer(to: 5)
        try script.answer(to: 5)
        guard case .jsonError(1, .sessionClosed, let body)? = script.sent.last else {
            throw HarnessError("expected 200")
        }
        expectTrue(body.action == .transient && body.tryAgain && script.published.isEmpty)
    }

    /// The data of a set that is asked for meanwhile may go beyond the version that the MARK waits for.
    @Test func aMarkIsNotAnsweredWithinTheDataOfASet() throws {
        var script = try Script.begun()
        try script.answer(to: 5)
        _ = script.take()
        try script.client(.mark(session: 1, request: 1), .mark(1))
        try script.answer([Script.entry(6)], to: 6, latest: 9)
        try script.ask(1)
        try script.answer([Script.entry(7)], to: 7, latest: 9)
        try script.answer([Script.entry(7)], to: 7, .more(BootstrapPosition(table: 0, key: [], done: 0)), of: 1)
        try script.answer([Script.entry(9)], to: 9, .last, of: 1)
        expectEqual(
            script.take(),
            [
                "0/steadyState of 1 to 6", "0/steadyState of 1 to 7", "1/moreToCome of 1 to 7",
                "1/lastInBatch of 1 to 9", "mark",
            ])
    }

    /// Others go on writing: the client need not have all of that to hear that it has what there was.
    @Test func aMarkIsAnsweredInARealmThatIsNeverAtRest() throws {
        var script = try Script.begun()
        try script.answer(to: 5)
        _ = script.take()
        try script.client(.mark(session: 1, request: 1), .mark(1))
        try script.answer([Script.entry(6)], to: 6, latest: 9)
        try script.answer([Script.entry(9)], to: 9, latest: 12)
        expectEqual(script.take(), ["0/steadyState of 1 to 6", "0/steadyState of 1 to 9", "mark"])
        expectEqual(script.pages.last?.isMark, true)
        try script.answer([Script.entry(12)], to: 12, latest: 12)
        expectEqual(script.take(), ["0/steadyState of 1 to 12"])
        try script.cluster(.missed)
        expectEqual(script.pages.last?.isMark, false)
    }
}

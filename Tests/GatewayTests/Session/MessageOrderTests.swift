import Messages
import Storage
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

/// What a client sends without a pause is dealt with in the order in which it has sent it (docs/protocol.md, "The order of a session's
/// messages"). In partition mode; what QUERY has to do with it is in `FlexibleSessionTests` and `FlexibleUploadTests`.
@Suite struct MessageOrderTests {
    /// A session whose MARK 1 waits for its answer.
    private func marked() throws -> SessionScript {
        var script = try SessionScript.live()
        script.holdsAnswers = true
        try script.client(.mark(session: 1, request: 1))
        return script
    }

    @Test func anUploadWaitsForTheAnswersToMarksBeforeIt() throws {
        var script = try marked()
        try script.client(.upload(SessionScript.upload(2)))
        expectTrue(script.uploads.isEmpty && script.session(1)?.unacknowledgedBytes == 100)
        // This mark is about what the upload before it leaves.
        try script.client(.mark(session: 1, request: 2))
        try script.client(.upload(SessionScript.upload(3)))
        try script.release()
        let names = script.takeLog().map(\.name)
        expectEqual(script.realm.history.map(\.clientVersion), [2, 3])
        expectEqual(script.uploads.map(\.follows), [0, 2])
        expectTrue(names.first == "mark" && names.filter { $0 == "mark" }.count == 2)
        expectEqual(script.session(1)?.unacknowledgedBytes, 0)
    }

    @Test func uploadErrorsFollowTheAnswerToAnEarlierMark() throws {
        let reset = SyncProtocolError(.badServerVersion, session: 1, action: .clientReset, "UPLOAD: beyond")
        let breach = SyncProtocolError(.badMessageOrder, session: 1, "UPLOAD: wrong")
        for event in [
            .beyond(.uploads, limit: 3, seconds: 9), .violation(reset), .violation(breach),
        ] as [SessionEvent] {
            var script = try marked()
            try script.event(event, 1)
            expectTrue(script.takeLog().isEmpty && script.resets.isEmpty)
            try script.release()
            let names = script.takeLog().map(\.name)
            expectTrue(names.first == "mark" && names.count + script.resets.count == 2, "\(event): \(names)")
        }
    }

    @Test func aClientThatLeavesNeedNotHearOfItsMarksForItsUploadsToCount() throws {
        for isOrderly in [true, false] {
            var script = try marked()
            try script.client(.upload(SessionScript.upload(2)))
            try script.client(.mark(session: 1, request: 2))
            try script.client(.upload(SessionScript.upload(3)))
            if isOrderly { try script.client(.unbind(session: 1)) } else { try script.event(.connectionLost, 1) }
            expectEqual(script.uploads.map(\.follows), [0, 2])
        }
    }

    @Test func progressWithoutChangesetsKeepsItsPlace() throws {
        var script = try marked()
        try script.client(.upload(SessionScript.upload(2)))
        try script.client(.upload(Upload(session: 1, progress: .init(clientVersion: 4), lockedServerVersion: 0)))
        script.environment.now += 10_000
        try script.event(.tick, 1)
        expectTrue(script.uploads.isEmpty)
        try script.release()
        script.environment.now += 10_000
        try script.event(.tick, 1)
        expectEqual(script.uploads.map(\.progress.clientVersion), [2, 4])
    }

    @Test func waitingMessagesAreBounded() {
        func upload(_ bytes: Int) -> WaitingMessages.Message { .upload(SessionScript.upload(2), bytes: bytes) }
        var waiting = WaitingMessages()
        waiting.append(.mark(1), at: 5)
        waiting.append(upload(WaitingMessages.mostBytesForLong), at: 10_000)
        waiting.tick(at: 1_000_000)
        expectTrue(!waiting.isLetGo && waiting.bytes == WaitingMessages.mostBytesForLong)
        waiting.append(upload(1), at: 1_000_000)
        waiting.tick(at: 5 + WaitingMessages.patience - 1)
        expectTrue(!waiting.isLetGo)
        waiting.tick(at: 5 + WaitingMessages.patience)
        expectTrue(waiting.isLetGo && waiting.isEmpty && waiting.bytes == 0 && !waiting.hasUploads)
        waiting.append(upload(1), at: 1_000_001)
        expectTrue(waiting.isEmpty)

        // A subscription set's text counts, too.
        waiting = WaitingMessages()
        waiting.append(upload(1), at: 5)
        waiting.append(.query(QuerySet(version: 1, text: "{}")), at: 5)
        expectEqual(waiting.bytes, 3)

        waiting = WaitingMessages()
        for _ in 0..<WaitingMessages.mostMessages { waiting.append(upload(1), at: 5) }
        expectTrue(waiting.bytes == WaitingMessages.mostMessages && waiting.next(.init(), at: 5) != nil)
        waiting.append(upload(1), at: 5)
        expectTrue(!waiting.isLetGo)
        waiting.append(upload(1), at: 5)
        expectTrue(waiting.isLetGo && waiting.bytes == 0)
    }

    /// The client sends again what was let go, and is told so as soon as that need not wait any more.
    @Test func uploadsThatWereLetGoComeAgainInAnotherSession() throws {
        var script = try marked()
        try script.client(.upload(SessionScript.upload(2)), bytes: 1 << 20)
        script.environment.now += WaitingMessages.patience
        try script.event(.tick, 1)
        expectTrue(script.session(1)?.unacknowledgedBytes == 0 && script.takeLog().isEmpty)
        try script.client(.upload(SessionScript.upload(3)))
        try script.release()
        guard case .jsonError(1, .sessionClosed, let body)? = script.takeLog().last else {
            throw HarnessError("expected 200")
        }
        expectTrue(body.action == .transient && body.tryAgain && script.uploads.isEmpty)
    }
}

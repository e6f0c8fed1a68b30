import Messages
import Storage
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

/// The order in which a session deals with what its client sends without a pause (docs/protocol.md, "The order of a session's messages"), in
/// partition mode. QUERYs, and the UPLOADs of flexible mode, are in `FlexibleSessionTests` and `FlexibleUploadTests`.
@Suite struct MessageOrderTests {
    /// A session whose MARK 1 waits for its answer.
    private func marked() throws -> SessionScript {
        var script = try SessionScript.live()
        script.holdsAnswers = true
        try script.client(.mark(session: 1, request: 1))
        return script
    }

    @Test func anUploadGoesOnBeforeMarksAreAnswered() throws {
        var script = try marked()
        try script.client(.upload(SessionScript.upload(2)))
        try script.client(.mark(session: 1, request: 2))
        try script.client(.upload(SessionScript.upload(3)))
        expectEqual(script.uploads.map(\.follows), [0, 2])
        try script.release()
        let names = script.takeLog().map(\.name)
        expectEqual(script.realm.history.map(\.clientVersion), [2, 3])
        expectEqual(names.last { $0 == "mark" }, "mark")
        expectEqual(script.session(1)?.unacknowledgedBytes, 0)
    }

    private func refusal(_ code: ErrorCode) -> RefusedAnswer {
        RefusedAnswer(
            realm: SessionScript.name, session: SessionReference(gateway: "g", number: 1), code: code,
            action: "ApplicationBug", message: "why", tryAgain: false)
    }

    @Test func theRefusalOfAnUploadFollowsTheAnswerToAnEarlierMark() throws {
        var script = try marked()
        try script.client(.upload(SessionScript.upload(2)))
        try script.cluster(.refused(refusal(.permissionDenied), isAnswer: false), 1)
        expectTrue(script.takeLog().isEmpty)
        // Neither a later refusal nor a later message changes what the client hears, nor when.
        try script.cluster(.refused(refusal(.badChangeset), isAnswer: false), 1)
        try script.client(.upload(SessionScript.upload(3)))
        try script.client(.mark(session: 1, request: 2))
        expectEqual(script.uploads.count, 1)
        try script.release()
        let log = script.takeLog()
        expectEqual(log.map(\.name).filter { $0 != "download" }, ["mark", "json_error"])
        guard case .jsonError(1, .permissionDenied, _)? = log.last else {
            throw HarnessError("expected the first refusal")
        }
    }

    @Test func theRefusalOfAnUploadIsToldWhereAMarkIsNotAnsweredAnyMore() throws {
        for end in [.refused(refusal(.badClientFileIdent)), .requestFailed(GatewayError(.timeout, "late"))]
            as [SessionEvent]
        {
            var script = try marked()
            try script.client(.upload(SessionScript.upload(2)))
            try script.cluster(.refused(refusal(.permissionDenied), isAnswer: false), 1)
            try script.cluster(end, 1)
            guard case .jsonError(1, .permissionDenied, _)? = script.takeLog().last else {
                throw HarnessError("expected the refusal of the upload")
            }
        }
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
}

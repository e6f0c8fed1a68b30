import Messages
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

/// What a session says to an owner that asks whether an IDENT is still meant.
@Suite struct ConfirmationTests {
    /// A session whose IDENT no owner has answered.
    private func identifying() throws -> SessionScript {
        var script = SessionScript()
        try script.client(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: true)))
        guard case .ident(_, let file)? = script.takeLog().last else { throw HarnessError("expected an IDENT") }
        script.holdsAnswers = true
        try script.client(
            .ident(
                Ident(
                    session: 1, file: file, download: .init(serverVersion: 5, clientVersion: 3),
                    latest: .init(version: 5, salt: 77))))
        return script
    }

    @Test func aSessionThatWaitsSaysTheSameAgainWithTheQuestionsNumber() throws {
        var script = try identifying()
        expectEqual(script.identifies.map(\.confirms), [0])
        try script.cluster(.confirm(ConfirmAnswer(question: 7)), 1)
        expectEqual(script.identifies.map(\.confirms), [0, 7])
        var again = script.identifies[1]
        again.confirms = 0
        expectEqual(again, script.identifies[0])
        expectEqual(again.download, DownloadCursor(serverVersion: 5, clientVersion: 3))
        // The owner changed in between.
        try script.cluster(.confirm(ConfirmAnswer(question: 8)), 1)
        expectEqual(script.identifies.map(\.confirms), [0, 7, 8])
        expectTrue(script.takeLog().isEmpty)
    }

    @Test func aSessionThatWasAnsweredSaysNothing() throws {
        var script = try identifying()
        try script.cluster(
            .identified(
                IdentifiedAnswer(
                    generation: 1, upload: .init(clientVersion: 3, serverVersion: 5), lockedServerVersion: 5,
                    latest: .init(version: 5, salt: 77))), 1)
        try script.cluster(.confirm(ConfirmAnswer(question: 7)), 1)
        expectEqual(script.identifies.count, 1)
    }

    @Test func aSessionThatHasEndedSaysNothing() throws {
        var script = try identifying()
        try script.cluster(.requestFailed(GatewayError(.timeout, "")), 1)
        try script.cluster(.confirm(ConfirmAnswer(question: 7)), 1)
        expectEqual(script.identifies.count, 1)
    }

    // MARK: How far uploads counted

    private func told(
        _ event: SessionEvent, isOurs: Bool = true, _ before: (inout SessionScript) throws -> Void = { _ in }
    ) throws -> JSONErrorBody {
        var script = try SessionScript.live(isOurs: isOurs)
        try before(&script)
        try script.cluster(event, 1)
        guard case .jsonError(1, _, let body)? = script.takeLog().last else { throw HarnessError("expected an error") }
        return body
    }

    private func refusal(_ action: ErrorAction) -> SessionEvent {
        .refused(
            RefusedAnswer(
                realm: SessionScript.name, session: SessionReference(gateway: "g", number: 1), code: 208,
                action: action,
                message: "", tryAgain: true, clientFile: 2, campaign: "c", integrated: 17))
    }

    private func notice(of file: FileIdent?) -> SessionEvent {
        .reset(
            ResetNotice(
                app: "tasks", partition: file == nil ? nil : "\"tasks\"", slice: SliceNumber(0), generation: 2,
                clientFile: file, campaign: "c", code: 208, message: "", integrated: 17))
    }

    @Test func aResetSaysHowFarUploadsCounted() throws {
        try expectEqual(told(refusal("ClientReset")).integratedClientVersion, 17)
        try expectEqual(told(refusal("ClientResetNoRecovery")).integratedClientVersion, 17)
        try expectEqual(told(notice(of: 2)).integratedClientVersion, 17)
    }

    @Test func stockClientsAreSentNothingBeyondTheProtocol() throws {
        try expectTrue(told(refusal("ClientReset"), isOurs: false).integratedClientVersion == nil)
        try expectTrue(told(notice(of: 2), isOurs: false).integratedClientVersion == nil)
    }

    @Test func nothingIsSaidWhereItIsNotKnown() throws {
        try expectTrue(told(refusal("Transient")).integratedClientVersion == nil)
        // The notice is of every client realm, so of none in particular.
        try expectTrue(told(notice(of: nil)).integratedClientVersion == nil)
        let broken = try told(notice(of: 2)) { script in
            try script.event(
                .violation(
                    SyncProtocolError(.badClientVersion, session: 1, action: .clientReset, "it gave a number twice")), 1
            )
        }
        expectTrue(broken.integratedClientVersion == nil)
    }
}

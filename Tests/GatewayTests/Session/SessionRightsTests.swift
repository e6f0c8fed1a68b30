import Messages
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

/// What a session makes of what its user may do.
@Suite struct SessionRightsTests {
    static let newer = SessionRights(.readWrite, rulesVersion: 2)

    @Test func everythingThatIsAskedSaysWhatTheSessionMay() throws {
        var script = SessionScript()
        script.rights = SessionRights(.read, rulesVersion: 7)
        try script.client(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: true)))
        try SessionScript.identify(&script)
        try script.client(.upload(SessionScript.upload(1)))
        var told: [SessionRights?] = []
        for action in script.actions {
            switch action {
            case .subscribeAndBind(let request): told.append(request.context.rights)
            case .identify(let request): told.append(request.context.rights)
            case .page(let request, _): told.append(request.context.rights)
            case .publish(let message, _): told.append(message.upload?.rights)
            default: break
            }
        }
        expectTrue(told.count == 4 && told.allSatisfy { $0 == script.rights })
    }

    @Test func newRulesThatChangeNothingDisturbNobody() throws {
        var script = try SessionScript.live()
        try script.cluster(.judged(Self.newer), 1)
        expectTrue(script.takeLog().isEmpty)
        try script.client(.upload(SessionScript.upload(1)))
        expectEqual(script.uploads.last?.rights, Self.newer)
        // A judgement that was made before the one in force comes too late.
        try script.cluster(.judged(SessionRights(.none, rulesVersion: 1)), 1)
        expectEqual(script.session(1)?.rights, Self.newer)
    }

    @Test(arguments: [PartitionRights.none, .read])
    func sessionBindsAgainWhenItsRightsChange(rights: PartitionRights) throws {
        var script = try SessionScript.live()
        try script.cluster(.judged(SessionRights(rights, rulesVersion: 2)), 1)
        guard case .jsonError(1, let code, let body)? = script.takeLog().last else {
            throw HarnessError("expected JSON_ERROR")
        }
        expectTrue(code == 200 && body.action == "Transient" && body.tryAgain && body.backoff == nil)
        let before = script.uploads.count
        try script.client(.upload(SessionScript.upload(1)))
        expectTrue(script.uploads.count == before && script.takeLog().isEmpty)
    }

    @Test func refusalForChangedRulesEndsTheSessionTemporarily() throws {
        var script = try SessionScript.live()
        let reference = try #require(script.session(1)?.context.reference)
        try script.cluster(
            .refused(
                RefusedAnswer(
                    realm: SessionScript.name, session: reference, code: 200, action: "Transient",
                    message: "the rules of app tasks have changed", tryAgain: true, rulesVersion: 2)), 1)
        guard case .jsonError(1, let code, let body)? = script.takeLog().last else {
            throw HarnessError("expected JSON_ERROR")
        }
        expectTrue(code == 200 && body.action == "Transient" && body.tryAgain)
    }

    @Test func waitingUploadIsSentUnderTheNewestRules() throws {
        var script = SessionScript()
        script.realm.salts = [2: 5]
        script.holdsAnswers = true
        try script.client(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: false)))
        try script.client(.ident(Ident(session: 1, file: ClientFileIdent(ident: 2, salt: 5))))
        try script.client(.upload(SessionScript.upload(2)))
        try script.cluster(.judged(Self.newer), 1)
        try script.release()
        expectEqual(script.uploads.map(\.rights), [Self.newer])
    }
}

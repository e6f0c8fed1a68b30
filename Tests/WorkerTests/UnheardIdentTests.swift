import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Idents that were given out and whose clients have never heard of them.
@Suite(.hangGuard) struct UnheardIdentTests {
    /// A client whose BIND came to two owners: the first died with the ident on disk and the answer unsent, and the next one, to
    /// which the same request was delivered again, gave it another ident.
    private func bindTwice() async throws -> (harness: OwnerHarness, unheard: ClientFileIdent, known: ClientFileIdent) {
        let first = try await OwnerHarness.make()
        let request = first.bindRequest(session: 1)
        let unheard = try #require(try await first.send(request).one(BoundAnswer.self).clientFile)
        let next = try await OwnerHarness.make(on: first.store, control: first.control)
        let known = try #require(try await next.send(request).one(BoundAnswer.self).clientFile)
        expectTrue(known.ident != unheard.ident)
        _ = try await next.identify(known, session: 1).one(IdentifiedAnswer.self)
        return (next, unheard, known)
    }

    @Test func areNotFoundByATermination() async throws {
        let (harness, unheard, known) = try await bindTwice()
        let found = try await harness.send(
            TerminationMessage(app: OwnerHarness.app, campaign: "c", generation: 2, reason: nil)
        ).one(FoundReport.self)
        expectEqual(found.clientRealms.map(\.clientFile), [known.ident])
        // A client that has the ident all the same is told of the campaign, which counts the client from then on.
        let refusal = try await harness.rejoin(unheard, session: 2).one(RefusedAnswer.self)
        expectTrue(refusal.campaign == "c" && refusal.clientFile == unheard.ident)
    }

    @Test func areNotFoundByStepsEither() async throws {
        let (harness, _, known) = try await bindTwice()
        var limits = WorkerLimits()
        limits.termination.atOnce = 0
        let next = try await OwnerHarness.make(limits: limits, on: harness.store, control: harness.control)
        try await next.send(TerminationMessage(app: OwnerHarness.app, campaign: "c", generation: 2, reason: nil))
        let found = try await next.finishJobs().every(FoundReport.self)
        expectEqual(found.flatMap(\.clientRealms).map(\.clientFile), [known.ident])
    }

    @Test func areNotFoundByAResetOrAnErasure() async throws {
        for isErasure in [false, true] {
            let (harness, _, known) = try await bindTwice()
            var published: Published
            if isErasure {
                try await harness.send(EraseMessage(realm: harness.realm, campaign: "c", reason: nil))
                published = try await harness.finishJobs()
            } else {
                published = try await harness.send(
                    ResetMessage(realm: harness.realm, clientFile: nil, campaign: "c", reason: nil))
            }
            let found = try published.one(FoundReport.self)
            expectEqual(found.clientRealms.map(\.clientFile), [known.ident])
        }
    }
}

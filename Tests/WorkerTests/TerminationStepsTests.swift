import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Terminations of more client files than one message's turn marks.
@Suite(.hangGuard) struct TerminationStepsTests {
    private static var limits: WorkerLimits {
        var limits = WorkerLimits()
        limits.termination.atOnce = 3
        limits.termination.rowsPerStep = 2
        limits.maxFoundPerReport = 2
        return limits
    }

    private func filled(
        on store: (any SliceStore)? = nil, limits: WorkerLimits = Self.limits
    ) async throws -> (harness: OwnerHarness, files: [ClientFileIdent]) {
        let harness = try await OwnerHarness.make(limits: limits, on: store)
        var files: [ClientFileIdent] = []
        for session in 1...7 as ClosedRange<UInt64> {
            files.append(try await harness.join(session: session, user: "u\(session)", connection: "c\(session)"))
        }
        return (harness, files)
    }

    private func termination(_ campaign: String = "c-1", _ generation: UInt64 = 2) -> TerminationMessage {
        TerminationMessage(app: OwnerHarness.app, campaign: campaign, generation: generation, reason: "test")
    }

    @Test func othersHaveTheirTurnInBetweenAndEverybodyIsFoundOnce() async throws {
        let (harness, files) = try await filled()
        let first = try await harness.send(termination())
        try expectTrue(first.every(FoundReport.self).isEmpty)
        try expectEqual(first.one(ResetNotice.self).campaign, "c-1")
        try await expectEqual(harness.store.countClientFiles(campaign: "c-1"), 0)
        // The last is not marked yet, and is told all the same.
        let refusal = try await harness.rejoin(files[6], session: 20, user: "u7").one(RefusedAnswer.self)
        expectTrue(refusal.code == .badClientFileIdent && refusal.campaign == "c-1" && refusal.message == "test")
        let late = try await harness.send(harness.upload(files[5], session: 6, [Changes.schema()]))
        try expectEqual(late.one(RefusedAnswer.self).campaign, "c-1")
        var steps = 0
        var found: [FoundReport] = []
        while await harness.owner.hasJobs {
            let made = try await harness.owner.goOnWithJobs(for: .zero)
            await harness.owner.arrived(made)
            found += try Published(made).every(FoundReport.self)
            steps += 1
            _ = try await harness.send(TickMessage(at: harness.time.now()))
        }
        expectTrue(steps >= 8)
        expectTrue(found.map(\.chunk) == [0, 1, 2, 3] && found.allSatisfy { $0.chunks == 4 && $0.reason == "test" })
        expectEqual(found.flatMap(\.clientRealms).map(\.clientFile), files.map(\.ident))
        try await expectEqual(harness.store.countClientFiles(campaign: "c-1"), 7)
        try await expectTrue(harness.store.terminationSteps().isEmpty)
        let new = try await harness.join(session: 30, user: "new")
        expectTrue(new.ident > files[6].ident)
    }

    @Test func clientsResettingBeforeTheirRowIsReachedAreStillFound() async throws {
        let (harness, files) = try await filled()
        try await harness.send(termination())
        // The client of the last file is told by its gateway and makes its fresh copy at once.
        _ = try await harness.unbind(files[6], session: 7, user: "u7", connection: "c7")
        let bound = try await harness.send(harness.bindRequest(session: 21, user: "u7", connection: "c7"))
            .one(BoundAnswer.self)
        let fresh = try #require(bound.clientFile)
        expectEqual(bound.generation, 2)
        let row = ClientFileKey(realm: try await harness.record().id, ident: fresh.ident)
        try await expectEqual(harness.store.clientFile(row)?.resetOf, files[6].ident)
        let found = try await harness.finishJobs().every(FoundReport.self)
        expectEqual(found.flatMap(\.clientRealms).map(\.clientFile), files.map(\.ident))
        try await expectEqual(harness.store.clientFile(row)?.state, .live)
    }

    @Test func clientsThatComeBackMeanwhileWaitForTheirTurnAsAllWill() async throws {
        var limits = Self.limits
        limits.resetsAtOnce = 3
        limits.resetsPerSecond = 1
        let (harness, _) = try await filled(limits: limits)
        try await harness.send(termination())
        var told: [UInt64: Int64] = [:]
        for number in 1...7 as ClosedRange<UInt64> {
            let answer = try await harness.send(
                harness.bindRequest(session: 20 + number, user: "u\(number)", connection: "c\(number)"))
            told[number] = try answer.every(RefusedAnswer.self).first?.backoff?.intervalSeconds
        }
        let expected = ResetPace(generation: 2, startedAt: 0, clientRealms: 7, limits: limits)
        for number in 1...7 as ClosedRange<UInt64> {
            let wait = expected.wait(user: "u\(number)", partition: harness.realm.partition, at: 0)
            expectEqual(told[number], wait.map { Int64($0) })
        }
        expectTrue(!told.isEmpty)
        // A new client waits for nobody.
        _ = try await harness.join(session: 40, user: "new", connection: "new")
    }

    @Test func aRepetitionReportsAgainAndMarksNobody() async throws {
        let (harness, files) = try await filled()
        try await harness.send(termination())
        // While it goes on, there is nothing to repeat but the notice.
        try await expectEqual(harness.send(termination()).one(ResetNotice.self).campaign, "c-1")
        try await expectEqual(harness.finishJobs().every(FoundReport.self).count, 4)
        let new = try await harness.join(session: 30, user: "new")
        try await harness.send(termination())
        let again = try await harness.finishJobs().every(FoundReport.self)
        expectEqual(again.flatMap(\.clientRealms).map(\.clientFile), files.map(\.ident))
        _ = try await harness.rejoin(new, session: 31, user: "new").one(IdentifiedAnswer.self)
    }

    @Test func whateverElseTakesClientFilesAwayComesAfterIt() async throws {
        let (harness, files) = try await filled()
        try await harness.send(termination())
        let deliveries = await harness.owner.read([
            try .init(EraseMessage(realm: harness.realm, campaign: "e-1", reason: nil), id: "e"),
            try .init(termination("c-2", 3), id: "t"),
            try .init(TickMessage(at: harness.time.now()), id: "tick"),
        ])
        let turn = try await harness.owner.deal(with: deliveries)
        expectTrue(turn.left == [0, 1] && !turn.isIdle)
        try await expectTrue(harness.owner.deal(with: Array(deliveries[..<2])).isIdle)
        let first = try await harness.finishJobs().every(FoundReport.self)
        expectEqual(first.flatMap(\.clientRealms).map(\.clientFile), files.map(\.ident))
        // Both messages find whom they would have found had the first termination been done at once.
        let after = try await harness.owner.deal(with: Array(deliveries[..<2]))
        expectTrue(after.left.isEmpty)
        let found = try await harness.finishJobs().every(FoundReport.self)
        expectEqual(found.filter { $0.campaign == "e-1" }.flatMap(\.clientRealms).map(\.clientFile), files.map(\.ident))
    }

    @Test func aSecondTerminationTakesOverWhoHasYetToReset() async throws {
        let (harness, files) = try await filled()
        try await harness.send([
            .init(termination(), id: "1", correlationID: "c", replyTo: "q"),
            .init(termination("c-2", 3), id: "2", correlationID: "c", replyTo: "q"),
        ])
        try await expectEqual(harness.rejoin(files[6], session: 20, user: "u7").one(RefusedAnswer.self).campaign, "c-2")
        try await harness.finishJobs()
        try await expectEqual(harness.store.countClientFiles(campaign: "c-2"), 7)
        try await expectEqual(harness.store.countClientFiles(campaign: "c-1"), 0)
    }

    @Test func aResetOfTheRealmMeanwhileFindsNobodyLive() async throws {
        let (harness, _) = try await filled()
        try await harness.send(termination())
        let reset = ResetMessage(realm: harness.realm, clientFile: nil, campaign: "r-1", reason: nil)
        try await expectTrue(harness.send(reset).one(FoundReport.self).clientRealms.isEmpty)
        try await harness.finishJobs()
        try await expectEqual(harness.store.countClientFiles(campaign: "c-1"), 7)
    }

    @Test func itSurvivesItsOwnersAtEveryStep() async throws {
        let store = CountingStore()
        var (harness, files) = try await filled(on: store)
        try await harness.send(termination())
        var found: [Int: FoundReport] = [:]
        var owners = 0
        repeat {
            owners += 1
            harness = try await OwnerHarness.make(limits: Self.limits, on: store, control: harness.control)
            // What an owner before has committed and not published is published first.
            for report in try await harness.send([]).every(FoundReport.self) { found[report.chunk] = report }
            if owners == 2 {
                let refusal = try await harness.rejoin(files[6], session: 20, user: "u7").one(RefusedAnswer.self)
                expectEqual(refusal.campaign, "c-1")
            }
            _ = try await harness.owner.goOnWithJobs(for: .zero)
        } while try await !store.terminationSteps().isEmpty && owners < 99
        harness = try await OwnerHarness.make(limits: Self.limits, on: store, control: harness.control)
        for report in try await harness.send([]).every(FoundReport.self) { found[report.chunk] = report }
        expectTrue(owners >= 8 && found.count == 4)
        expectEqual(found.values.flatMap(\.clientRealms).map(\.clientFile).sorted(), files.map(\.ident))
    }
}

import AMQP
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Resets of realms with more client files than one message's turn goes through.
@Suite(.hangGuard) struct RealmResetStepsTests {
    private static var limits: WorkerLimits {
        var limits = WorkerLimits()
        limits.termination.atOnce = 3
        limits.termination.rowsPerStep = 2
        limits.maxFoundPerReport = 2
        return limits
    }

    private func filled(
        on store: (any SliceStore)? = nil
    ) async throws -> (harness: OwnerHarness, files: [ClientFileIdent]) {
        let harness = try await OwnerHarness.make(limits: Self.limits, on: store)
        var files: [ClientFileIdent] = []
        for session in 1...7 as ClosedRange<UInt64> {
            files.append(try await harness.join(session: session, user: "u\(session)"))
        }
        return (harness, files)
    }

    private func request(_ harness: OwnerHarness) async throws -> [SliceDelivery] {
        let message = ResetMessage(realm: harness.realm, clientFile: nil, campaign: "r-1", reason: "why")
        return await harness.owner.read([try AMQPMessage(message, id: "reset")])
    }

    private func expectAll(_ files: [ClientFileIdent], _ published: [Publication]) throws {
        let reports = try Published(published).every(FoundReport.self)
        expectEqual(reports.map(\.chunk), [0, 1, 2, 3])
        expectTrue(reports.allSatisfy { $0.chunks == 4 && $0.reason == "why" && $0.generation == 1 })
        expectEqual(reports.flatMap(\.clientRealms).map(\.clientFile), files.map(\.ident))
        let told = try Published(published).every(ResetNotice.self)
        expectEqual(told.map(\.clientFile), files.map { Optional($0.ident) })
        expectTrue(told.allSatisfy { $0.campaign == "r-1" && $0.message == "why" })
    }

    @Test func othersHaveTheirTurnInBetweenAndEverybodyIsFoundAndToldOnce() async throws {
        let (harness, files) = try await filled()
        let message = try await request(harness)
        var turn = try await harness.owner.deal(with: message)
        expectEqual(turn.left, [0])
        var published = turn.publications
        var steps = 0
        while await harness.owner.hasJobs {
            published += try await harness.owner.goOnWithJobs(for: .zero)
            steps += 1
            let tick = await harness.owner.read([try AMQPMessage(TickMessage(at: harness.time.now()))])
            if await harness.owner.hasJobs {
                turn = try await harness.owner.deal(with: message + tick)
                expectEqual(turn.left, [0])
            }
        }
        expectTrue(steps >= 8)
        turn = try await harness.owner.deal(with: message)
        expectTrue(turn.left.isEmpty)
        try expectAll(files, published + turn.publications)
    }

    @Test func aClientFileThatComesAfterTheMarksHasNothingToDoWithIt() async throws {
        let (harness, files) = try await filled()
        let message = try await request(harness)
        _ = try await harness.owner.deal(with: message)
        var published: [Publication] = []
        while try await harness.store.countClientFiles(campaign: "r-1") < files.count {
            published += try await harness.owner.goOnWithJobs(for: .zero)
        }
        // The marks end with a part that is not full.
        published += try await harness.owner.goOnWithJobs(for: .zero)
        let late = try await harness.join(session: 20, user: "late")
        published += try await harness.finishJobs().all
        published += try await harness.owner.deal(with: message).publications
        try expectAll(files, published)
        _ = try await harness.identify(late, session: 21, user: "late").one(IdentifiedAnswer.self)
    }

    @Test(arguments: 0...9) func anotherOwnerGoesOnWhereverTheFirstHasStopped(steps: Int) async throws {
        let store = CountingStore()
        let (harness, files) = try await filled(on: store)
        _ = try await harness.owner.deal(with: try await request(harness))
        for _ in 0..<steps { _ = try await harness.owner.goOnWithJobs(for: .zero) }
        let next = try await OwnerHarness.make(limits: Self.limits, on: store, control: harness.control)
        let message = try await request(next)
        var published = try await next.owner.deal(with: message).publications
        published += try await next.finishJobs().all
        let last = try await next.owner.deal(with: message)
        expectTrue(last.left.isEmpty)
        try expectAll(files, published + last.publications)
    }

    /// The same campaign once more, as a message comes again that was acknowledged too late.
    @Test func aRepetitionReportsTheSame() async throws {
        let (harness, files) = try await filled()
        for _ in 1...2 {
            let published = try await harness.send(
                ResetMessage(realm: harness.realm, clientFile: nil, campaign: "r-1", reason: "why"))
            try expectAll(files, published.all)
        }
    }
}

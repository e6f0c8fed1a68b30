import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// The state machine alone, row by row (docs/resets.md, "Inference").
@Suite struct ResetCaseTests {
    private let quiet: UInt64 = 10_000
    private let start: UInt64 = 1_800_000_000_000
    private let copying = SessionReference(gateway: "g", number: 10)
    private let merging = SessionReference(gateway: "g", number: 11)

    private func opened(mayRecover: Bool = true) -> ResetCase {
        ResetCase(
            name: RealmName(app: "tasks", partition: "\"p\""), user: "u", identOld: 2, campaign: "c", connection: "c1",
            mayRecover: mayRecover, openedAt: start)
    }

    private func run(_ resetCase: inout ResetCase, _ events: [ResetEvent]) -> [ResetCase.Conclusion] {
        var now = start
        return events.compactMap { event in
            now += 1_000
            return resetCase.take(event, at: now, quiet: quiet)
        }
    }

    private var freshCopy: [ResetEvent] {
        [
            .boundFresh(ident: 3, session: copying, isSameConnection: true),
            .identified(ident: 3, session: copying, clientVersion: 0), .marked, .unbound(session: copying),
        ]
    }

    private var merge: [ResetEvent] {
        [.bound(session: merging), .identified(ident: 3, session: merging, clientVersion: 0)]
    }

    private func changesetTime(_ offset: Int64) -> SyncTimestamp {
        SyncTimestamp(unixMilliseconds: Int64(start) + offset)
    }

    @Test func olderWritesAfterTheMergeAreRecovered() {
        var subject = opened()
        let conclusions = run(
            &subject,
            freshCopy + merge + [.uploaded(timestamps: [changesetTime(-5_000), changesetTime(-4_000)]), .marked])
        expectEqual(conclusions.map(\.result), [.recovered])
        expectEqual(conclusions.map(\.recovered), [2])
        expectTrue((conclusions.first?.confidence ?? 0) > 0.8)
        expectEqual(subject.identNew, 3)
        expectTrue(subject.isClosed)
    }

    @Test func newWritesAfterTheMergeAreNoRecovery() {
        var subject = opened()
        let conclusions = run(
            &subject,
            freshCopy + merge + [
                .uploaded(timestamps: [changesetTime(600_000)]), .marked,
                .unbound(session: merging),
            ])
        expectEqual(conclusions.map(\.result), [.notNeeded])
        expectEqual(conclusions.map(\.confidence), [0.5])
    }

    @Test func quietAfterTheMarkMeansThatNothingWasToRecover() {
        var subject = opened()
        expectTrue(run(&subject, freshCopy + merge + [.marked]).isEmpty)
        expectTrue(subject.dueAt != nil)
        expectTrue(subject.take(.tick, at: start + 8_000, quiet: quiet) == nil)
        expectEqual(subject.take(.tick, at: start + 60_000, quiet: quiet)?.result, .notNeeded)
        expectTrue(subject.dueAt == nil)
    }

    @Test func silenceWhereTheAppAllowsNoRecoveryIsADiscard() {
        var subject = opened(mayRecover: false)
        _ = run(&subject, freshCopy + merge + [.marked])
        expectEqual(subject.take(.tick, at: start + 60_000, quiet: quiet)?.result, .discarded)
    }

    @Test func silenceAfterASecondAttemptIsConcludedLikewise() {
        var subject = opened()
        let conclusions = run(
            &subject,
            freshCopy + merge + [.marked, .unbound(session: merging), .refused(connection: "c1")] + freshCopy + merge
                + [.marked, .unbound(session: merging)])
        expectEqual(conclusions.map(\.result), [.notNeeded, .interrupted, .notNeeded])
    }

    @Test func aMergedCaseThatIsOvertakenIsSuperseded() {
        var subject = opened()
        let conclusions = run(
            &subject, freshCopy + merge + [.marked, .overtaken(campaign: "d"), .overtaken(campaign: "e")])
        expectEqual(conclusions.map(\.supersededBy), ["d"])
        expectTrue(subject.isClosed && subject.dueAt == nil)
    }

    @Test func anOvertakenCopyIsFollowedByAnother() {
        var subject = opened()
        expectTrue(run(&subject, [freshCopy[0], .overtaken(campaign: "d")]).isEmpty)
        expectTrue(subject.awaitsIdent && subject.isCopying(3))
        let again = SessionReference(gateway: "g", number: 20)
        expectTrue(
            run(
                &subject,
                [
                    .boundFresh(ident: 5, session: again, isSameConnection: true), .marked, .unbound(session: again),
                    .bound(session: merging), .identified(ident: 5, session: merging, clientVersion: 0),
                ]
            ).isEmpty)
        expectTrue(subject.hasAbandoned(3) && !subject.hasAbandoned(5))
    }

    @Test func aCompleteCopyOutlivesBeingOvertaken() {
        var subject = opened()
        expectTrue(run(&subject, freshCopy + [.overtaken(campaign: "d")] + merge).isEmpty)
        expectEqual(subject.identInUse, 3)
    }

    @Test func aCaseThatMovesToAnotherCampaignTellsThatOneWhatItTold() {
        var subject = opened()
        let failure = freshCopy + [.bound(session: merging), .left(session: merging, isOwnChoice: true)]
        expectEqual(run(&subject, failure).map(\.result), [.failed])
        subject.move(to: "d")
        expectEqual(run(&subject, failure).map(\.result), [.failed])
    }

    @Test func lateRecoveredWritesCorrectWhatSilenceSaid() {
        var subject = opened()
        _ = run(&subject, freshCopy + merge + [.marked, .unbound(session: merging)])
        let later = subject.take(.uploaded(timestamps: [changesetTime(-1)]), at: start + 99_000, quiet: quiet)
        expectEqual(later?.result, .recovered)
    }

    @Test func leavingWithoutIdentAfterTheCopyIsAFailure() {
        var subject = opened()
        let conclusions = run(
            &subject, freshCopy + [.bound(session: merging), .left(session: merging, isOwnChoice: true)])
        expectEqual(conclusions.map(\.result), [.failed])
        expectTrue(subject.awaitsIdent)
    }

    @Test func leavingSoIsAFailureEvenIfTheBindWasNeverHeardOf() {
        var subject = opened()
        let conclusions = run(
            &subject, freshCopy + [.left(session: merging, isOwnChoice: true), .bound(session: merging)])
        expectEqual(conclusions.map(\.result), [.failed])
        expectEqual(subject.phase, .failed)
    }

    @Test func aClientThatIsCutOffBeforeItsIdentComesBackAndRecovers() {
        var subject = opened()
        let again = SessionReference(gateway: "g", number: 12)
        let conclusions = run(
            &subject,
            freshCopy + [
                .bound(session: merging), .left(session: merging, isOwnChoice: false), .bound(session: again),
                .identified(ident: 3, session: again, clientVersion: 0), .uploaded(timestamps: [changesetTime(-5_000)]),
                .marked,
            ])
        expectEqual(conclusions.map(\.result), [.recovered])
    }

    @Test func aSessionSentAwayBeforeTheCopyIsCompleteIsNoFailure() {
        var subject = opened()
        expectTrue(run(&subject, [freshCopy[0], .left(session: merging, isOwnChoice: true)]).isEmpty)
        expectTrue(subject.conclusion == nil)
    }

    @Test func aNewFileThatUploadsIsAManualReset() {
        var subject = opened()
        let conclusions = run(
            &subject,
            [
                .boundFresh(ident: 4, session: copying, isSameConnection: false),
                .identified(ident: 3, session: copying, clientVersion: 0),
                .uploaded(timestamps: [changesetTime(5_000)]),
            ])
        expectEqual(conclusions.map(\.result), [.manualHandled])
        expectTrue((conclusions.first?.confidence ?? 1) < 0.5)
        expectEqual(subject.identNew, 4)
    }

    @Test func anotherDeviceThatComesAndGoesChangesNothing() {
        var subject = opened()
        expectTrue(
            run(
                &subject,
                [
                    .boundFresh(ident: 4, session: copying, isSameConnection: false),
                    .unbound(session: copying),
                ]
            ).isEmpty)
        expectEqual(subject.phase, .notified)
    }

    @Test func theOldIdentAgainIsAnotherAttempt() {
        var subject = opened()
        let conclusions = run(
            &subject,
            freshCopy + merge + [
                .marked, .unbound(session: merging), .refused(connection: "c9"),
            ])
        expectEqual(conclusions.map(\.result), [.notNeeded, .interrupted])
        expectEqual(subject.attempt, 2)
        expectEqual(subject.phase, .notified)
        expectEqual(subject.connection, "c9")
    }

    @Test func aResumedCopyIsFollowedByTheMerge() {
        var subject = opened()
        let resumed = SessionReference(gateway: "g", number: 20)
        let conclusions = run(
            &subject,
            [
                .boundFresh(ident: 3, session: copying, isSameConnection: true),
                .unbound(session: copying), .identified(ident: 3, session: resumed, clientVersion: 0),
                .marked,
                .unbound(session: resumed),
            ] + merge + [.uploaded(timestamps: [changesetTime(-9)])])
        expectEqual(conclusions.map(\.result), [.recovered])
    }

    @Test func anIdentThatWasAnsweredTooLateIsFollowedByAnother() {
        var subject = opened()
        let again = SessionReference(gateway: "g", number: 20)
        let conclusions = run(
            &subject,
            [
                .boundFresh(ident: 9, session: copying, isSameConnection: true),
                .left(session: copying, isOwnChoice: false),
                .boundFresh(ident: 3, session: again, isSameConnection: true),
                .identified(ident: 3, session: again, clientVersion: 0), .marked, .unbound(session: again),
            ] + merge + [.uploaded(timestamps: [changesetTime(-9)])])
        expectEqual(conclusions.map(\.result), [.recovered])
        expectEqual(subject.identNew, 3)
    }

    @Test func aFreshCopyThatWasKeptOverTheErrorGoesOn() {
        var subject = opened()
        let resumed = SessionReference(gateway: "g", number: 20)
        let conclusions = run(
            &subject,
            [
                .boundFresh(ident: 3, session: copying, isSameConnection: true),
                .identified(ident: 3, session: copying, clientVersion: 0), .unbound(session: copying),
                .refused(connection: "c1"), .identified(ident: 3, session: resumed, clientVersion: 0), .marked,
                .unbound(session: resumed),
            ] + merge + [.uploaded(timestamps: [changesetTime(-9)])])
        expectEqual(conclusions.map(\.result), [.recovered])
        expectEqual(subject.identNew, 3)
    }

    @Test func aCaseSurvivesItsRecord() throws {
        var subject = opened()
        _ = run(&subject, freshCopy + merge)
        try expectEqual(ResetCase(subject.record(realm: .init(1))), subject)
    }
}

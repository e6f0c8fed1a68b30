import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// docs/resets.md, "Steps" and "Fresh copy", event by event.
struct ResetMachineTests {
    private func attempt(
        _ mode: ResetMode = .recover, _ action: PendingReset.Action = .clientReset, id: String = "1"
    ) -> ResetAttempt {
        ResetAttempt(id: id, action: action, mode: mode, errorCode: 208, errorMessage: "sync was terminated")
    }

    private func body(_ action: ErrorAction, tryAgain: Bool = false) -> JSONErrorBody {
        JSONErrorBody(message: "why", action: action, tryAgain: tryAgain)
    }

    private func downloading(_ attempt: ResetAttempt) -> ResetMachine {
        var machine = ResetMachine()
        _ = machine.demanded(attempt, isEmpty: false)
        return machine
    }

    private func readyToMerge(_ attempt: ResetAttempt) -> ResetMachine {
        var machine = downloading(attempt)
        _ = machine.freshDownloaded()
        return machine
    }

    @Test(arguments: [ResetMode.recover, .recoverOrDiscard, .discard])
    func automaticResetDownloadsMergesAndWaitsForTheServer(mode: ResetMode) {
        let attempt = attempt(mode)
        var machine = ResetMachine()
        machine.started(hasRecord: false)
        expectTrue(!machine.isUnderWay)
        expectEqual(machine.demanded(attempt, isEmpty: false), [.note(attempt), .downloadFresh])
        expectEqual(machine.phase, .downloading(attempt))
        expectEqual(machine.freshDownloaded(), [.endFreshSession, .startSession(holdsIdent: true)])
        expectTrue(machine.isUnderWay)
        expectEqual(machine.bindSent(version: 7), [.merge(attempt, showsBefore: true)])
        expectEqual(machine.merged(), [.deleteFresh])
        expectTrue(!machine.isUnderWay && machine.awaitsAcknowledgement)
        machine.acknowledged()
        expectEqual(machine.phase, .none)
    }

    @Test func manualModeIsLeftToTheAppAndNothingIsDownloaded() {
        let attempt = attempt(.manual)
        var machine = ResetMachine()
        expectEqual(machine.demanded(attempt, isEmpty: false), [.deleteFresh, .leaveToApp(attempt, nil)])
        expectTrue(machine.isLeftToApp)
        // The session that is stopped for it changes nothing.
        expectTrue(machine.dropped().isEmpty)
        expectTrue(machine.isLeftToApp)
    }

    @Test func recoveryThatTheServerForbidsIsLeftToTheApp() {
        let attempt = attempt(.recover, .clientResetNoRecovery)
        var machine = ResetMachine()
        let failure = ResetFailure("the server does not allow recovery")
        expectEqual(machine.demanded(attempt, isEmpty: false), [.deleteFresh, .leaveToApp(attempt, failure)])
        expectTrue(machine.isLeftToApp)
    }

    @Test func realmThatWasNeverWrittenBeginsAnew() {
        let attempt = attempt()
        var machine = ResetMachine()
        expectEqual(machine.demanded(attempt, isEmpty: true), [.startOver(attempt)])
        expectEqual(machine.phase, .none)
    }

    @Test func sessionWithoutAResetIsNoBusinessOfTheMachine() {
        var machine = ResetMachine()
        expectTrue(machine.freshDownloaded().isEmpty)
        expectTrue(machine.connected().isEmpty)
        expectTrue(machine.bindSent(version: 3).isEmpty)
        expectEqual(machine.freshFailed(body(.clientReset)), .actions([]))
        expectTrue(machine.interrupted(freshIsDamaged: false).isEmpty)
        expectTrue(machine.dropped().isEmpty)
        expectEqual(machine.resumed(), [.startSession(holdsIdent: false)])
    }

    // MARK: The fresh copy

    @Test func temporaryErrorOfTheFreshCopyIsWaitedOut() {
        var machine = downloading(attempt())
        expectEqual(machine.freshFailed(body(.transient, tryAgain: true)), .retry)
        expectEqual(machine.freshFailed(body(.warning, tryAgain: true)), .retry)
        expectEqual(machine.freshFailed(body(.refreshUser)), .refreshUser)
        expectEqual(machine.phase, .downloading(attempt()))
    }

    @Test func freshCopyThatMustResetIsReplacedOnce() {
        var attempt = attempt()
        attempt.integrated = 9
        var machine = downloading(attempt)
        let replacement = ResetMachine.FreshError.actions([.endFreshSession, .deleteFresh, .downloadFresh])
        expectEqual(machine.freshFailed(body(.clientReset)), replacement)
        // What the server had said of its state may hold no longer.
        attempt.integrated = nil
        expectEqual(machine.phase, .downloading(attempt))
        let failure = ResetFailure("the fresh copy could not be downloaded: why")
        expectEqual(
            machine.freshFailed(body(.clientReset)),
            .actions([.endFreshSession, .deleteFresh, .leaveToApp(attempt, failure)]))
        expectTrue(machine.isLeftToApp)
    }

    /// Sync was terminated again and again; each copy that was complete shows that downloading works.
    @Test func freshCopyThatWasCompleteMayBeReplacedAgain() {
        var machine = downloading(attempt())
        let replacement = ResetMachine.FreshError.actions([.endFreshSession, .deleteFresh, .downloadFresh])
        for _ in 0..<3 {
            expectEqual(machine.freshFailed(body(.clientResetNoRecovery)), replacement)
            _ = machine.freshDownloaded()
            expectEqual(machine.connected(), [.endSession, .downloadFresh])
        }
    }

    @Test(arguments: [ErrorAction.applicationBug, .protocolViolation, .deleteRealm, .transient])
    func otherErrorOfTheFreshCopyEndsTheAttempt(action: ErrorAction) {
        var machine = downloading(attempt())
        guard case .actions(let actions) = machine.freshFailed(body(action)) else {
            return expectTrue(Bool(false), "expected actions")
        }
        expectEqual(actions.first, .endFreshSession)
        expectTrue(machine.isLeftToApp)
    }

    @Test func freshCopyThatCannotBeOpenedEndsTheAttempt() {
        let attempt = attempt()
        var machine = downloading(attempt)
        let failure = ResetFailure("the fresh copy cannot be opened: no file")
        expectEqual(machine.freshIsUnusable("no file"), [.deleteFresh, .leaveToApp(attempt, failure)])
    }

    // MARK: The merge

    @Test func completeCopyIsBroughtUpToDateOnANewConnection() {
        let attempt = attempt()
        var machine = readyToMerge(attempt)
        expectEqual(machine.connected(), [.endSession, .downloadFresh])
        expectEqual(machine.phase, .downloading(attempt))
        // A connection that is lost while the copy is downloaded changes nothing: its session binds again.
        expectTrue(machine.connected().isEmpty)
        expectTrue(machine.bindSent(version: 3).isEmpty)
    }

    @Test func beforeBlockIsCalledOnceUnlessSomethingIsWritten() {
        let attempt = attempt()
        var machine = readyToMerge(attempt)
        for (version, shows) in [(7, true), (7, false), (8, true), (8, false)] as [(ClientVersion, Bool)] {
            expectEqual(machine.bindSent(version: version), [.merge(attempt, showsBefore: shows)])
            expectTrue(machine.interrupted(freshIsDamaged: false).isEmpty)
            expectEqual(machine.phase, .downloading(attempt))
            expectEqual(machine.resumed(), [.restoreRecord, .downloadFresh])
            _ = machine.freshDownloaded()
        }
    }

    @Test func mergeThatTheDataForbidIsLeftToTheApp() {
        let attempt = attempt()
        var machine = readyToMerge(attempt)
        _ = machine.bindSent(version: 7)
        let failure = ResetFailure("breaking", .recover)
        expectEqual(machine.mergeFailed(failure), [.endSession, .deleteFresh, .leaveToApp(attempt, failure)])
        expectTrue(machine.isLeftToApp)
    }

    @Test func damagedCopyIsDownloadedAnew() {
        var machine = downloading(attempt())
        expectEqual(machine.interrupted(freshIsDamaged: true), [.deleteFresh])
        expectEqual(machine.resumed(), [.restoreRecord, .downloadFresh])
    }

    @Test func recordOfAnEarlierRunIsStillToBeAcknowledged() {
        var machine = ResetMachine()
        machine.started(hasRecord: true)
        expectTrue(machine.awaitsAcknowledgement)
        // The next reset comes before the acknowledgement.
        let attempt = attempt()
        expectEqual(machine.demanded(attempt, isEmpty: false), [.note(attempt), .downloadFresh])
        expectTrue(!machine.awaitsAcknowledgement)
    }

    // MARK: Cut off

    @Test func suspensionKeepsWhatIsDownloaded() {
        var machine = readyToMerge(attempt())
        expectEqual(machine.dropped(), [.restoreRecord, .closeFresh])
        expectEqual(machine.phase, .none)
        expectTrue(machine.dropped().isEmpty)
    }

    @Test func secondDemandTakesTheFirstOnesPlace() {
        var machine = readyToMerge(attempt(id: "1"))
        _ = machine.bindSent(version: 7)
        _ = machine.freshFailed(body(.clientReset))
        let second = attempt(id: "2")
        expectEqual(machine.demanded(second, isEmpty: false), [.restoreRecord, .note(second), .downloadFresh])
        // What the first had shown and replaced does not count.
        expectEqual(
            machine.freshFailed(body(.clientReset)), .actions([.endFreshSession, .deleteFresh, .downloadFresh]))
        _ = machine.freshDownloaded()
        expectEqual(machine.bindSent(version: 7), [.merge(second, showsBefore: true)])
    }
}

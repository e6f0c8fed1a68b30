import SyncModel
import SyncProtocol
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
        #expect(!machine.isUnderWay)
        #expect(machine.demanded(attempt, isEmpty: false) == [.note(attempt), .downloadFresh])
        #expect(machine.phase == .downloading(attempt))
        #expect(machine.freshDownloaded() == [.endFreshSession, .startSession(holdsIdent: true)])
        #expect(machine.isUnderWay)
        #expect(machine.bindSent(version: 7) == [.merge(attempt, showsBefore: true)])
        #expect(machine.merged() == [.deleteFresh])
        #expect(!machine.isUnderWay && machine.awaitsAcknowledgement)
        machine.acknowledged()
        #expect(machine.phase == .none)
    }

    @Test func manualModeIsLeftToTheAppAndNothingIsDownloaded() {
        let attempt = attempt(.manual)
        var machine = ResetMachine()
        #expect(machine.demanded(attempt, isEmpty: false) == [.deleteFresh, .leaveToApp(attempt, nil)])
        #expect(machine.isLeftToApp)
        // The session that is stopped for it changes nothing.
        #expect(machine.dropped().isEmpty)
        #expect(machine.isLeftToApp)
    }

    @Test func recoveryThatTheServerForbidsIsLeftToTheApp() {
        let attempt = attempt(.recover, .clientResetNoRecovery)
        var machine = ResetMachine()
        let failure = ResetFailure("the server does not allow recovery")
        #expect(machine.demanded(attempt, isEmpty: false) == [.deleteFresh, .leaveToApp(attempt, failure)])
        #expect(machine.isLeftToApp)
    }

    @Test func realmThatWasNeverWrittenBeginsAnew() {
        let attempt = attempt()
        var machine = ResetMachine()
        #expect(machine.demanded(attempt, isEmpty: true) == [.startOver(attempt)])
        #expect(machine.phase == .none)
    }

    @Test func sessionWithoutAResetIsNoBusinessOfTheMachine() {
        var machine = ResetMachine()
        #expect(machine.freshDownloaded().isEmpty)
        #expect(machine.connected().isEmpty)
        #expect(machine.bindSent(version: 3).isEmpty)
        #expect(machine.freshFailed(body(.clientReset)) == .actions([]))
        #expect(machine.interrupted(freshIsDamaged: false).isEmpty)
        #expect(machine.dropped().isEmpty)
        #expect(machine.resumed() == [.startSession(holdsIdent: false)])
    }

    // MARK: The fresh copy

    @Test func temporaryErrorOfTheFreshCopyIsWaitedOut() {
        var machine = downloading(attempt())
        #expect(machine.freshFailed(body(.transient, tryAgain: true)) == .retry)
        #expect(machine.freshFailed(body(.warning, tryAgain: true)) == .retry)
        #expect(machine.freshFailed(body(.refreshUser)) == .refreshUser)
        #expect(machine.phase == .downloading(attempt()))
    }

    @Test func freshCopyThatMustResetIsReplacedOnce() {
        var attempt = attempt()
        attempt.integrated = 9
        var machine = downloading(attempt)
        let replacement = ResetMachine.FreshError.actions([.endFreshSession, .deleteFresh, .downloadFresh])
        #expect(machine.freshFailed(body(.clientReset)) == replacement)
        // What the server had said of its state may hold no longer.
        attempt.integrated = nil
        #expect(machine.phase == .downloading(attempt))
        let failure = ResetFailure("the fresh copy could not be downloaded: why")
        #expect(
            machine.freshFailed(body(.clientReset))
                == .actions([.endFreshSession, .deleteFresh, .leaveToApp(attempt, failure)]))
        #expect(machine.isLeftToApp)
    }

    /// Sync was terminated again and again; each copy that was complete shows that downloading works.
    @Test func freshCopyThatWasCompleteMayBeReplacedAgain() {
        var machine = downloading(attempt())
        let replacement = ResetMachine.FreshError.actions([.endFreshSession, .deleteFresh, .downloadFresh])
        for _ in 0..<3 {
            #expect(machine.freshFailed(body(.clientResetNoRecovery)) == replacement)
            _ = machine.freshDownloaded()
            #expect(machine.connected() == [.endSession, .downloadFresh])
        }
    }

    @Test(arguments: [ErrorAction.applicationBug, .protocolViolation, .deleteRealm, .transient])
    func otherErrorOfTheFreshCopyEndsTheAttempt(action: ErrorAction) {
        var machine = downloading(attempt())
        guard case .actions(let actions) = machine.freshFailed(body(action)) else {
            return #expect(Bool(false), "expected actions")
        }
        #expect(actions.first == .endFreshSession)
        #expect(machine.isLeftToApp)
    }

    @Test func freshCopyThatCannotBeOpenedEndsTheAttempt() {
        let attempt = attempt()
        var machine = downloading(attempt)
        let failure = ResetFailure("the fresh copy cannot be opened: no file")
        #expect(machine.freshIsUnusable("no file") == [.deleteFresh, .leaveToApp(attempt, failure)])
    }

    // MARK: The merge

    @Test func completeCopyIsBroughtUpToDateOnANewConnection() {
        let attempt = attempt()
        var machine = readyToMerge(attempt)
        #expect(machine.connected() == [.endSession, .downloadFresh])
        #expect(machine.phase == .downloading(attempt))
        // A connection that is lost while the copy is downloaded changes nothing: its session binds again.
        #expect(machine.connected().isEmpty)
        #expect(machine.bindSent(version: 3).isEmpty)
    }

    @Test func beforeBlockIsCalledOnceUnlessSomethingIsWritten() {
        let attempt = attempt()
        var machine = readyToMerge(attempt)
        for (version, shows) in [(7, true), (7, false), (8, true), (8, false)] as [(ClientVersion, Bool)] {
            #expect(machine.bindSent(version: version) == [.merge(attempt, showsBefore: shows)])
            #expect(machine.interrupted(freshIsDamaged: false).isEmpty)
            #expect(machine.phase == .downloading(attempt))
            #expect(machine.resumed() == [.restoreRecord, .downloadFresh])
            _ = machine.freshDownloaded()
        }
    }

    @Test func mergeThatTheDataForbidIsLeftToTheApp() {
        let attempt = attempt()
        var machine = readyToMerge(attempt)
        _ = machine.bindSent(version: 7)
        let failure = ResetFailure("breaking", .recover)
        #expect(machine.mergeFailed(failure) == [.endSession, .deleteFresh, .leaveToApp(attempt, failure)])
        #expect(machine.isLeftToApp)
    }

    @Test func damagedCopyIsDownloadedAnew() {
        var machine = downloading(attempt())
        #expect(machine.interrupted(freshIsDamaged: true) == [.deleteFresh])
        #expect(machine.resumed() == [.restoreRecord, .downloadFresh])
    }

    @Test func recordOfAnEarlierRunIsStillToBeAcknowledged() {
        var machine = ResetMachine()
        machine.started(hasRecord: true)
        #expect(machine.awaitsAcknowledgement)
        // The next reset comes before the acknowledgement.
        let attempt = attempt()
        #expect(machine.demanded(attempt, isEmpty: false) == [.note(attempt), .downloadFresh])
        #expect(!machine.awaitsAcknowledgement)
    }

    // MARK: Cut off

    @Test func suspensionKeepsWhatIsDownloaded() {
        var machine = readyToMerge(attempt())
        #expect(machine.dropped() == [.restoreRecord, .closeFresh])
        #expect(machine.phase == .none)
        #expect(machine.dropped().isEmpty)
    }

    @Test func secondDemandTakesTheFirstOnesPlace() {
        var machine = readyToMerge(attempt(id: "1"))
        _ = machine.bindSent(version: 7)
        _ = machine.freshFailed(body(.clientReset))
        let second = attempt(id: "2")
        #expect(machine.demanded(second, isEmpty: false) == [.restoreRecord, .note(second), .downloadFresh])
        // What the first had shown and replaced does not count.
        #expect(
            machine.freshFailed(body(.clientReset)) == .actions([.endFreshSession, .deleteFresh, .downloadFresh]))
        _ = machine.freshDownloaded()
        #expect(machine.bindSent(version: 7) == [.merge(second, showsBefore: true)])
    }
}

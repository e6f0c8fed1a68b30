import TestSupport
import Testing

@testable import DeviceSync

/// What is done about a reset, by mode, action and record (docs/resets.md, "Cycle detection").
struct ResetDecisionTests {
    private func record(_ mode: PendingReset.Mode, _ action: PendingReset.Action = .clientReset) -> PendingReset {
        PendingReset(mode: mode, action: action, time: 0, errorCode: 208, errorMessage: "")
    }

    @Test(
        arguments: [ResetMode.recover, .recoverOrDiscard, .discard],
        [PendingReset.Action.clientReset, .clientResetNoRecovery])
    func automaticModesDownloadUnlessRecoveryIsForbidden(mode: ResetMode, action: PendingReset.Action) {
        let start = ResetDecision.start(mode, action)
        if mode == .recover, action == .clientResetNoRecovery {
            guard case .fail = start else { return expectTrue(Bool(false), "expected a failure") }
        } else {
            expectEqual(start, .download)
        }
    }

    @Test func manualIsTheAppsBusiness() {
        expectEqual(ResetDecision.start(.manual, .clientReset), .manual)
        expectEqual(ResetDecision.start(.manual, .clientResetNoRecovery), .manual)
    }

    @Test func withoutARecordTheModeDecides() {
        expectEqual(ResetDecision.merge(.recover, .clientReset, stored: nil), .recover)
        expectEqual(ResetDecision.merge(.recoverOrDiscard, .clientReset, stored: nil), .recover)
        expectEqual(ResetDecision.merge(.recoverOrDiscard, .clientResetNoRecovery, stored: nil), .discard)
        expectEqual(ResetDecision.merge(.discard, .clientReset, stored: nil), .discard)
    }

    @Test func aRecordOfARecoveryStopsASecondOne() {
        let stored = record(.recover)
        guard case .cycle = ResetDecision.merge(.recover, .clientReset, stored: stored) else {
            return expectTrue(Bool(false), "expected a cycle")
        }
        expectEqual(ResetDecision.merge(.recoverOrDiscard, .clientReset, stored: stored), .discard)
        expectEqual(ResetDecision.merge(.discard, .clientReset, stored: stored), .discard)
    }

    @Test(arguments: [ResetMode.recover, .recoverOrDiscard, .discard])
    func aRecordOfADiscardStopsEverything(mode: ResetMode) {
        guard case .cycle = ResetDecision.merge(mode, .clientReset, stored: record(.discard)) else {
            return expectTrue(Bool(false), "expected a cycle")
        }
    }

    @Test func aRecordOfAnotherActionDoesNotCount() {
        let stored = record(.discard, .migrateToFLX)
        expectEqual(ResetDecision.merge(.recover, .clientReset, stored: stored), .recover)
    }

    @Test(arguments: [ResetMode.recover, .recoverOrDiscard, .discard], [PendingReset.Mode.recover, .discard])
    func aMergeThatWasCutOffIsTriedAgainButNotForEver(mode: ResetMode, recorded: PendingReset.Mode) {
        var stored = record(recorded)
        let fresh = ResetDecision.merge(mode, .clientReset, stored: nil)
        let failed = ResetDecision.merge(mode, .clientReset, stored: stored)
        for deaths in 1..<ResetDecision.maxCutOff {
            stored.cutOff = deaths
            expectEqual(ResetDecision.merge(mode, .clientReset, stored: stored), fresh)
        }
        stored.cutOff = ResetDecision.maxCutOff
        expectEqual(ResetDecision.merge(mode, .clientReset, stored: stored), failed)
    }
}

import Changesets
import Merge
import Testing

/// Section 12.2, and 6.3 of the protocol.
@Suite struct UploadIntegrationTests {
    private let progress = ClientFileProgress(clientVersion: 5, rhBaseVersion: 10, lockedServerVersion: 9)

    private func header(
        _ client: UInt64, _ server: UInt64, locked: UInt64 = 12, follows: UInt64? = 5
    ) -> UploadHeader {
        UploadHeader(
            progress: UploadCursor(clientVersion: client, serverVersion: server), lockedServerVersion: locked,
            follows: follows)
    }

    private func entry(_ client: UInt64, _ server: UInt64, file: UInt64 = 0) -> UploadEntry {
        UploadEntry(
            cursor: UploadCursor(clientVersion: client, serverVersion: server), originTimestamp: client * 100,
            originFileIdent: file)
    }

    private func plan(
        _ header: UploadHeader, _ entries: [UploadEntry], _ progress: ClientFileProgress? = nil
    ) -> UploadIntegration.Plan {
        UploadIntegration.plan(
            header, entries: entries, progress: progress ?? self.progress, currentServerVersion: 20)
    }

    private func expectViolation(
        _ code: ProtocolViolation.Code, _ plan: UploadIntegration.Plan,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard case .violation(let violation) = plan else {
            Issue.record("expected a violation, got \(plan)", sourceLocation: sourceLocation)
            return
        }
        #expect(violation.code == code, "\(violation)", sourceLocation: sourceLocation)
    }

    private func acceptance(_ plan: UploadIntegration.Plan) throws -> UploadAcceptance {
        guard case .accept(let acceptance) = plan else { throw NotAccepted(plan: plan) }
        return acceptance
    }

    private struct NotAccepted: Error { var plan: UploadIntegration.Plan }

    @Test func anUploadThatFollowsTheStoredProgressIsAccepted() throws {
        let accepted = try acceptance(plan(header(8, 12), [entry(6, 10), entry(8, 12)]))
        #expect(accepted.newEntries == 0..<2)
        #expect(accepted.windowBase == 10)
    }

    @Test func whatIsIntegratedAlreadyIsDropped() throws {
        let accepted = try acceptance(plan(header(8, 12, follows: 3), [entry(4, 9), entry(5, 10), entry(7, 11)]))
        #expect(accepted.newEntries == 2..<3)
        #expect(accepted.windowBase == 11)
    }

    @Test func anUploadThatIsIntegratedAlreadyIsADuplicate() {
        #expect(plan(header(5, 10, locked: 9, follows: 3), [entry(4, 9), entry(5, 10)]) == .duplicate)
        #expect(plan(header(4, 9, locked: 2, follows: 3), [entry(4, 9)]) == .duplicate)
        #expect(plan(header(4, 9, locked: 2, follows: nil), [entry(4, 9)]) == .duplicate)
    }

    @Test func anUploadAfterAMissingOneIsAGap() {
        #expect(plan(header(8, 12, follows: 6), [entry(7, 11)]) == .gap(expected: 5, got: 6))
    }

    @Test func anUploadThatClaimsNothingIsJudgedByItsVersionsAlone() throws {
        let accepted = try acceptance(plan(header(9, 12, follows: nil), [entry(9, 12)]))
        #expect(accepted.newEntries == 0..<1)
    }

    @Test func progressAloneIsAcceptedWithoutEntries() throws {
        let accepted = try acceptance(plan(header(6, 14, locked: 14), []))
        #expect(accepted.newEntries.isEmpty)
        #expect(accepted.windowBase == nil)
        let outcome = accepted.finish(
            TransformResult(incoming: [], modifiedLocal: []), from: 3, currentServerVersion: 20)
        #expect(outcome.progress == ClientFileProgress(clientVersion: 6, rhBaseVersion: 14, lockedServerVersion: 14))
        #expect(outcome.dropReciprocalsThrough == 14)
        #expect(outcome.history.isEmpty)
    }

    @Test func clientVersionsHaveToRise() {
        expectViolation(.badClientVersion, plan(header(8, 12), [entry(7, 11), entry(7, 11)]))
        expectViolation(.badClientVersion, plan(header(8, 12), [entry(7, 11), entry(6, 11)]))
        expectViolation(.badClientVersion, plan(header(8, 12), [entry(5, 10)]))
        expectViolation(.badClientVersion, plan(header(0, 0, follows: 0), [entry(0, 0)]))
    }

    @Test func changesetsBeyondTheHeaderAreRefused() {
        expectViolation(.badClientVersion, plan(header(8, 12), [entry(9, 12)]))
        expectViolation(.badClientVersion, plan(header(4, 9), []))
    }

    @Test func cursorsHaveToBeConsistent() {
        expectViolation(.badServerVersion, plan(header(0, 3, follows: 0), []))
        expectViolation(.badServerVersion, plan(header(8, 12), [entry(6, 12), entry(7, 11)]))
        expectViolation(.badServerVersion, plan(header(8, 12), [entry(7, 13)]))
        expectViolation(.badServerVersion, plan(header(8, 12), [entry(8, 11)]))
    }

    /// The reciprocals that it would need are gone.
    @Test func aBaseBeforeTheStoredOneIsRefused() {
        expectViolation(.badServerVersion, plan(header(8, 12), [entry(7, 9)]))
        expectViolation(.badServerVersion, plan(header(8, 9, locked: 12), []))
    }

    @Test func serverVersionsOfTheFutureAreRefused() {
        expectViolation(.badServerVersion, plan(header(8, 21), []))
        expectViolation(.badServerVersion, plan(header(8, 12, locked: 21), []))
    }

    @Test func theLockedVersionNeverDecreases() {
        expectViolation(.badServerVersion, plan(header(8, 12, locked: 8), []))
    }

    @Test func changesetsOfOtherFilesAreRefused() {
        expectViolation(.badOriginFileIdent, plan(header(8, 12), [entry(7, 11, file: 3)]))
    }

    @Test func everyUploadedChangesetGetsAVersionEvenIfNothingIsLeftOfIt() throws {
        let accepted = try acceptance(plan(header(8, 12), [entry(6, 10), entry(8, 12)]))
        let changes = [changeset([.create()]), changeset([.create(2)])]
        let incoming = accepted.incoming(changes, from: 3)
        #expect(incoming.map(\.originFileIdent) == [3, 3])
        #expect(incoming.map(\.version) == [6, 8])
        #expect(incoming.map(\.lastIntegratedLocalVersion) == [10, 12])
        let result = TransformResult(
            incoming: [changeset([]), changes[1]],
            modifiedLocal: [
                .init(version: 11, changeset: changeset([])), .init(version: 13, changeset: changeset([])),
            ])
        let outcome = accepted.finish(result, from: 3, currentServerVersion: 20)
        #expect(outcome.history.map(\.serverVersion) == [21, 22])
        #expect(outcome.history.map(\.clientVersion) == [6, 8])
        #expect(outcome.history.map(\.originTimestamp) == [600, 800])
        #expect(outcome.history.map(\.changeset.isEmpty) == [true, false])
        #expect(outcome.progress == ClientFileProgress(clientVersion: 8, rhBaseVersion: 12, lockedServerVersion: 12))
        #expect(outcome.dropReciprocalsThrough == 12)
        #expect(outcome.reciprocals.map(\.version) == [13])
    }

    /// P9.
    @Test func aRedeliveryChangesNothing() throws {
        let upload = header(8, 12)
        let entries = [entry(6, 10), entry(8, 12)]
        let outcome = try acceptance(plan(upload, entries)).finish(
            TransformResult(incoming: [changeset([]), changeset([])], modifiedLocal: []), from: 3,
            currentServerVersion: 20)
        #expect(plan(upload, entries, outcome.progress) == .duplicate)
        // Also after the client has gone on.
        var later = outcome.progress
        later.clientVersion = 30
        later.lockedServerVersion = 19
        #expect(plan(upload, entries, later) == .duplicate)
    }

    @Test func reciprocalsStayWhileTheClientHasIntegratedNothingNew() throws {
        let accepted = try acceptance(plan(header(6, 10), [entry(6, 10)]))
        let outcome = accepted.finish(
            TransformResult(
                incoming: [changeset([])], modifiedLocal: [.init(version: 11, changeset: changeset([]))]),
            from: 3, currentServerVersion: 20)
        #expect(outcome.dropReciprocalsThrough == nil)
        #expect(outcome.progress.rhBaseVersion == 10)
        #expect(outcome.reciprocals.map(\.version) == [11])
    }
}

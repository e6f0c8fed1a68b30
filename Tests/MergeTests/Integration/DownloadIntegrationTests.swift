import Changesets
import Merge
import Testing

/// Section 13.3, and 6.4 of the protocol.
@Suite struct DownloadIntegrationTests {
    private let stored = SyncProgress(
        downloadServerVersion: 10, downloadClientVersion: 4, latestServerVersion: 12, latestServerVersionSalt: 77,
        uploadClientVersion: 5, uploadServerVersion: 9)

    private var message: SyncProgress {
        SyncProgress(
            downloadServerVersion: 14, downloadClientVersion: 6, latestServerVersion: 15, latestServerVersionSalt: 78,
            uploadClientVersion: 7, uploadServerVersion: 10)
    }

    private func entry(_ server: UInt64, _ client: UInt64, file: UInt64 = 3) -> DownloadEntry {
        DownloadEntry(
            serverVersion: server, clientVersion: client, originTimestamp: server * 100, originFileIdent: file)
    }

    private func integration(
        _ message: SyncProgress? = nil, _ entries: [DownloadEntry] = [], order: DownloadIntegration.Order = .strict
    ) throws(ProtocolViolation) -> DownloadIntegration {
        try DownloadIntegration(
            message ?? self.message, entries: entries, progress: stored, order: order, ownFileIdent: 2,
            newestLocalVersion: 8)
    }

    @Test func aDownloadMovesTheProgress() throws {
        let download = try integration(nil, [entry(11, 4), entry(14, 6)])
        let result = TransformResult(
            incoming: [changeset([]), changeset([.create()])],
            modifiedLocal: [.init(version: 7, changeset: changeset([]))])
        let outcome = download.finish(result)
        #expect(outcome.apply == result.incoming)
        #expect(outcome.reciprocals == result.modifiedLocal)
        #expect(outcome.progress == message)
        #expect(outcome.remote == entry(14, 6))
    }

    @Test func aBatchOfABootstrapDoesNot() throws {
        let outcome = try integration(nil, [entry(11, 4)]).finish(
            TransformResult(incoming: [changeset([])], modifiedLocal: []), movesProgress: false)
        #expect(outcome.progress == stored)
    }

    @Test func anAcknowledgementOfZeroMeansAsBefore() throws {
        var message = message
        message.uploadServerVersion = 0
        let outcome = try integration(message).finish(TransformResult(incoming: [], modifiedLocal: []))
        #expect(outcome.progress.uploadServerVersion == 9)
        #expect(outcome.progress.uploadClientVersion == 7)
        #expect(outcome.remote == nil)
    }

    @Test func progressNeverDecreases() {
        let fields: [WritableKeyPath<SyncProgress, UInt64>] = [
            \.downloadServerVersion, \.downloadClientVersion, \.latestServerVersion, \.uploadClientVersion,
            \.uploadServerVersion,
        ]
        for field in fields {
            var message = message
            message[keyPath: field] = stored[keyPath: field] - 1
            let violation = #expect(throws: ProtocolViolation.self) { try integration(message) }
            #expect(violation?.code == .badProgress)
        }
    }

    @Test func cursorsStayWithinTheirBounds() {
        func expectBadProgress(_ change: (inout SyncProgress) -> Void) {
            var message = message
            change(&message)
            let violation = #expect(throws: ProtocolViolation.self) { try integration(message) }
            #expect(violation?.code == .badProgress)
        }
        expectBadProgress { $0.uploadClientVersion = 9 }
        expectBadProgress { $0.downloadServerVersion = 16 }
        expectBadProgress { $0.downloadClientVersion = 8 }
        expectBadProgress { $0.uploadServerVersion = 15 }
    }

    @Test func serverVersionsHaveToRise() throws {
        for entries in [[entry(10, 4)], [entry(12, 4), entry(12, 4)], [entry(15, 4)]] {
            let violation = #expect(throws: ProtocolViolation.self) { try integration(nil, entries) }
            #expect(violation?.code == .badServerVersion)
        }
        #expect(try integration(nil, [entry(12, 4), entry(12, 4)], order: .weak).entries.count == 2)
        #expect(throws: ProtocolViolation.self) {
            try integration(nil, [entry(12, 4), entry(11, 4)], order: .weak)
        }
    }

    @Test func basesNeverDecrease() {
        for entries in [[entry(11, 3)], [entry(11, 6), entry(12, 5)], [entry(11, 7)]] {
            let violation = #expect(throws: ProtocolViolation.self) { try integration(nil, entries) }
            #expect(violation?.code == .badClientVersion)
        }
    }

    @Test(arguments: [0, 2] as [UInt64])
    func changesetsOfNobodyOrOurOwnAreRefused(file: UInt64) {
        let violation = #expect(throws: ProtocolViolation.self) { try integration(nil, [entry(11, 4, file: file)]) }
        #expect(violation?.code == .badOriginFileIdent)
    }

    @Test func basesBeforeOurHistoryAreMovedToItsBeginning() throws {
        let download = try integration(nil, [entry(11, 4), entry(12, 6)])
        #expect(download.windowBase(historyBase: 5) == 5)
        #expect(download.windowBase(historyBase: 0) == 4)
        let incoming = download.incoming([changeset([]), changeset([])], historyBase: 5)
        #expect(incoming.map(\.lastIntegratedLocalVersion) == [5, 6])
        #expect(incoming.map(\.version) == [11, 12])
        #expect(incoming.map(\.originTimestamp) == [1100, 1200])
        #expect(incoming.map(\.originFileIdent) == [3, 3])
    }
}

import Messages
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

/// How a session in flexible mode tells its client of what is new, and of writes that were undone.
@Suite struct FlexibleDownloadTests {
    private typealias Script = FlexibleSessionScript

    @Test func undoneWritesAreToldBeforeTheirDownload() throws {
        var script = try Script.begun()
        try script.answer([Script.entry(7)], to: 7, latest: 9, compensations: [Script.undone, Script.undone])
        expectEqual(script.undoneAt(), [7, 7])
        expectEqual(script.take(), ["json_error", "json_error", "0/steadyState of 1 to 7"])
        guard case .live = script.machine.phase else { throw Script.ProblemError() }
        // Clients pass the error on with an entry.
        try script.answer(to: 9, compensations: [Script.undone])
        expectEqual(script.undoneAt(), [9])
        expectEqual(script.take(), ["json_error", "0/steadyState of 1 to 9"])
    }

    @Test func aRefusedIngestIsToldBehindTheDownloadAndTheClientComesAgain() throws {
        let notices = [
            CompensationNotice(
                version: 6, clientVersion: 4, updates: [.init(className: "Event", key: [1, 9], reason: "not allowed")],
                isIngest: true)
        ]
        var script = try Script.begun()
        try script.answer([Script.entry(6)], to: 6, compensations: notices)
        guard case .jsonError(_, let code, let body) = try #require(script.sent.last) else {
            throw Script.ProblemError()
        }
        expectTrue(code == .writeNotAllowed && body.action == .warning && body.tryAgain)
        expectTrue(body.rejectedClientVersion == 4 && body.compensatingWriteServerVersion == nil)
        expectEqual(body.rejectedUpdates?.map(\.table), ["Event"])
        expectEqual(script.take(), ["0/steadyState of 1 to 6", "json_error"])
        guard case .ended = script.machine.phase else { throw Script.ProblemError() }
        // A client that does not survive the error is not told.
        script = try Script.begun(protocolVersion: 10)
        try script.answer([Script.entry(6)], to: 6, compensations: notices)
        expectEqual(script.take(), ["0/steadyState of 1 to 6"])
        guard case .live = script.machine.phase else { throw Script.ProblemError() }
    }

    /// A client keeps as much of a steady-state DOWNLOAD as it had committed when it was stopped, and all or nothing of a bootstrap.
    @Test func entriesThatCountOnlyTogetherComeAsABootstrap() throws {
        var script = try Script.begun()
        try script.answer(to: 5)
        try script.ask(1)
        try script.answer([Script.entry(5)], to: 5, .last, of: 1)
        _ = script.take()
        try script.answer([Script.entry(6, by: 8), Script.entry(7, by: 9)], to: 7, latest: 12)
        try script.answer([Script.entry(8)], to: 8, latest: 12)
        expectEqual(script.take(), ["1/steadyState of 2 to 7", "1/steadyState of 1 to 8"])
        try script.answer([Script.entry(9, by: 8), Script.entry(10)], to: 10, latest: 12)
        expectEqual(script.take(), ["1/lastInBatch of 2 to 10"])
        // What a bootstrap undoes a client can be told of only by an entry in steady state, of no earlier version than its other entries.
        try script.answer(
            [Script.entry(11, by: 8), Script.entry(12)], to: 12, compensations: [Script.undone, Script.undone])
        expectEqual(script.undoneAt(), [12, 12])
        expectEqual(
            script.take(), ["1/lastInBatch of 2 to 12", "json_error", "json_error", "1/steadyState of 1 to 12"])
    }

    /// A client that was away can show how far it is, and keeps what has come if its connection is lost; but what counts only together is one message.
    @Test(arguments: [13, 14]) func muchInSteadyStateComesInSeveralMessages(protocolVersion: Int) throws {
        var script = try Script.begun(protocolVersion: protocolVersion)
        try script.answer(to: 5)
        try script.ask(1)
        try script.answer([Script.entry(5)], to: 5, .last, of: 1)
        _ = script.take()
        func large(_ versions: ClosedRange<UInt64>) -> [HistoryEntry] {
            versions.map { version in
                var large = Script.entry(version, by: 8)
                large.changeset = [UInt8](repeating: 7, count: 1 << 20)
                return large
            }
        }
        try script.answer(large(6...9), to: 10, latest: 14)
        let told = script.sent.compactMap {
            if case .download(let download) = $0 { download.batch?.progress } else { nil }
        }
        expectEqual(told, [0.25, 0.5, 0.75, 1])
        expectEqual(
            script.take(),
            [
                "1/steadyState of 1 to 6", "1/steadyState of 1 to 7", "1/steadyState of 1 to 8",
                "1/steadyState of 1 to 10",
            ])
        try script.answer(large(11...13) + [Script.entry(14)], to: 14)
        expectEqual(script.take(), [protocolVersion < 14 ? "1/steadyState of 4 to 14" : "1/lastInBatch of 4 to 14"])
    }

    @Test func anEarlierProtocolHasNoBootstrapOfTheSetInForce() throws {
        var script = try Script.begun(protocolVersion: 13)
        try script.answer(to: 5)
        try script.ask(1)
        try script.answer([Script.entry(5)], to: 5, .last, of: 1, compensations: [Script.undone])
        expectEqual(script.undoneAt(), [5])
        expectEqual(script.take(), ["1/lastInBatch of 1 to 5", "json_error", "1/steadyState of 1 to 5"])
        try script.answer([Script.entry(9, by: 8), Script.entry(10)], to: 10)
        expectEqual(script.take(), ["1/steadyState of 2 to 10"])
    }
}

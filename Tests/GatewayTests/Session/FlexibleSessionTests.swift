import Messages
import Storage
import SyncModel
import SyncProtocol
import TestSupport
import Testing
import Views

@testable import Gateway

/// A session in flexible mode against an owner that answers by hand: the data of subscription sets, and what the user may do.
@Suite struct FlexibleSessionTests {
    private typealias Script = FlexibleSessionScript

    @Test func aSetComesInBatchesAndIsThenInForce() throws {
        var script = try Script.begun()
        try script.answer(to: 5)
        _ = script.take()
        try script.ask(1)
        try script.client(.mark(session: 1, request: 1), .mark(1))
        expectTrue(script.pages.last?.bootstrap?.position == nil && script.pages.last?.bootstrap?.version == 1)
        let position = BootstrapPosition(table: 0, key: [1, 2], done: 10)
        try script.answer([Script.entry(5)], to: 5, .more(position), of: 1)
        expectEqual(script.pages.last?.bootstrap?.position, position)
        try script.answer([Script.entry(8)], to: 8, .last, of: 1)
        expectEqual(script.take(), ["1/moreToCome of 1 to 5", "1/lastInBatch of 1 to 8"])
        // Only then the MARK.
        expectTrue(script.pages.last?.bootstrap == nil && script.pages.last?.isMark == true)
        try script.answer([Script.entry(9)], to: 9)
        expectEqual(script.take(), ["1/steadyState of 1 to 9", "mark"])
    }

    /// The owner may have counted the client as one that has the first set, so its data is asked for until that is known.
    @Test func aSetWhoseAnswerWasLostIsAskedForAgainBeforeTheNextOne() throws {
        var script = try Script.begun()
        try script.answer(to: 5)
        try script.ask(1)
        expectEqual(script.pages.last?.bootstrap?.version, 1)
        let asked = script.pages.count
        try script.cluster(.requestFailed(GatewayError(.unconfirmed, "")))
        try script.ask(2)
        expectTrue(script.pages.count == asked + 1 && script.pages.last?.bootstrap?.version == 1)
        // Nothing is on record of a set that the client has to come up for first, so the next one takes its place.
        try script.answer(to: 5, .behind, of: 1)
        try script.answer(to: 5)
        expectEqual(script.pages.last?.bootstrap?.version, 2)
    }

    @Test func theProgressThatAClientIsToldNeverFalls() throws {
        var script = try Script.begun()
        try script.answer(to: 5)
        try script.ask(1)
        _ = script.take()
        for progress in [0.25, 0.5, 0.4, 0.75] {
            try script.answer(
                [Script.entry(5)], to: 5, .more(BootstrapPosition(table: 0, key: [], done: 0)), of: 1,
                progress: progress)
        }
        try script.answer([Script.entry(8)], to: 8, .last, of: 1)
        let told = script.sent.compactMap {
            if case .download(let download) = $0 { download.batch?.progress } else { nil }
        }
        expectEqual(told, [0.25, 0.5, 0.5, 0.75, 1])
    }

    @Test func aBootstrapIsNeverEmpty() throws {
        var script = try Script.begun()
        try script.answer(to: 5)
        try script.ask(1)
        _ = script.take()
        try script.answer(to: 5, .last, of: 1)
        expectEqual(script.take(), ["1/lastInBatch of 1 to 5"])
    }

    @Test func aSetThatIsRefusedLeavesTheOneInForce() throws {
        var script = try Script.begun()
        try script.answer(to: 5)
        try script.ask(1)
        _ = script.take()
        try script.answer(to: 5, .refused("no such class"), of: 1)
        expectEqual(script.take(), ["query_error"])
        expectTrue(script.pages.last?.bootstrap == nil)
        try script.answer([Script.entry(6)], to: 6)
        expectEqual(script.take(), ["0/steadyState of 1 to 6"])
    }

    /// Clients take no QUERY_ERROR of the set in force, whose data has to come again since its user's roles have changed.
    @Test(arguments: [true, false]) func aSetInForceThatIsRefusedEndsTheSessionWithTheReason(passes: Bool) throws {
        var script = Script()
        try script.identify(
            Ident(
                session: 1, file: ClientFileIdent(ident: 3, salt: 9), download: DownloadCursor(serverVersion: 5),
                latest: SaltedServerVersion(version: 5, salt: 7),
                query: QuerySet(version: 2, text: #"{"Item": "owner == 1"}"#)), isNew: false)
        expectEqual(script.pages.last?.bootstrap?.version, 2)
        try script.answer(to: 5, .refused("why"), of: 2, passes: passes)
        guard case .jsonError(_, let code, let body) = try #require(script.sent.last) else {
            throw Script.ProblemError()
        }
        expectTrue(body.message == "why" && body.tryAgain == passes)
        expectTrue(passes ? code == .otherSessionError && body.action == .transient : code == .badQuery)
        guard case .ended = script.machine.phase else { throw Script.ProblemError() }
        expectEqual(script.pages.count, 1)
    }

    @Test func aSetOfWhichNothingWasSentIsSkippedForANewerOne() throws {
        var script = try Script.begun()
        try script.answer(to: 5)
        try script.ask(1)
        try script.ask(2)
        try script.answer(to: 5, .more(BootstrapPosition(table: 0, key: [], done: 0)), of: 1)
        expectTrue(script.pages.last?.bootstrap?.version == 2 && script.pages.last?.bootstrap?.position == nil)
        try script.answer([Script.entry(5)], to: 5, .more(BootstrapPosition(table: 0, key: [], done: 0)), of: 2)
        // Once something was sent, it is brought to its end.
        try script.ask(3)
        try script.answer([Script.entry(5)], to: 5, .last, of: 2)
        expectEqual(script.pages.last?.bootstrap?.version, 3)
    }

    @Test(arguments: [true, false])
    func aSetThatWasSkippedForOneThatIsRefusedTakesItsPlace(isRefusedToo: Bool) throws {
        var script = try Script.begun()
        // While the page of set 0 is under way.
        for version in [1, 2] as [UInt64] { try script.ask(version) }
        try script.answer(to: 5)
        expectEqual(script.pages.last?.bootstrap?.version, 2)
        try script.answer(to: 5, .refused("no"), of: 2)
        expectEqual(script.take(), ["query_error"])
        expectEqual(script.pages.last?.bootstrap?.version, 1)
        if isRefusedToo {
            try script.answer(to: 5, .refused("neither"), of: 1)
            expectEqual(script.take(), ["query_error"])
            expectTrue(script.pages.last?.bootstrap == nil && script.machine.subscriptions?.isWaiting == false)
        } else {
            try script.answer([Script.entry(5)], to: 5, .last, of: 1)
            expectEqual(script.take(), ["1/lastInBatch of 1 to 5"])
            expectEqual(script.machine.subscriptions?.active.version, 1)
        }
    }

    @Test func aSetThatIsTooLongLeavesTheOneBeforeIt() throws {
        var script = try Script.begun()
        try script.ask(1)
        let long = QuerySet(version: 2, text: String(repeating: " ", count: ViewLimits().bytes + 1))
        expectTrue(script.machine.subscriptions?.ask(for: long) != nil)
        try script.answer(to: 5)
        expectEqual(script.pages.last?.bootstrap?.version, 1)
    }

    @Test func aSessionThatIsBehindComesUpFirst() throws {
        var script = try Script.begun()
        try script.answer(to: 5)
        try script.ask(1)
        _ = script.take()
        try script.answer(to: 5, latest: 7, .behind, of: 1)
        expectTrue(script.pages.last?.bootstrap == nil)
        try script.answer([Script.entry(7)], to: 7)
        expectEqual(script.take(), ["0/steadyState of 1 to 7"])
        expectEqual(script.pages.last?.bootstrap?.version, 1)
    }

    /// A MARK that follows a QUERY is answered after the set's data, also if the session has to come up before.
    @Test func aMarkBehindASetIsAnsweredBehindItsData() throws {
        var script = try Script.begun()
        try script.answer(to: 5)
        try script.ask(1)
        try script.client(.mark(session: 1, request: 1), .mark(1))
        _ = script.take()
        try script.answer(to: 5, latest: 7, .behind, of: 1)
        expectTrue(script.pages.last?.bootstrap == nil && script.pages.last?.isMark == false)
        try script.answer([Script.entry(7)], to: 7)
        expectEqual(script.take(), ["0/steadyState of 1 to 7"])
        try script.answer([Script.entry(7)], to: 7, .last, of: 1)
        expectEqual(script.take(), ["1/lastInBatch of 1 to 7"])
        expectEqual(script.pages.last?.isMark, true)
        try script.answer(to: 7)
        expectEqual(script.take().last, "mark")
    }

    @Test func anotherRoleEndsTheSession() throws {
        var script = try Script.begun()
        try script.cluster(.judged(SessionRights(.readWrite, rulesVersion: 2), roles: "R"))
        expectTrue(script.take().isEmpty)
        try script.cluster(.judged(SessionRights(.readWrite, rulesVersion: 3), roles: "S"))
        expectEqual(script.take(), ["json_error"])
    }

    /// What the gateway has judged goes to the owner, not what the client says.
    @Test func theOwnerHearsOfNoPartitionThatTheUserMayNotWriteTo() throws {
        for home in [nil, "\"a\""] {
            var script = Script(home: home)
            try script.identify(Ident(session: 1, file: ClientFileIdent(ident: 3, salt: 4)), isNew: true)
            expectEqual(script.identifies.last?.migratedPartition, home)
            // Once the user may not any more, or may again, the session begins anew.
            try script.cluster(.judged(SessionRights(.readWrite, rulesVersion: 2), roles: "R", home: home))
            _ = script.take()
            try script.cluster(
                .judged(SessionRights(.readWrite, rulesVersion: 2), roles: "R", home: home == nil ? "\"a\"" : nil))
            expectEqual(script.take(), ["json_error"])
        }
    }
}

import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// A client realm whose reset is overtaken by another one: each campaign that found it accounts for it exactly once.
@Suite(.hangGuard) struct OvertakenResetTests {
    /// A stock client on one connection, step by step.
    private struct Device {
        let harness: OwnerHarness
        let old: ClientFileIdent
        var session: UInt64 = 2

        static func make() async throws -> Device {
            let harness = try await OwnerHarness.make()
            let old = try await harness.join(session: 1)
            try await harness.send(harness.upload(old, [Changes.schema(), Changes.create(1, title: "one")]))
            _ = try await harness.unbind(old, session: 1)
            return Device(harness: harness, old: old)
        }

        func terminate(_ campaign: String, generation: UInt64) async throws -> Published {
            try await harness.send(
                TerminationMessage(app: OwnerHarness.app, campaign: campaign, generation: generation, reason: nil))
        }

        /// The client presents a client file that must reset, is refused and ends the session.
        @discardableResult
        mutating func present(_ file: ClientFileIdent) async throws -> (RefusedAnswer, [OutcomeReport]) {
            session += 1
            try await harness.send(harness.bindRequest(session: session, needsIdent: false))
            let published = try await harness.identify(file, session: session)
            let ended = try await harness.unbind(file, session: session)
            return (
                try published.one(RefusedAnswer.self),
                try published.every(OutcomeReport.self) + ended.every(OutcomeReport.self)
            )
        }

        /// Begins a fresh copy.
        mutating func begin() async throws -> ClientFileIdent {
            session += 1
            return try await harness.join(session: session)
        }

        /// Downloads the rest of a fresh copy and ends its session.
        func complete(_ file: ClientFileIdent, generation: UInt64) async throws -> SaltedServerVersion {
            let page = try await harness.page(file, session: session, generation: generation, isMark: true)
            _ = try await harness.unbind(file, session: session)
            return try page.one(PageAnswer.self).latest
        }

        /// Goes on under the fresh copy's ident.
        mutating func merge(_ file: ClientFileIdent, at latest: SaltedServerVersion) async throws -> Published {
            session += 1
            try await harness.send(harness.bindRequest(session: session, needsIdent: false))
            return try await harness.identify(
                file, session: session, download: DownloadCursor(serverVersion: latest.version, clientVersion: 0),
                latest: latest)
        }

        /// Uploads what the client wrote before it reset.
        func recover(_ file: ClientFileIdent, at latest: SaltedServerVersion, generation: UInt64) async throws
            -> Published
        {
            try await harness.send(
                harness.upload(
                    file, session: session, base: latest.version, generation: generation, first: 17, timestamp: 1_000,
                    [Changes.set(1, title: "offline")]))
        }

        /// Goes through a reset from the fresh copy to the recovered upload.
        mutating func reset(generation: UInt64) async throws -> OutcomeReport {
            let fresh = try await begin()
            let latest = try await complete(fresh, generation: generation)
            _ = try await merge(fresh, at: latest).one(IdentifiedAnswer.self)
            return try await recover(fresh, at: latest, generation: generation).one(OutcomeReport.self)
        }
    }

    private struct Account: Equatable, CustomStringConvertible {
        var campaign: String?
        var file: FileIdent
        var by: String?
        var description: String { "\(campaign ?? "-")/\(file) superseded by \(by ?? "-")" }

        init(_ campaign: String?, _ file: ClientFileIdent, by: String?) {
            self.campaign = campaign
            self.file = file.ident
            self.by = by
        }
    }

    private func accounts(_ reports: [OutcomeReport]) -> [Account] {
        reports.map {
            var account = Account($0.campaign, ClientFileIdent(ident: $0.identOld, salt: 0), by: $0.supersededBy)
            account.file = $0.identOld
            return account
        }
    }

    @Test func aLaterTerminationTakesOverWhoHasYetToReset() async throws {
        var device = try await Device.make()
        _ = try await device.terminate("c-1", generation: 2)
        try await device.present(device.old)
        let found = try await device.terminate("c-2", generation: 3).one(FoundReport.self)
        expectEqual(found.clientRealms.map(\.clientFile), [device.old.ident])
        try await expectEqual(device.present(device.old).0.campaign, "c-2")
        let outcome = try await device.reset(generation: 3)
        expectTrue(outcome.campaign == "c-2" && outcome.result == .recovered && outcome.identOld == device.old.ident)
        // The first one comes again: it has nobody left to account for.
        try await expectTrue(device.terminate("c-1", generation: 2).one(FoundReport.self).clientRealms.isEmpty)
    }

    @Test func aResetThatIsMergedAndUntoldEndsWithTheNextTermination() async throws {
        var device = try await Device.make()
        _ = try await device.terminate("c-1", generation: 2)
        try await device.present(device.old)
        let fresh = try await device.begin()
        let latest = try await device.complete(fresh, generation: 2)
        _ = try await device.merge(fresh, at: latest).one(IdentifiedAnswer.self)
        let second = try await device.terminate("c-2", generation: 3)
        try expectEqual(second.one(FoundReport.self).clientRealms.map(\.clientFile), [fresh.ident])
        expectEqual(accounts(try second.every(OutcomeReport.self)), [Account("c-1", device.old, by: "c-2")])
        try await expectTrue(device.terminate("c-2", generation: 3).every(OutcomeReport.self).isEmpty)
        try await device.present(fresh)
        let outcome = try await device.reset(generation: 3)
        expectTrue(outcome.campaign == "c-2" && outcome.result == .recovered && outcome.identOld == fresh.ident)
    }

    @Test func aMergeOfACopyThatATerminationOvertookIsResetOnceMore() async throws {
        var device = try await Device.make()
        _ = try await device.terminate("c-1", generation: 2)
        try await device.present(device.old)
        let fresh = try await device.begin()
        _ = try await device.complete(fresh, generation: 2)
        let second = try await device.terminate("c-2", generation: 3)
        try expectEqual(second.one(FoundReport.self).clientRealms.map(\.clientFile), [device.old.ident, fresh.ident])
        try expectTrue(second.every(OutcomeReport.self).isEmpty)
        let (refusal, reports) = try await device.present(fresh)
        expectTrue(refusal.code == 208 && refusal.campaign == "c-2")
        expectEqual(accounts(reports), [Account("c-2", device.old, by: "c-2")])
        let outcome = try await device.reset(generation: 3)
        expectTrue(outcome.campaign == "c-2" && outcome.result == .recovered && outcome.identOld == fresh.ident)
    }

    @Test(arguments: [false, true])
    func aCopyThatATerminationOvertookIsAbandoned(_ isAskedForOnceMore: Bool) async throws {
        var device = try await Device.make()
        _ = try await device.terminate("c-1", generation: 2)
        try await device.present(device.old)
        let fresh = try await device.begin()
        _ = try await device.terminate("c-2", generation: 3)
        if isAskedForOnceMore {
            let page = try await device.harness.page(fresh, session: device.session, generation: 2)
            try expectEqual(page.one(RefusedAnswer.self).campaign, "c-2")
        }
        _ = try await device.harness.unbind(fresh, session: device.session)
        try await expectEqual(device.present(device.old).0.campaign, "c-2")
        let next = try await device.begin()
        let latest = try await device.complete(next, generation: 3)
        let merged = try await device.merge(next, at: latest)
        expectEqual(accounts(try merged.every(OutcomeReport.self)), [Account("c-2", fresh, by: "c-2")])
        let outcome = try await device.recover(next, at: latest, generation: 3).one(OutcomeReport.self)
        expectTrue(outcome.campaign == "c-2" && outcome.result == .recovered && outcome.identOld == device.old.ident)
    }

    @Test func aCopyLeftBehindIsNoClientRealmOfALaterTermination() async throws {
        var device = try await Device.make()
        _ = try await device.terminate("c-1", generation: 2)
        try await device.present(device.old)
        let left = try await device.begin()
        _ = try await device.harness.unbind(left, session: device.session)
        try await device.present(device.old)
        _ = try await device.reset(generation: 2)
        let second = try await device.terminate("c-2", generation: 3)
        expectEqual(accounts(try second.every(OutcomeReport.self)), [Account("c-2", left, by: "c-2")])
    }

    @Test func aResetOfOneClientRealmEndsTheAccountOfTheOneBefore() async throws {
        var device = try await Device.make()
        _ = try await device.terminate("c-1", generation: 2)
        try await device.present(device.old)
        let fresh = try await device.begin()
        let latest = try await device.complete(fresh, generation: 2)
        _ = try await device.merge(fresh, at: latest).one(IdentifiedAnswer.self)
        let reset = try await device.harness.send(
            ResetMessage(realm: device.harness.realm, clientFile: fresh.ident, campaign: "r-1", reason: nil))
        expectEqual(accounts(try reset.every(OutcomeReport.self)), [Account("c-1", device.old, by: "r-1")])
    }

    @Test func aResetThatTheOwnerAsksForEndsTheAccountOfTheOneBefore() async throws {
        var device = try await Device.make()
        _ = try await device.terminate("c-1", generation: 2)
        try await device.present(device.old)
        let fresh = try await device.begin()
        let latest = try await device.complete(fresh, generation: 2)
        _ = try await device.merge(fresh, at: latest).one(IdentifiedAnswer.self)
        device.harness.time.advance(31 * 86_400_000)
        try await device.harness.send(TickMessage(at: device.harness.time.now()))
        let (refusal, reports) = try await device.present(fresh)
        expectEqual(refusal.code, 222)
        let own = try #require(refusal.campaign)
        expectEqual(accounts(reports), [Account("c-1", device.old, by: own)])
    }

    @Test func aResetThatHasEndedKeepsItsOutcome() async throws {
        var device = try await Device.make()
        _ = try await device.terminate("c-1", generation: 2)
        try await device.present(device.old)
        try await expectEqual(device.reset(generation: 2).campaign, "c-1")
        try await expectTrue(device.terminate("c-2", generation: 3).every(OutcomeReport.self).isEmpty)
    }
}

import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// What an owner keeps and says of the schema versions of clients' copies.
@Suite struct SchemaVersionTests {
    private static let empty = ViewDefinition(version: 0, queries: "{}", roles: "")

    private func make(versions: String?) async throws -> OwnerHarness {
        let harness = try await OwnerHarness.make(realm: RealmName(flexible: OwnerHarness.app))
        _ = try await harness.control.updateApp(OwnerHarness.app) {
            $0.clientSchemas = versions.flatMap { SchemaVersionRange($0) }
        }
        return harness
    }

    private func bind(
        _ harness: OwnerHarness, _ session: UInt64, version: UInt64, replaces: FileIdent? = nil
    ) async throws -> ClientFileIdent {
        var request = harness.bindRequest(session: session)
        request.schemaVersion = version
        request.replaces = replaces
        return try #require(try await harness.send(request).one(BoundAnswer.self).clientFile)
    }

    private func identify(
        _ harness: OwnerHarness, _ file: ClientFileIdent, _ session: UInt64, version: UInt64
    ) async throws -> UInt64? {
        _ = try await harness.send(harness.bindRequest(session: session, needsIdent: false))
        var request = harness.identifyRequest(file, session: session)
        request.view = Self.empty
        request.schemaVersion = version
        return try await harness.send(request).one(IdentifiedAnswer.self).previousSchemaVersion
    }

    @Test func aCopyOfAnotherVersionStaysSoUntilItBeginsAnew() async throws {
        let harness = try await make(versions: "1-3")
        let old = try await bind(harness, 1, version: 1)
        try await expectTrue(identify(harness, old, 2, version: 1) == nil)
        // Also a client that was killed before it had begun anew, and one that goes back.
        for session in 3...4 { try await expectEqual(identify(harness, old, UInt64(session), version: 2), 1) }
        try await expectEqual(identify(harness, old, 5, version: 3), 1)
        try await expectTrue(identify(harness, old, 6, version: 1) == nil)

        let new = try await bind(harness, 7, version: 2, replaces: old.ident)
        try await expectTrue(identify(harness, new, 8, version: 2) == nil)
        _ = try await harness.send(harness.bindRequest(session: 9, needsIdent: false))
        var request = harness.identifyRequest(old, session: 9)
        request.view = Self.empty
        try await expectEqual(harness.send(request).one(RefusedAnswer.self).code, .badClientFileIdent)
    }

    /// A client that must reset makes its fresh copy by the version of the old one, of which it has to hear first; but not by one that the app
    /// has retired.
    @Test(arguments: [("1-3", 1), ("2-3", nil)] as [(String, UInt64?)])
    func aCopyOfAnotherVersionThatMustResetIsToldSo(versions: String, previous: UInt64?) async throws {
        let harness = try await make(versions: "1-3")
        let old = try await bind(harness, 1, version: 1)
        try await expectTrue(identify(harness, old, 2, version: 1) == nil)
        _ = try await harness.control.updateApp(OwnerHarness.app) { $0.clientSchemas = SchemaVersionRange(versions) }
        _ = try await harness.send(harness.bindRequest(session: 3, needsIdent: false))
        var request = harness.identifyRequest(
            old, session: 3, download: DownloadCursor(serverVersion: 99),
            latest: SaltedServerVersion(version: 99, salt: 5))
        request.view = Self.empty
        request.schemaVersion = 2
        var published = try await harness.send(request)
        if let asked = try published.every(ConfirmAnswer.self).first {
            request.confirms = asked.question
            published = try await harness.send(request)
        }
        let refusal = try published.one(RefusedAnswer.self)
        expectTrue(refusal.action.isClientReset && refusal.previousSchemaVersion == previous)
    }

    /// An app that begins to look at versions takes the one that each client has come with last.
    @Test func nothingIsSaidWhereNobodyLooks() async throws {
        let harness = try await make(versions: nil)
        let file = try await bind(harness, 1, version: 1)
        try await expectTrue(identify(harness, file, 2, version: 4) == nil)
        _ = try await harness.control.updateApp(OwnerHarness.app) {
            $0.clientSchemas = SchemaVersionRange(oldest: 1, newest: 5)
        }
        try await expectEqual(identify(harness, file, 3, version: 5), 4)
    }

    /// Nobody else's file is retired.
    @Test func onlyAFileOfTheSameUserIsReplaced() async throws {
        let harness = try await make(versions: "1-2")
        let request = harness.bindRequest(session: 1, user: "other")
        let other = try #require(try await harness.send(request).one(BoundAnswer.self).clientFile)
        _ = try await bind(harness, 2, version: 2, replaces: other.ident)
        let file = try await harness.store.clientFile(ClientFileKey(realm: RealmID(1), ident: other.ident))
        expectEqual(file?.state, .live)
    }
}

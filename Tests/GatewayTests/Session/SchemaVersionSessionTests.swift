import Messages
import Storage
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

/// Sessions of clients that name a schema version.
@Suite struct SchemaVersionSessionTests {
    private typealias Script = FlexibleSessionScript

    /// The client is told as in the recording of a stock client: the error, then the session goes on.
    @Test func aClientOfAnotherSchemaVersionIsToldBeforeItsMark() throws {
        var script = Script()
        let app = AppRecord(
            id: "tasks", syncMode: .flexible, clientSchemas: SchemaVersionRange(oldest: 1, newest: 2),
            schemas: SchemaVersions(versions: [
                SchemaVersion(number: 1), SchemaVersion(number: 2, hiddenClasses: ["Old"]),
            ]),
            createdAt: 1)
        try script.client(
            .bind(Bind(session: 1, target: FlexibleTarget(schemaVersion: 2).text, needsIdent: false)),
            .bind(needsIdent: false, app: app))
        try script.cluster(.bound(BoundAnswer(generation: 1, slice: SliceNumber(0), clientFile: nil)))
        let set = QuerySet(version: 1, text: #"{"Item":"(TRUEPREDICATE)"}"#)
        let ident = Ident(
            session: 1, file: ClientFileIdent(ident: 3, salt: 9), download: DownloadCursor(serverVersion: 5),
            latest: SaltedServerVersion(version: 5, salt: 7), query: set)
        try script.client(.ident(ident), .ident(ident))
        try script.client(.mark(session: 1, request: 1), .mark(1))
        expectEqual(script.identifies.last?.schemaVersion, 2)
        try script.cluster(
            .identified(
                IdentifiedAnswer(
                    generation: 1, upload: UploadCursor(), lockedServerVersion: 0,
                    latest: SaltedServerVersion(version: 5, salt: 7), previousSchemaVersion: 1)))
        try script.answer(to: 5)
        guard case .jsonError(1, let code, let body) = script.sent.first else { throw Script.ProblemError() }
        expectTrue(code == .schemaVersionChanged && body.action == .migrateSchema && body.tryAgain)
        expectEqual(body.previousSchemaVersion, 1)
        expectEqual(script.take(), ["json_error", "1/steadyState of 0 to 5", "mark"])
        expectTrue(script.machine.phase == .live && script.machine.isOutdated)
        // Until it begins anew it is served by the version of its copy.
        expectEqual(script.followed.last?.schemaVersion?.number, 1)
        // What the client names next time in its place says which file that is.
        var files = OutdatedFiles()
        files.note(script.machine)
        expectTrue(files.take(for: 1) == nil && files.take(for: 2) == 3 && files.take(for: 2) == nil)

        var narrower = app
        narrower.clientSchemas = SchemaVersionRange(oldest: 3, newest: 3)
        try script.cluster(.settings(narrower))
        guard case .jsonError(1, .badSchemaVersion, let refusal) = script.sent.last else { throw Script.ProblemError() }
        expectTrue(refusal.action == .applicationBug && !refusal.tryAgain && refusal.message.contains("versions 3"))
    }

    /// A client that must reset hears first of which version its copy is: the fresh one is to be of that.
    @Test func aClientOfAnotherSchemaVersionIsToldBeforeItsReset() throws {
        var script = Script()
        let app = AppRecord(id: "tasks", syncMode: .flexible, createdAt: 1)
        try script.client(
            .bind(Bind(session: 1, target: FlexibleTarget(schemaVersion: 2).text, needsIdent: false)),
            .bind(needsIdent: false, app: app))
        try script.cluster(.bound(BoundAnswer(generation: 1, slice: SliceNumber(0), clientFile: nil)))
        let ident = Ident(
            session: 1, file: ClientFileIdent(ident: 3, salt: 9), download: DownloadCursor(serverVersion: 5),
            latest: SaltedServerVersion(version: 5, salt: 7), query: QuerySet(version: 0, text: "{}"))
        try script.client(.ident(ident), .ident(ident))
        try script.cluster(
            .refused(
                RefusedAnswer(
                    realm: RealmName(flexible: "tasks"), session: SessionReference(gateway: "g", number: 1),
                    code: .badClientFileIdent, action: .clientReset, message: "away for too long", tryAgain: false,
                    clientFile: 3, previousSchemaVersion: 1)))
        let codes = script.sent.compactMap { if case .jsonError(_, let code, _) = $0 { code } else { nil } }
        expectEqual(codes, [.schemaVersionChanged, .badClientFileIdent])
        expectTrue(script.machine.phase == .ended && !script.machine.isOutdated)
    }

    @Test(arguments: [(0, false), (1, true), (2, true), (3, false)])
    func aSchemaVersionThatTheAppDoesNotKnowIsRefused(version: UInt64, isKnown: Bool) throws {
        var app = AppRecord(id: "tasks", syncMode: .flexible, createdAt: 1)
        expectTrue(app.refusal(ofSchema: version) == nil)
        app.clientSchemas = SchemaVersionRange("1-2")
        expectEqual((app.refusal(ofSchema: version) == nil), isKnown)
        let text = app.refusal(ofSchema: version) ?? ""
        let expected =
            version == 0
            ? #""0" is less than oldest schema version "1""# : #""3" is greater than latest schema version "2""#
        let stock = "Client provided invalid schema version: client presented schema version "
        expectTrue(isKnown || text.hasPrefix(stock + expected))
        // A client of an earlier protocol cannot name one.
        expectTrue(app.refusal(ofSchema: nil) == nil)
        expectTrue(
            SchemaVersionRange("2-1") == nil && SchemaVersionRange("a") == nil && SchemaVersionRange("-1") == nil)
        expectEqual(SchemaVersionRange("7")?.description, "7")
    }
}

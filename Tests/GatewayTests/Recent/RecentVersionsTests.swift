import Messages
import SeededRandom
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

@Suite struct RecentVersionsTests {
    private static let realm = SessionScript.name
    private static func position(_ version: ServerVersion, generation: UInt64 = 1, salt: VersionSalt = 77)
        -> RecentPosition
    {
        RecentPosition(generation: generation, server: SaltedServerVersion(version: version, salt: salt))
    }

    /// Versions by clients 2 to 4, some of which say nothing.
    private static func history(_ count: Int, bytes: Int, _ random: inout SeededGenerator) -> [HistoryEntry] {
        (1...count).map { version in
            HistoryEntry(
                serverVersion: ServerVersion(UInt64(version)), clientVersion: ClientVersion(UInt64(version)),
                originFile: FileIdent(UInt64.random(in: 2...4, using: &random)), timestamp: 3,
                changeset: Array(
                    repeating: 7,
                    count: Int.random(in: 0...3, using: &random) == 0 ? 0 : Int.random(in: 1...bytes, using: &random)))
        }
    }

    private static func notice(_ entries: ArraySlice<HistoryEntry>, realm: RealmName = realm, generation: UInt64 = 1)
        -> IntegratedNotice
    {
        IntegratedNotice(
            realm: realm, generation: generation, follows: (entries.first?.serverVersion ?? 1) - 1,
            latest: SaltedServerVersion(version: entries.last?.serverVersion ?? 0, salt: 77), entries: Array(entries),
            acknowledgements: [])
    }

    private static func fill(_ recent: RecentVersions, _ history: [HistoryEntry], _ random: inout SeededGenerator) {
        var next = history.startIndex
        while next < history.endIndex {
            let end = min(next + Int.random(in: 1...40, using: &random), history.endIndex)
            recent.hear(notice(history[next..<end]), at: 1)
            next = end
        }
    }

    /// Wherever a session stands, what it is passed is what its owner's pages would hold.
    @Test(arguments: 0..<20) func aSessionIsPassedWhatPagesWouldHold(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var realm = FakeRealm()
        realm.history = Self.history(400, bytes: 4_000, &random)
        let recent = RecentVersions(bytes: 64 << 20)
        Self.fill(recent, realm.history, &random)
        for file in [2, 3, 9] as [FileIdent] {
            var cursor = DownloadCursor(
                serverVersion: ServerVersion(.random(in: 0...400, using: &random)), clientVersion: 1)
            let expected = realm.page(for: file, after: cursor, maxEntries: .max)
            var passed: [HistoryEntry] = []
            while let stretch = recent.stretch(after: Self.position(cursor.serverVersion), of: Self.realm) {
                expectTrue(stretch.follows == cursor.serverVersion && stretch.latest > cursor.serverVersion)
                let view = stretch.versions.view(for: file, at: cursor.clientVersion)
                passed += view.entries
                cursor = DownloadCursor(serverVersion: stretch.latest, clientVersion: view.clientVersion)
            }
            expectEqual(passed, expected.entries)
            expectEqual(cursor, expected.download)
        }
    }

    @Test func sessionsAtTheSameCutShareWhatIsEncoded() throws {
        var random = SeededGenerator(seed: 1)
        let recent = RecentVersions(bytes: 64 << 20)
        Self.fill(recent, Self.history(400, bytes: 4_000, &random), &random)
        let first = try #require(recent.stretch(after: Self.position(0), of: Self.realm))
        let second = try #require(recent.stretch(after: Self.position(1), of: Self.realm))
        expectTrue(first.latest == second.latest && first.versions !== second.versions)
        let shared = [0, 1].map { _ in recent.stretch(after: Self.position(first.latest), of: Self.realm)?.versions }
        expectTrue(shared[0] != nil && shared[0] === shared[1])
        // Behind the last cut, too, until something new comes.
        let end = [0, 1].map { _ in recent.stretch(after: Self.position(395), of: Self.realm)?.versions }
        expectTrue(end[0] != nil && end[0] === end[1])
    }

    @Test func nothingIsPassedOverAGap() {
        var random = SeededGenerator(seed: 2)
        let history = Self.history(30, bytes: 100, &random)
        let recent = RecentVersions(bytes: 1 << 20)
        recent.hear(Self.notice(history[0..<10]), at: 1)
        // Owners repeat the last notice of a realm at rest.
        recent.hear(Self.notice(history[0..<10]), at: 1)
        expectTrue(recent.stretch(after: Self.position(0), of: Self.realm) != nil)
        recent.hear(Self.notice(history[12..<20]), at: 1)
        expectTrue(recent.stretch(after: Self.position(5), of: Self.realm) == nil)
        expectEqual(recent.stretch(after: Self.position(12), of: Self.realm)?.latest, 20)
        // A notice without its versions, which were too many.
        var bare = Self.notice(history[20..<25])
        bare.entries = []
        recent.hear(bare, at: 1)
        expectTrue(recent.stretch(after: Self.position(12), of: Self.realm) == nil && recent.bytes == 0)
        recent.hear(Self.notice(history[25..<30]), at: 1)
        expectEqual(recent.stretch(after: Self.position(25), of: Self.realm)?.latest, 30)
        expectTrue(recent.stretch(after: Self.position(30), of: Self.realm) == nil)
        // Another history of the realm.
        expectTrue(recent.stretch(after: Self.position(25, generation: 2), of: Self.realm) == nil)
        expectTrue(recent.stretch(after: Self.position(25, salt: 78), of: Self.realm) == nil)
        recent.hear(Self.notice(history[0..<3], generation: 2), at: 1)
        expectTrue(recent.stretch(after: Self.position(25), of: Self.realm) == nil)
        expectEqual(recent.stretch(after: Self.position(0, generation: 2), of: Self.realm)?.latest, 3)
    }

    @Test func whatIsHeldIsBoundedAndForgotten() {
        var random = SeededGenerator(seed: 3)
        let recent = RecentVersions(bytes: 4 << 20)
        Self.fill(recent, Self.history(2_000, bytes: 2_000, &random), &random)
        expectTrue((256 << 10...1 << 20).contains(recent.bytes), "\(recent.bytes)")
        expectTrue(recent.stretch(after: Self.position(0), of: Self.realm) == nil)
        expectTrue(recent.stretch(after: Self.position(1_999), of: Self.realm) != nil)
        let history = Self.history(400, bytes: 2_000, &random)
        for number in 0..<20 {
            recent.hear(
                Self.notice(history[...], realm: RealmName(app: "tasks", partition: "\(number)")), at: 2_000)
        }
        expectTrue(recent.bytes <= 2 << 20)
        // The realm of which nothing was heard for longest went first.
        expectTrue(recent.stretch(after: Self.position(1_999), of: Self.realm) == nil)
        recent.sweep(at: 2_999 + RecentVersions.patience)
        expectTrue(recent.bytes > 0)
        recent.sweep(at: 3_000 + RecentVersions.patience)
        expectEqual(recent.bytes, 0)
    }

    @Test func viewsTakeNoMoreThanTheVersions() {
        let entries = (1...10).map { version in
            // Bytes that do not get smaller.
            HistoryEntry(
                serverVersion: ServerVersion(UInt64(version)), clientVersion: 1, originFile: 9, timestamp: 3,
                changeset: (0..<3_000).map { _ in UInt8.random(in: 0 ... .max) })
        }
        let versions = SharedVersions(entries)
        let packed = (1...4).map { versions.view(for: 2, at: ClientVersion($0)).packed }
        expectTrue(packed.allSatisfy { $0 != nil })
        expectTrue(versions.viewBytes <= versions.bytes + 2_000, "\(versions.viewBytes)")
    }
}

/// Sessions that catch up by what notices have brought.
@Suite struct CatchingUpTests {
    /// A session that has everything, and was too slow for four uploads of another client.
    private func behind() throws -> SessionScript {
        var script = try SessionScript.live()
        script.recent = RecentVersions(bytes: 1 << 20)
        try script.client(.upload(SessionScript.upload(2)))
        _ = script.takeLog()
        script.environment.isCongested = true
        for version in 3...6 as ClosedRange<UInt64> {
            let notice = IntegratedNotice(
                realm: SessionScript.name, generation: 1, follows: script.realm.latest.version,
                latest: SaltedServerVersion(version: script.realm.latest.version + 1, salt: 77),
                entries: [SessionScript.entry(script.realm.latest.version + 1)], acknowledgements: [])
            script.realm.history += notice.entries
            script.recent?.hear(notice, at: version)
            try script.cluster(.integrated(notice), 1)
        }
        expectTrue(script.takeLog().isEmpty)
        script.environment.isCongested = false
        return script
    }

    private func downloads(_ log: [ServerMessage]) -> [[ServerVersion]] {
        log.compactMap { if case .download(let download) = $0 { download.entries.map(\.serverVersion) } else { nil } }
    }

    @Test func aSessionThatWasSlowAsksNobody() throws {
        var script = try behind()
        let asked = script.pagesAsked
        try script.event(.drained, 1)
        expectEqual(downloads(script.takeLog()), [[2, 3, 4, 5]])
        expectEqual(script.pagesAsked, asked)
        expectEqual(script.session(1)?.progress.download.serverVersion, 5)
    }

    @Test func aMarkIsAnsweredByTheOwner() throws {
        var script = try behind()
        let asked = script.pagesAsked
        try script.client(.mark(session: 1, request: 1))
        let log = script.takeLog()
        expectEqual(log.map(\.name), ["download", "mark"])
        expectEqual(script.pagesAsked, asked + 1)
    }

    @Test func aSessionThatMissedANoticeAsksTheOwner() throws {
        var script = try behind()
        let asked = script.pagesAsked
        try script.event(.missed, 1)
        expectEqual(downloads(script.takeLog()), [[2, 3, 4, 5]])
        expectEqual(script.pagesAsked, asked + 1)
    }

    /// A client that begins counts by the versions of a base, perhaps.
    @Test func aSessionBeginsWithTheOwnersPages() throws {
        var script = try behind()
        let asked = script.pagesAsked
        try script.client(.bind(Bind(session: 2, target: "\"tasks\"", needsIdent: true)))
        guard case .ident(_, let file)? = script.takeLog().last else { throw HarnessError("expected an IDENT") }
        try script.client(.ident(Ident(session: 2, file: file)))
        expectEqual(downloads(script.takeLog()), [[1, 2, 3, 4, 5]])
        expectEqual(script.pagesAsked, asked + 1)
    }

    /// A client with much to say hears that it was integrated before it is sent what others have written.
    @Test func aClientHearsOfItsBulkyUploadFirst() throws {
        var script = try behind()
        script.holdsAnswers = true
        script.environment.isCongested = true
        try script.client(.upload(SessionScript.upload(3)), bytes: UploadPipeline.bulkBytes)
        script.environment.isCongested = false
        try script.event(.drained, 1)
        expectTrue(script.takeLog().isEmpty)
        try script.release()
        expectEqual(downloads(script.takeLog()), [[], [2, 3, 4, 5]])
        expectEqual(script.session(1)?.progress.download.serverVersion, 6)
    }

    @Test func aBulkyUploadHoldsDownloadsUpForAMomentOnly() throws {
        var script = try behind()
        script.holdsAnswers = true
        script.environment.isCongested = true
        try script.client(.upload(SessionScript.upload(3)), bytes: UploadPipeline.bulkBytes)
        script.holdsAnswers = false
        script.environment.isCongested = false
        script.environment.now += UploadPipeline.bulkPatience - 1
        try script.event(.tick, 1)
        expectTrue(script.takeLog().isEmpty)
        script.environment.now += 1
        try script.event(.tick, 1)
        expectEqual(downloads(script.takeLog()), [[2, 3, 4, 5]])
    }

    /// The refusal waits for the answer to a MARK, which must not wait for an acknowledgement that never comes.
    @Test func aBulkyUploadThatIsRefusedHoldsNothingUp() throws {
        var script = try behind()
        try script.client(.mark(session: 1, request: 1))
        _ = script.takeLog()
        script.holdsAnswers = true
        script.environment.isCongested = true
        try script.client(.upload(SessionScript.upload(3)), bytes: UploadPipeline.bulkBytes)
        script.holdsAnswers = false
        script.environment.isCongested = false
        try script.client(.mark(session: 1, request: 2))
        expectTrue(script.takeLog().isEmpty)
        try script.cluster(
            .refused(
                RefusedAnswer(
                    realm: SessionScript.name, session: SessionReference(gateway: "g", number: 1),
                    code: .permissionDenied, action: "ApplicationBug", message: "why", tryAgain: false),
                isAnswer: false), 1)
        expectEqual(script.takeLog().map(\.name).filter { $0 != "download" }, ["mark", "json_error"])
    }
}

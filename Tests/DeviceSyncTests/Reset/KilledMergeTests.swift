import Foundation
import SyncModel
import TestSupport
import Testing

@testable import DeviceSync

/// A process killed between the record of a reset and its merge, the narrowest of its windows.
@Suite(.hangGuard)
struct KilledMergeTests {
    /// A realm's file and a fresh copy of it, in any process.
    struct Files: Codable {
        var main: URL
        var fresh: URL

        private static let outcome = ResetOutcome(
            attempt: "attempt", realm: RealmName(app: "app", partition: "null"), identOld: 1, modeRequested: .recover,
            result: .recovered)

        func merge(
            _ describe: @escaping (ResetMergeResult) -> ResetOutcome = { _ in outcome }
        ) throws -> ResetMergeResult {
            let core = try RealmCore(location: .file(main), isSynced: true)
            let attempt = ResetAttempt(
                action: .clientReset, mode: .recover, errorCode: 208, errorMessage: "sync was terminated")
            let fresh = try RealmCore(location: .file(fresh), isSynced: true)
            let merge = ResetMerge(
                core: core, fresh: fresh, attempt: attempt, record: ResetRecord(), describe: describe)
            return try merge.run()
        }

        /// What a merge describes is written with its commit.
        func dieInTheMerge() throws {
            _ = try merge { _ in
                kill(getpid(), SIGKILL)
                return Self.outcome
            }
        }

        func pendingReset() throws -> PendingReset? {
            try RealmCore(location: .file(main), isSynced: true).file.pendingReset()
        }
    }

    private func withFiles(_ body: (Files) async throws -> Void) async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let other = Device(server)
        _ = try await other.login("second@example.test")
        var urls: [URL] = []
        for device in [device, other] {
            let realm = try await Realm(configuration: device.configuration(), downloadBeforeOpen: .always)
            if urls.isEmpty { try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) } }
            let session = try #require(realm.syncSession)
            try await session.wait(for: .upload)
            session.suspend()
            await expectTrue(eventually { session.state == .inactive })
            if urls.isEmpty { try realm.write { realm.dynamicCreate("Task", value: ["_id": "b"]) } }
            urls.append(try #require(realm.configuration.fileURL))
        }
        device.quit()
        other.quit()
        for url in urls { await expectTrue(eventually { !RealmFileSet(main: url).isOpen }) }
        try await body(Files(main: urls[0], fresh: urls[1]))
        // The devices' folders go with them.
        withExtendedLifetime([device, other]) {}
    }

    private static func dieInTheMerge(_ files: Files) async {
        await #expect(processExitsWith: .signal(SIGKILL)) { [files] in try files.dieInTheMerge() }
    }

    @Test func theNextLaunchRecovers() async throws {
        try await withFiles { files in
            for deaths in 1..<ResetDecision.maxCutOff {
                await Self.dieInTheMerge(files)
                try expectEqual(files.pendingReset()?.cutOff, deaths)
            }
            let result = try files.merge()
            expectTrue(result.mode == .recover && result.changesets.recovered == 1)
            let record = try files.pendingReset()
            expectTrue(record?.mode == .recover && record?.cutOff == 0)
        }
    }

    @Test func aMergeThatKillsItsProcessEveryTimeIsNotTriedForEver() async throws {
        try await withFiles { files in
            for _ in 1...ResetDecision.maxCutOff { await Self.dieInTheMerge(files) }
            let error = #expect(throws: ResetFailure.self) { try files.merge() }
            expectEqual(error?.description.contains("cycle"), true)
        }
    }
}

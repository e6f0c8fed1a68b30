import Foundation
import RealmState
import SeededRandom
import TestSupport
import Testing

@testable import DeviceSync

/// Clients that are killed with SIGKILL wherever they are, in ordinary syncing and in the middle of client resets: nothing
/// that was committed is lost, nothing is there twice, and all copies end up equal.
///
/// `SLUICE_CHAOS_ROUNDS` sets the number of kills (default 5), `SLUICE_CHAOS_SEED` where they begin.
@Suite(.serialized, .hangGuard)
struct ChaosTests {
    private static var rounds: Int {
        ProcessInfo.processInfo.environment["SLUICE_CHAOS_ROUNDS"].flatMap { Int($0) } ?? 5
    }
    private static var seed: UInt64 {
        ProcessInfo.processInfo.environment["SLUICE_CHAOS_SEED"].flatMap { UInt64($0) } ?? 1
    }

    @Test func clientsKilledWhileSyncingLoseAndDoubleNothing() async throws {
        try await run(resets: false, seed: Self.seed)
    }

    @Test func clientsKilledInTheMiddleOfResetsLoseNothing() async throws {
        try await run(resets: true, seed: Self.seed &+ 1000)
    }

    private func run(resets: Bool, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let server = TestServer()
        try await server.start()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("chaos-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let other = Device(server)
        _ = try await other.login("second@example.test")
        let realm = try await Realm(configuration: other.configuration())
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "shared"]) }
        try await #require(realm.syncSession).wait(for: .upload)

        var others: Set<Int> = []
        for round in 1...Self.rounds {
            // A reset that the server has not acknowledged must not be followed by another: that would be a cycle. Nor must as
            // many victims die in one reset's merge as count as a failure.
            if resets, round % 2 == 1 {
                try await comeToRest(folder, server, realm)
                server.terminate()
            }
            let victim = Victim(
                folder: folder.path, serverURL: server.baseURL, round: round, lifetime: random.below(300_000),
                seed: seed &+ UInt64(round))
            let death = Task { await Self.runAndKill(victim) }
            // The other one goes on meanwhile.
            for step in 0..<3 {
                let number = -(round * 10 + step)
                try realm.write { ChaosEdits.edit(number, realm, &random) }
                others.insert(number)
                try await Task.sleep(for: .milliseconds(random.below(60)))
            }
            await death.value
        }
        try await comeToRest(folder, server, realm) { copy in
            let note = "SLUICE_CHAOS_SEED=\(seed &- (resets ? 1000 : 0))"
            let expected = server.digest
            let isEqual = await eventually { Self.digest(copy) == expected && Self.digest(realm) == expected }
            expectTrue(isEqual, "the copies differ; \(note)")
            try check(copy, Victim.writes(in: folder.path), others, exactly: !resets, note)
        }
    }

    private static func runAndKill(_ victim: Victim) async {
        await #expect(processExitsWith: .signal(SIGKILL)) { [victim] in
            try await victim.run()
        }
    }

    /// The victim's files are opened by a process that lives: whatever they hold gets to the server, and back.
    private func comeToRest(
        _ folder: URL, _ server: TestServer, _ realm: Realm, _ body: (Realm) async throws -> Void = { _ in }
    ) async throws {
        let survivor = Device(server, folder: folder)
        if survivor.app.currentUser == nil { _ = try await survivor.login() }
        let url = try await sync(survivor, realm, body)
        expectTrue(survivor.clientErrors.isEmpty)
        survivor.quit()
        await expectTrue(eventually { !RealmFileSet(main: url).isOpen })
    }

    private func sync(_ survivor: Device, _ realm: Realm, _ body: (Realm) async throws -> Void) async throws -> URL {
        let copy = try await Realm(configuration: survivor.configuration(), downloadBeforeOpen: .always)
        for realm in [copy, realm, copy, realm] {
            try await #require(realm.syncSession).wait(for: .upload)
            try await #require(realm.syncSession).wait(for: .download)
        }
        // The next reset would look like a second attempt at the last one.
        for realm in [copy, realm] {
            await expectTrue(eventually { (try? realm.instance.core.file.pendingReset()) == nil })
        }
        try await body(copy)
        return try #require(copy.configuration.fileURL)
    }

    private func check(
        _ copy: Realm, _ writes: (certain: Set<Int>, open: Set<Int>), _ others: Set<Int>, exactly: Bool, _ note: String
    ) throws {
        let objects = Set(copy.dynamicObjects("Task").compactMap { $0["count"] as? Int })
        let certain = writes.certain.union(others)
        expectTrue(certain.subtracting(objects).isEmpty, "lost objects; \(note)")
        let shared = try #require(copy.dynamicObject(ofType: "Task", forPrimaryKey: "shared"))
        let listed = (shared["numbers"] as? DynamicList)?.compactMap { $0 as? Int } ?? []
        expectTrue(certain.subtracting(listed).isEmpty, "lost list elements; \(note)")
        expectTrue(Set(listed).subtracting(certain).isSubset(of: writes.open))
        // A reset may repeat list insertions and increments that the server had received but not acknowledged
        // (docs/resets.md, "Merge").
        guard exactly else { return }
        expectEqual(Set(listed).count, listed.count, "doubled list elements; \(note)")
        expectTrue(shared["count"] as? Int == listed.count, "the counter; \(note)")
    }

    private static func digest(_ realm: Realm) -> StateDigest {
        StateDump.digest(of: realm.instance.core.snapshot.state)
    }
}

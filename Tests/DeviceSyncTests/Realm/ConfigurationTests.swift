import Foundation
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// What configurations ask for at an opening and later.
@Suite(.hangGuard)
struct ConfigurationTests {
    private let folder = Folder()

    private func fillAndEmpty(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        for round in 0..<8 {
            try realm.write {
                for number in 0..<200 {
                    realm.dynamicCreate(
                        "Task", value: ["_id": "\(round)-\(number)", "title": String(repeating: "x", count: 1000)])
                }
            }
        }
        try realm.write { realm.deleteAll() }
    }

    private var size: Int {
        get throws {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file.path)
            return (attributes[.size] as? NSNumber)?.intValue ?? 0
        }
    }

    @Test(arguments: [true, false])
    func theFirstOpeningCompactsIfTheAppSaysSo(wanted: Bool) throws {
        try fillAndEmpty(folder.configuration)
        let asked = Mutex<[(total: Int, used: Int)]>([])
        var configuration = folder.configuration
        configuration.shouldCompactOnLaunch = { total, used in
            asked.withLock { $0.append((total, used)) }
            return wanted
        }
        let realm = try Realm(configuration: configuration)
        _ = try Realm(configuration: configuration)
        let (total, used) = try #require(asked.withLock { $0.first })
        expectEqual(asked.withLock { $0.count }, 1)
        expectTrue(total > 1_000_000 && used < total / 2)
        try expectTrue(wanted ? size < total / 2 : size >= total)
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        expectEqual(realm.dynamicObjects("Task").count, 1)
    }

    @Test func aNewRealmIsNotCompacted() throws {
        var configuration = folder.configuration
        configuration.shouldCompactOnLaunch = { _, _ in
            Issue.record("asked without a file")
            return true
        }
        try expectTrue(Realm(configuration: configuration).isEmpty)
    }

    @Test func versionsThatAreKeptAreLimited() throws {
        var configuration = folder.configuration
        configuration.maximumNumberOfActiveVersions = 2
        let realm = try Realm(configuration: configuration)
        func write() throws { try realm.write { realm.dynamicCreate("Task", value: ["_id": UUID().uuidString]) } }
        for _ in 0..<5 { try write() }
        var frozen = [realm.freeze()]
        try write()
        frozen.append(realm.freeze())
        try write()
        let error = #expect(throws: Realm.Error.self) { try write() }
        expectTrue(
            error?.code == .fail && error?.localizedDescription.contains("maximumNumberOfActiveVersions") == true)
        expectEqual(realm.dynamicObjects("Task").count, 7)
        frozen.removeFirst()
        try write()
        expectEqual(frozen.first?.dynamicObjects("Task").count, 6)
    }

    /// The app may not write; its session does.
    @Test func aReadOnlyRealmSyncs() async throws {
        let server = TestServer()
        try await server.start()
        let writer = Device(server)
        _ = try await writer.login()
        let full = try await Realm(configuration: writer.configuration(), downloadBeforeOpen: .once)
        try await full.asyncWrite { _ = full.dynamicCreate("Task", value: ["_id": "a"]) }
        try await full.syncSession?.wait(for: .upload)
        let device = Device(server)
        _ = try await device.login("second@example.test")
        var configuration = try device.configuration()
        configuration.readOnly = true
        let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .once)
        expectEqual(realm.titles().keys.sorted(), ["a"])
        try await full.asyncWrite { _ = full.dynamicCreate("Task", value: ["_id": "b"]) }
        try await full.syncSession?.wait(for: .upload)
        try await realm.syncSession?.wait(for: .download)
        expectTrue(realm.titles().keys.sorted() == ["a", "b"] && device.clientErrors.isEmpty)
    }

    /// Nothing of it comes to the disk, and nothing is left when it is closed: not what was uploaded, and not what was not.
    @Test func aSyncedRealmInMemoryLeavesNothing() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        var configuration = try device.configuration()
        configuration.inMemoryIdentifier = "memory-\(UUID().uuidString)"
        let ident = try await useInMemory(configuration, device, server)
        // At once: its session may still be on its way out. What is in it cannot be from the server.
        server.refusesConnections = true
        server.dropConnections()
        let again = try Realm.openNow(configuration)
        expectTrue(again.titles().isEmpty)
        server.refusesConnections = false
        again.syncSession?.reconnect()
        try await again.syncSession?.wait(for: .download)
        expectEqual(again.titles().keys.sorted(), ["a"])
        expectTrue(again.instance.core.sync.ident?.ident != ident)
        try await again.syncSession?.wait(for: .upload)
        expectEqual(server.taskCount, 1)
        await expectTrue(eventually { device.app.core.sync.allSessions == [again.syncSession] })
    }

    /// A task that opens the realm while others close it shares a store with them or has a new one, and never one that nobody
    /// else can open.
    @Test func aRealmInMemoryIsOneStoreForAllWhoHaveItOpen() async throws {
        let device = Device(TestServer())
        try await device.server.start()
        _ = try await device.login()
        var base = try device.configuration()
        base.inMemoryIdentifier = "memory-\(UUID().uuidString)"
        let configuration = base
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<50 {
                        do {
                            let one = try await RealmOpener.open(configuration, nil)
                            let other = try await RealmOpener.open(configuration, nil)
                            expectTrue(one.core === other.core && one.session == other.session)
                            expectEqual(one.session?.state, .active)
                        } catch {
                            Issue.record("\(error)")
                        }
                    }
                }
            }
        }
        device.app.syncManager.waitForSessionTermination()
        expectTrue(device.app.core.sync.allSessions.isEmpty)
    }

    private func useInMemory(
        _ configuration: Realm.Configuration, _ device: Device, _ server: TestServer
    ) async throws -> FileIdent? {
        func files() throws -> Set<String> {
            Set(
                try FileManager.default.subpathsOfDirectory(atPath: device.folder.path)
                    .filter { !$0.contains("metadata") && !$0.hasSuffix("test") })
        }
        let before = try files()
        let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
        let other = try await Realm(configuration: configuration)
        try await realm.asyncWrite { _ = realm.dynamicCreate("Task", value: ["_id": "a"]) }
        expectEqual(other.titles().keys.sorted(), ["a"])
        try await realm.syncSession?.wait(for: .upload)
        expectEqual(server.taskCount, 1)
        try expectEqual(files(), before)
        let session = try #require(realm.syncSession)
        session.suspend()
        await expectTrue(eventually { session.state == .inactive })
        try await realm.asyncWrite { _ = realm.dynamicCreate("Task", value: ["_id": "not uploaded"]) }
        return realm.instance.core.sync.ident?.ident
    }

    @Test func anOpeningTellsHowFarItIs() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let estimates = Mutex<[Double]>([])
        let configuration = try device.configuration()
        let realm = try await withCheckedThrowingContinuation { continuation in
            let task = Realm.asyncOpen(configuration: configuration, callbackQueue: .global()) {
                continuation.resume(with: $0)
            }
            task.addProgressNotification(queue: DispatchQueue(label: "test.progress")) { progress in
                estimates.withLock { $0.append(progress.progressEstimate) }
            }
        }
        await expectTrue(eventually { estimates.withLock { $0.last } == 1 })
        expectTrue(realm.isEmpty)
    }
}

import Foundation
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// Openings with `.once`, whose file may have been left half downloaded by an opening before.
@Suite(.hangGuard)
struct OnceTests {
    enum End: CaseIterable { case cancelled, killed }

    @Test(arguments: End.allCases)
    func anOpeningWaitsForADownloadThatTheOneBeforeDidNotGet(end: End) async throws {
        let server = TestServer()
        try await server.start()
        let filler = Device(server)
        _ = try await filler.login()
        let full = try await Realm(configuration: filler.configuration(), downloadBeforeOpen: .once)
        try await full.asyncWrite { _ = full.dynamicCreate("Task", value: ["_id": "a"]) }
        try await full.syncSession?.wait(for: .upload)
        server.holdsMarks = true
        server.holdsPages = true
        server.forgetMessages()

        let device = Device(server)
        _ = try await device.login("second@example.test")
        let configuration = try device.configuration()
        let url = try #require(configuration.fileURL)
        let first = Task { try await Realm(configuration: configuration, downloadBeforeOpen: .once) }
        await expectTrue(eventually { server.messages.contains { $0.name == "mark" } })
        switch end {
        case .cancelled:
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
        case .killed:
            device.relaunch()
            await #expect(throws: (any Error).self) { try await first.value }
        }
        await expectTrue(eventually { !RealmFileSet(main: url).isOpen })
        try expectTrue(SyncFileState.stored(at: url).ident != nil)

        server.forgetMessages()
        let again = try device.configuration()
        let second = Task { try await Realm(configuration: again, downloadBeforeOpen: .once).titles() }
        await expectTrue(eventually { server.messages.contains { $0.name == "mark" } })
        server.holdsPages = false
        server.holdsMarks = false
        try await expectEqual(second.value.keys.sorted(), ["a"])
        // Now it has had them, and needs no server any more.
        device.relaunch()
        server.refusesConnections = true
        let offline = try await Realm(configuration: device.configuration(), downloadBeforeOpen: .once)
        expectEqual(offline.titles().keys.sorted(), ["a"])
    }

    @Test func aFileThatAnOpeningWithoutDownloadHasMadeIsOpenedAsItIs() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        server.refusesConnections = true
        let realm = try Realm.openNow(device.configuration())
        try await realm.asyncWrite { _ = realm.dynamicCreate("Task", value: ["_id": "a"]) }
        let again = try await Realm(configuration: device.configuration(), downloadBeforeOpen: .once)
        expectEqual(again.titles().count, 1)
    }

    /// The data come with the initial subscriptions in flexible mode, after a first mark.
    @Test func anOpeningWaitsForInitialSubscriptionsThatTheOneBeforeHasMade() async throws {
        let server = FlexibleServer()
        try await server.start()
        let filler = FlexibleDevice(server)
        let full = try await filler.open()
        try await full.asyncWrite { _ = full.dynamicCreate("Task", value: ["_id": "a"]) }
        try await full.syncSession?.wait(for: .upload)
        server.sending = .never
        server.forgetMessages()

        let device = FlexibleDevice(server)
        _ = try await device.login()
        let configuration = try device.configuration(subscribing: ["TRUEPREDICATE"])
        let first = Task { try await Realm(configuration: configuration, downloadBeforeOpen: .once) }
        await expectTrue(eventually { !server.queries.isEmpty })
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }

        server.forgetMessages()
        let second = Task { try await Realm(configuration: configuration, downloadBeforeOpen: .once).titles() }
        await expectTrue(eventually { server.messages.contains { $0.name == "mark" } || !server.queries.isEmpty })
        server.sending = .whole
        server.dropConnections()
        try await expectEqual(second.value.keys.sorted(), ["a"])
    }

    /// A session that is done before somebody waits for it would have nobody to tell that the file has to begin anew.
    @Test func theSessionOfAnOpeningThatDownloadsRestsUntilItIsWaitedFor() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let instance = try await RealmOpener.open(try device.configuration(), nil, downloadsFirst: true)
        let session = try #require(instance.session)
        let connection = session.connection
        func isAtWork() -> Bool? {
            connection.executor.queue.sync {
                connection.assumeIsolated { $0.realm(of: session).map { !$0.sessions.isEmpty } }
            }
        }
        // The queue has done all that was asked for by now.
        expectEqual(isAtWork(), false)
        try await session.wait(for: .download, failingOnConnectionErrors: false, resuming: true)
        expectEqual(isAtWork(), true)
    }

    /// Another opening, which does not wait, does not leave it resting.
    @Test func anOpeningThatDoesNotDownloadStartsTheSession() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let resting = try await RealmOpener.open(try device.configuration(), nil, downloadsFirst: true)
        let realm = try Realm.openNow(device.configuration())
        try await realm.syncSession?.wait(for: .download)
        expectEqual(resting.session, realm.syncSession)
    }
}

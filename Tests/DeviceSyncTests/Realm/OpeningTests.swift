import Dispatch
import Foundation
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// Opening a synced realm whose user is not there any more.
@Suite(.hangGuard)
struct OpeningTests {
    enum Departure: CaseIterable {
        case logOut, remove

        func run(_ user: User) async throws {
            switch self {
            case .logOut: try await user.logOut()
            case .remove: try await user.remove()
            }
        }
    }

    private func isUserError(_ error: (any Error)?) -> Bool { (error as? SyncError)?.code == .clientUserError }

    @Test(arguments: Departure.allCases)
    func aDownloadingOpenWithoutALoggedInUserThrowsAndMakesNoFile(departure: Departure) async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let user = try await device.login()
        let configuration = try device.configuration()
        try await departure.run(user)
        for behavior in [Realm.OpenBehavior.always, .once] {
            let error = await #expect(throws: SyncError.self) {
                try await Realm(configuration: configuration, downloadBeforeOpen: behavior)
            }
            expectTrue(isUserError(error) && error?.message.contains(user.id) == true)
            expectTrue(!Realm.fileExists(for: configuration))
        }
        let result = await withCheckedContinuation { continuation in
            Realm.asyncOpen(configuration: configuration, callbackQueue: DispatchQueue(label: "test")) { result in
                continuation.resume(returning: result.map { _ in })
            }
        }
        #expect(throws: SyncError.self) { try result.get() }
    }

    @Test(arguments: Departure.allCases)
    func anOpenThatWaitsForItsDownloadThrowsWhenTheUserGoes(departure: Departure) async throws {
        let server = TestServer()
        try await server.start()
        server.holdsMarks = true
        let device = Device(server)
        let user = try await device.login()
        let configuration = try device.configuration()
        let opening = Task { try await Realm(configuration: configuration, downloadBeforeOpen: .always) }
        await expectTrue(eventually { server.messages.contains { $0.name == "mark" } })
        try await departure.run(user)
        await #expect { try await opening.value } throws: { isUserError($0) }
    }

    @Test func aSessionOfALoggedOutUserFailsItsWaitsUntilTheUserLogsIn() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let user = try await device.login()
        try await user.logOut()
        var configuration = user.configuration(partitionValue: "p")
        configuration.dynamicSchema = Device.schema
        let realm = try Realm.openNow(configuration)
        let session = try #require(realm.syncSession)
        await #expect { try await session.wait(for: .download) } throws: { isUserError($0) }
        expectEqual(session.state, .inactive)
        _ = try await device.login()
        try await session.wait(for: .download)
        expectEqual(session.state, .active)
    }
}

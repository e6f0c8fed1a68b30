import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// What the SDK logs, for an app that wants to see it. In processes of its own: there is one logger for each.
@Suite(.hangGuard, .serialized)
struct LoggerTests {
    private final class Lines: Sendable {
        private let lines = Mutex<[(level: LogLevel, text: String)]>([])
        func add(_ level: LogLevel, _ text: String) { lines.withLock { $0.append((level, text)) } }
        var all: [(level: LogLevel, text: String)] { lines.withLock { $0 } }
        func has(_ text: String) -> Bool { all.contains { $0.text.contains(text) } }
    }

    @Test func sessionsAreSeenAndTokensAreNot() async {
        await #expect(processExitsWith: .success) {
            let lines = Lines()
            DeviceSync.Logger.shared = DeviceSync.Logger(level: .trace) { lines.add($0, $1) }
            let server = TestServer()
            try await server.start()
            let device = Device(server)
            let user = try await device.login()
            let realm = try await Realm(configuration: device.configuration(), downloadBeforeOpen: .always)
            try await realm.syncSession?.wait(for: .upload)
            try #require(lines.has("sync: connected") && lines.has("sync: received") && lines.has("app=test"))
            let tokens = try [#require(user.accessToken), #require(user.refreshToken)]
            try #require(tokens.allSatisfy { !lines.has($0) } && !lines.has("secret"))
        }
    }

    @Test func levelsAreThoseOfTheCategories() async {
        await #expect(processExitsWith: .success) {
            let lines = Lines()
            let logger = DeviceSync.Logger { lines.add($0, $1) }
            DeviceSync.Logger.shared = logger
            try #require(logger.level == .info && logger[.sync] == .info)
            let (app, sync) = (SharedLogHandler.logger(.app), SharedLogHandler.logger(.sync))
            app.debug("not seen")
            sync.info("one")
            logger[.sync] = .debug
            sync.debug("two")
            app.debug("not seen")
            logger.level = .error
            sync.warning("not seen")
            sync.error("three", metadata: ["b": "2", "a": "1"])
            logger.level = .off
            sync.critical("not seen")
            try #require(lines.all.map(\.text) == ["sync: one", "sync: two", "sync: three a=1 b=2"])
            try #require(lines.all.map(\.level) == [.info, .debug, .error])
        }
    }
}

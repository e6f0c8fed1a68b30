import DeviceSync
import Foundation
import LocalCluster
import Synchronization
import TestSupport
import Testing

extension SharedClusterTests {
    /// What the SDK logs of an app's life at a running cluster.
    @MainActor @Suite struct LoggingTests {
        /// Also hears of what other tests of this process do meanwhile, whose secrets are no more for a log.
        private final class Lines: Sendable {
            private let lines = Mutex<[(level: LogLevel, text: String)]>([])
            func add(_ level: LogLevel, _ text: String) { lines.withLock { $0.append((level, text)) } }
            var all: [(level: LogLevel, text: String)] { lines.withLock { $0 } }
            /// Whether somebody who asks for a level sees such a line.
            func has(_ text: String, upTo level: LogLevel) -> Bool {
                all.contains { $0.level <= level && $0.text.contains(text) }
            }
        }

        @Test(.ownGateway) func sessionsAreSeenAndNoSecretIs() async throws {
            let cluster = try SharedCluster.cluster
            let id = try await cluster.newApp()
            try await cluster.operate("logins", "set", id, "api-key")
            let lines = Lines()
            let logger = Logger.shared
            // More than what developers ask for, so that nothing slips through there either.
            Logger.shared = Logger(level: .all) { lines.add($0, $1) }
            defer { Logger.shared = logger }

            // A login by password, with a realm.
            let app = try App(id: id, configuration: AppConfiguration(baseURL: TestGateway.url))
            let (email, password) = ("\(UUID().uuidString.lowercased())@example.net", "correct horse battery")
            try await app.emailPasswordAuth.registerUser(email: email, password: password)
            let user = try await app.login(credentials: .emailPassword(email: email, password: password))
            var secrets = try [password, #require(user.accessToken), #require(user.refreshToken)]
            let phone = try await Phone(user, user.configuration(partitionValue: "home"))
            try phone.add("a")
            try await phone.upload()

            // A refresh.
            _ = try await user.refreshCustomData()
            secrets.append(try #require(user.accessToken))

            // A key, and a login with it.
            let key = try await user.apiKeysAuth.createAPIKey(named: "ci")
            secrets.append(try #require(key.key))
            let program = try await app.login(credentials: .userAPIKey(try #require(key.key)))
            secrets += try [#require(program.accessToken), #require(program.refreshToken)]

            // A connection that ends, attempts that fail, and one that works.
            try await TestGateway.mine.kill()
            try await eventually("the connection's end is logged") { lines.has("sync: connection ended", upTo: .debug) }
            await #expect(throws: AppError.self) { _ = try await user.refreshCustomData() }
            try await TestGateway.mine.start()
            try phone.session.reconnect()
            try phone.add("b")
            try await phone.upload()
            secrets.append(try #require(user.accessToken))
            try await user.logOut()
            try await eventually("the session rests") { try phone.session.state == .inactive }

            let seen = lines.all
            expectTrue(
                seen.count { $0.level <= .debug && $0.text.contains("sync: connected") && $0.text.contains(id) } >= 2)
            // Nor the parts of tokens that would do without the others.
            for secret in secrets.flatMap({ [$0] + $0.split(separator: ".").dropFirst().map(String.init) }) {
                expectTrue(!seen.contains { $0.text.contains(secret) })
            }
        }
    }
}

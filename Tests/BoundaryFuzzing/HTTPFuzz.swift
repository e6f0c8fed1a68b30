import AMQP
import Foundation
import Gateway
import Logging
import MemoryStorage
import MergeConformance
import Messages
import Operations
import Storage
import SyncModel
import Synchronization

enum HTTPFuzz {
    /// Words in an input that stand for what differs from run to run.
    private static let words = ["{access}", "{refresh}"]

    /// A gateway on a free port, with a store in memory and no broker, which serves as long as the process lives.
    private static let port = Task {
        guard let slices = SliceCount(1) else { throw BrokenLaw("one slice is a cluster") }
        var configuration = GatewayConfiguration(
            id: "fuzz", port: 0, amqp: try AMQPConfiguration(url: "amqp://guest:guest@127.0.0.1:1/"), slices: slices)
        configuration.passwords.logN = 4
        let plenty = GatewayLimits.Rate(burst: 1_000_000_000, perMinute: 1_000_000_000)
        configuration.limits.registerRate = plenty
        configuration.limits.anonymousRate = plenty
        configuration.limits.refreshRate = plenty
        configuration.limits.outcomeRate = plenty
        configuration.limits.failedLogins.address = plenty
        configuration.limits.failedLogins.account = plenty
        configuration.limits.failedLogins.knownAddress = plenty
        configuration.limits.failedLogins.app = plenty
        let store = MemoryControlStore()
        try await store.insert(AppRecord(id: "tasks", createdAt: 1), rules: nil)
        var logger = Logger(label: "fuzz")
        logger.logLevel = .critical
        let service = GatewayService(
            configuration: configuration, control: store, readiness: Readiness(), logger: logger)
        // Nobody waits for it: the process ends with its fuzzer.
        Task { try await service.run() }
        return try await service.boundPort.value()
    }

    private static let tokens = Mutex<(access: String, refresh: String)?>(nil)

    static func run(_ bytes: [UInt8]) async throws(BrokenLaw) {
        let port: Int
        do {
            port = try await Self.port.value
        } catch {
            throw BrokenLaw("the gateway does not start: \(error)")
        }
        let request = try await filledIn(bytes, port)
        guard let exchange = await LoopbackExchange.run(request, port: port) else { return }
        try BrokenLaw.check(
            exchange.isClosed,
            "the gateway keeps a socket whose client has sent all it will, after \(exchange.answer.count) bytes of answers"
        )
        try AnswerCheck.check(exchange.answer)
    }

    private static func filledIn(_ bytes: [UInt8], _ port: Int) async throws(BrokenLaw) -> [UInt8] {
        let text = String(decoding: bytes, as: UTF8.self)
        guard words.contains(where: { text.contains($0) }) else { return bytes }
        let held: (access: String, refresh: String)
        if let known = tokens.withLock({ $0 }) { held = known } else { held = try await login(port) }
        // A request that may end the login costs the next one a new login.
        tokens.withLock { $0 = text.contains("DELETE") ? nil : held }
        return Array(text.replacing("{access}", with: held.access).replacing("{refresh}", with: held.refresh).utf8)
    }

    private static func login(_ port: Int) async throws(BrokenLaw) -> (access: String, refresh: String) {
        let request = """
            POST /api/client/v2.0/app/tasks/auth/providers/anon-user/login HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r
            Connection: close\r\n\r\n
            """
        let answer = await LoopbackExchange.run(Array(request.utf8), port: port)?.answer ?? []
        guard let start = answer.firstIndex(of: UInt8(ascii: "{")),
            let json = try? JSONParser.parse(Array(answer[start...])).objectValue,
            let access = json["access_token"]?.stringValue, let refresh = json["refresh_token"]?.stringValue
        else { throw BrokenLaw("nobody can log in: \(String(decoding: answer, as: UTF8.self))") }
        return (access, refresh)
    }
}

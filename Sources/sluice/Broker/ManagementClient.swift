import AMQP
import ArgumentParser
import AsyncHTTPClient
import Foundation
import Inspection
import NIOCore
import NIOHTTP1
import Operations

/// Where the broker's management plugin is, and who asks it.
struct ManagementOptions: ParsableArguments {
    @Option(help: "The broker's management plugin, http://host:15672 (SLUICE_MANAGEMENT_URL).")
    var managementURL: String?

    @Option(
        help: """
            A file with user:password for the plugin (or SLUICE_MANAGEMENT_CREDENTIALS itself); else those of amqp.url are used.
            """)
    var managementCredentials: String?

    /// - Returns: nil if no plugin is named.
    func client(_ settings: ClusterSettings) throws -> ManagementClient? {
        let environment = ProcessInfo.processInfo.environment
        guard let url = managementURL ?? environment["SLUICE_MANAGEMENT_URL"], !url.isEmpty else { return nil }
        guard !url.contains("@") else {
            throw CommandFailure(
                .badInput,
                "--management-url: expected no user and password in it, where others see them: use --management-credentials FILE"
            )
        }
        return ManagementClient(
            base: url.withoutTrailingSlash, login: try login(environment, settings),
            authorities: settings.configuration.authoritiesFile)
    }

    private func login(
        _ environment: [String: String], _ settings: ClusterSettings
    ) throws -> (user: String, password: String)? {
        var text = environment["SLUICE_MANAGEMENT_CREDENTIALS"]
        var place = "SLUICE_MANAGEMENT_CREDENTIALS"
        if let file = managementCredentials {
            guard let content = try? String(contentsOfFile: file, encoding: .utf8) else {
                throw CommandFailure(.notFound, "--management-credentials: cannot read \(file)")
            }
            (text, place) = (content.trimmingCharacters(in: .whitespacesAndNewlines), file)
        }
        if let text, !text.isEmpty {
            guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else {
                throw CommandFailure(.badInput, "\(place): expected user:password")
            }
            return (String(text[..<colon]), String(text[text.index(after: colon)...]))
        }
        if case .plain(let user, let password) = try settings.amqp(name: "management").credentials {
            return (user, password)
        }
        return nil
    }
}

/// The HTTP API of the broker's management plugin.
struct ManagementClient {
    let base: String
    let login: (user: String, password: String)?
    /// A PEM file of authorities that are trusted beside the system's.
    let authorities: String?

    private struct Overview: Decodable { var rabbitmq_version: String }
    private struct Refusal: Decodable { var reason: String? }

    /// What the plugin says of the broker and a virtual host; `time` is when the broker said it, by its own clock.
    func facts(ofVirtualHost name: String) async throws -> (facts: BrokerFacts, time: Date?) {
        let (overview, time): (Overview?, Date?) = try await get("overview")
        guard let overview else {
            throw failure(.notFound, "it has no overview: is this RabbitMQ's management plugin?")
        }
        let host = try await virtualHost(name)
        let facts = BrokerFacts(
            version: overview.rabbitmq_version, nodes: try await get("nodes").answer ?? [], host: host,
            featureFlags: try await get("feature-flags").answer ?? [], accounts: try await accounts())
        return (facts, time)
    }

    private func virtualHost(_ name: String) async throws -> BrokerFacts.VirtualHost? {
        let path = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? name
        let columns =
            "name,type,durable,exclusive,arguments,leader,members,online,policy,operator_policy,effective_policy_definition"
        guard let exchanges: [BrokerFacts.Exchange] = try await get("exchanges/\(path)").answer,
            let queues: [BrokerFacts.Queue] = try await get("queues/\(path)?columns=\(columns)").answer,
            let bindings: [BrokerFacts.Binding] = try await get("bindings/\(path)").answer
        else { return nil }
        return BrokerFacts.VirtualHost(
            exchanges: exchanges, queues: queues, bindings: bindings,
            policies: try await get("policies/\(path)").answer ?? [])
    }

    /// Nil for a user that is no administrator.
    private func accounts() async throws -> BrokerFacts.Accounts? {
        guard let users: [BrokerFacts.User] = try await get("users", refusedIsNil: true).answer,
            let permissions: [BrokerFacts.Permission] = try await get("permissions", refusedIsNil: true).answer
        else { return nil }
        return BrokerFacts.Accounts(users: users, permissions: permissions)
    }

    /// Has the broker make what a document defines.
    func make(_ definitions: BrokerDefinitions) async throws {
        var request = request("definitions")
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(definitions)))
        let answer = try await send(request, timeout: .seconds(300))
        guard (200..<300).contains(answer.status.code) else {
            let reason = (try? JSONDecoder().decode(Refusal.self, from: answer.body))?.reason
            throw failure(.badInput, "it refuses the definitions: \(reason ?? "\(answer.status.code)")")
        }
    }

    /// Has the broker delete something; nothing happens where there is no such thing.
    func delete(_ path: String) async throws {
        var request = request(path)
        request.method = .DELETE
        let answer = try await send(request, timeout: .seconds(60))
        guard (200..<300).contains(answer.status.code) || answer.status == .notFound else {
            throw failure(
                answer.status == .unauthorized || answer.status == .forbidden ? .notAllowed : .badInput,
                "it does not delete \(path): \(answer.status.code)")
        }
    }

    /// Puts a message into a queue.
    func publish(_ payload: String, to queue: String, inVirtualHost host: String) async throws {
        struct Publication: Encodable {
            struct Properties: Encodable { var delivery_mode = 2 }
            var properties = Properties()
            var routing_key: String
            var payload: String
            var payload_encoding = "string"
        }
        let path = "exchanges/\(Self.segment(host))/amq.default/publish"
        var request = request(path)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(
            ByteBuffer(bytes: try JSONEncoder().encode(Publication(routing_key: queue, payload: payload))))
        let answer = try await send(request, timeout: .seconds(60))
        guard (200..<300).contains(answer.status.code) else {
            throw failure(.badInput, "it does not put a message into \(queue): \(answer.status.code)")
        }
    }

    /// A name as a part of a path.
    static func segment(_ name: String) -> String {
        name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? name
    }

    /// - Returns: nil where there is no such thing.
    private func get<Answer: Decodable>(
        _ path: String, refusedIsNil: Bool = false
    ) async throws -> (answer: Answer?, time: Date?) {
        let answer = try await send(request(path), timeout: .seconds(30))
        switch answer.status {
        case .ok: break
        case .notFound: return (nil, nil)
        case .unauthorized, .forbidden:
            if refusedIsNil { return (nil, nil) }
            throw failure(
                .notAllowed,
                "it refuses \(login.map { "user \($0.user)" } ?? "a login by certificate"): see --management-credentials, and that the "
                    + "user has the tag monitoring (to look) or administrator (to change)")
        default: throw failure(.unreachable, "it answers \(answer.status.code) for \(path)")
        }
        let time = answer.headers.first(name: "Date").flatMap(Self.date)
        do {
            return (try JSONDecoder().decode(Answer.self, from: answer.body), time)
        } catch {
            throw failure(.internalError, "its answer for \(path) was not understood: \(error)")
        }
    }

    private func request(_ path: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: "\(base)/api/\(path)")
        // The plugin's answers compress so well that they look like an attack.
        request.headers.add(name: "Accept-Encoding", value: "identity")
        if let login {
            let text = Data("\(login.user):\(login.password)".utf8).base64EncodedString()
            request.headers.add(name: "Authorization", value: "Basic \(text)")
        }
        return request
    }

    private func send(_ request: HTTPClientRequest, timeout: TimeAmount) async throws -> HTTPAnswer {
        do {
            return try await HTTPAnswer.of(request, timeout: timeout, maxBytes: 64 << 20, trusting: authorities)
        } catch {
            throw failure(.unreachable, CommandFailure(describing: error).message)
        }
    }

    private func failure(_ kind: CommandFailure.Kind, _ message: String) -> CommandFailure {
        CommandFailure(kind, "the management plugin at \(base): \(message)")
    }

    /// RFC 9110: Sun, 06 Nov 1994 08:49:37 GMT.
    private static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return formatter.date(from: text)
    }
}

import AMQP
import AsyncHTTPClient
import Foundation
import Inspection
import Messages
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import SyncModel

/// Asks the broker's management plugin for what AMQP does not tell.
struct ManagementDoctor {
    let url: String?
    let amqp: AMQPConfiguration
    let topology: Topology
    let slices: SliceCount
    /// A PEM file of authorities that are trusted beside the system's.
    let authorities: String?

    func examine() async -> [Diagnosis] {
        guard let url, !url.isEmpty else {
            return [
                Diagnosis(
                    .broker, "version, nodes and policies", .unchecked, "AMQP does not tell them",
                    "--management-url http://host:15672, where the broker has its management plugin")
            ]
        }
        let base = url.withoutTrailingSlash
        do {
            var found = [try await version(base)]
            found += try await nodes(base)
            found += try await policies(base)
            return found
        } catch {
            return [
                Diagnosis(
                    .broker, "management", .unchecked, "\(base): \(CommandFailure(describing: error).message)",
                    "see that the plugin is enabled, and that the user has the tag monitoring")
            ]
        }
    }

    private struct Overview: Decodable {
        var rabbitmq_version: String
    }

    private func version(_ base: String) async throws -> Diagnosis {
        let start = Date()
        let (overview, date): (Overview, Date?) = try await get(base + "/api/overview")
        let version = overview.rabbitmq_version
        let parts = version.split(separator: ".").compactMap { Int($0.prefix { $0.isNumber }) }
        if let major = parts.first, parts.count > 1, (major, parts[1]) < (3, 10) {
            return Diagnosis(
                .broker, "version", .fault, "RabbitMQ \(version)", "Sluice needs 3.10 or newer, for its quorum queues")
        }
        if let date, abs(date.timeIntervalSince(start)) > 5 {
            return Diagnosis(
                .clock, "broker", .warning,
                "the broker's clock is \(Int(date.timeIntervalSince(start))) s from this machine's",
                "run chrony or ntpd on every machine")
        }
        return Diagnosis(.broker, "version", .ok, "RabbitMQ \(version), its clock agrees with this machine's")
    }

    private struct Node: Decodable {
        var name: String
        var running: Bool
        var mem_alarm: Bool?
        var disk_free_alarm: Bool?
        var partitions: [String]?
    }

    private func nodes(_ base: String) async throws -> [Diagnosis] {
        let (nodes, _): ([Node], Date?) = try await get(base + "/api/nodes")
        var found: [Diagnosis] = []
        for node in nodes {
            if !node.running {
                found.add(.broker, node.name, .warning, "the node is down", "start it")
            }
            if node.mem_alarm == true {
                found.add(
                    .broker, node.name, .fault, "memory alarm: nothing can be published",
                    "give it memory, or find what fills its queues")
            }
            if node.disk_free_alarm == true {
                found.add(.broker, node.name, .fault, "disk alarm: nothing can be published", "make room on its disk")
            }
            if node.partitions?.isEmpty == false {
                found.add(
                    .broker, node.name, .fault, "cut off from \(node.partitions?.joined(separator: ", ") ?? "")",
                    "mend the network, then restart the minority's nodes")
            }
        }
        return found.isEmpty ? [Diagnosis(.broker, "nodes", .ok, "\(nodes.count) running, no alarm")] : found
    }

    private struct Queue: Decodable {
        var name: String
        var type: String?
        var policy: String?
        var operator_policy: String?
        var effective_policy_definition: Definition?

        /// The keys alone; the plugin writes an empty list where there is nothing.
        struct Definition: Decodable {
            var keys: [String]

            init(from decoder: any Decoder) throws {
                keys = (try? [String: Ignored](from: decoder).keys.sorted()) ?? []
            }
        }

        private struct Ignored: Decodable {
            init(from decoder: any Decoder) {}
        }
    }

    /// What a policy may say without taking anything away.
    private static let harmless: Set<String> = ["queue-leader-locator", "queue-master-locator", "consumer-timeout"]
    /// Where what is beyond them is refused to its publisher: the dead letters' queue would drop it.
    private static let limits: Set<String> = ["max-length", "max-length-bytes"]

    private func policies(_ base: String) async throws -> [Diagnosis] {
        let host = amqp.virtualHost.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "%2F"
        let (queues, _): ([Queue], Date?) = try await get(base + "/api/queues/\(host)")
        let ours = Set([topology.dead, topology.outcomes] + slices.all.map(topology.slice))
        var found: [Diagnosis] = []
        for queue in queues where ours.contains(queue.name) {
            if let type = queue.type, type != "quorum" {
                found.add(
                    .broker, queue.name, .fault, "it is a \(type) queue; expected a quorum queue",
                    "stop the cluster; when it is empty delete it, and start the cluster")
            }
            let allowed = queue.name == topology.dead ? Self.harmless : Self.harmless.union(Self.limits)
            let keys = (queue.effective_policy_definition?.keys ?? []).filter { !allowed.contains($0) }
            if !keys.isEmpty {
                let names = [queue.policy, queue.operator_policy].compactMap(\.self).filter { !$0.isEmpty }
                found.add(
                    .broker, queue.name, .warning,
                    "the policy \(names.joined(separator: ", ")) sets \(keys.joined(separator: ", "))",
                    "let a policy for ^\(topology.prefix)\\. set a length at most, and none for \(topology.dead): expiry, and a"
                        + " limit there, would drop messages")
            }
        }
        return found.isEmpty ? [Diagnosis(.broker, "policies", .ok, "none that touches Sluice's queues")] : found
    }

    private func get<Answer: Decodable>(_ url: String) async throws -> (Answer, Date?) {
        var request = HTTPClientRequest(url: url)
        // The plugin's answers compress so well that they look like an attack.
        request.headers.add(name: "Accept-Encoding", value: "identity")
        if case .plain(let user, let password) = amqp.credentials {
            let text = Data("\(user):\(password)".utf8).base64EncodedString()
            request.headers.add(name: "Authorization", value: "Basic \(text)")
        }
        let answer = try await HTTPAnswer.of(request, timeout: .seconds(10), maxBytes: 32 << 20, trusting: authorities)
        guard answer.status == .ok else { throw CommandFailure(.unreachable, "it answers \(answer.status.code)") }
        let date = answer.headers.first(name: "Date").flatMap(Self.date)
        return (try JSONDecoder().decode(Answer.self, from: answer.body), date)
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

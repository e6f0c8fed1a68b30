import Foundation
import Messages
import Operations

/// What this process tells operators of itself in its heartbeats.
struct ProcessProfile: Sendable {
    /// Reasons that are told, and the characters of each: heartbeats are small.
    static let maxReasons = 5
    static let maxReasonLength = 200

    let readiness: Readiness
    /// The operations port, and where it listens.
    let port: BoundPort
    let host: String
    let isSecure: Bool
    private let startedAt = UInt64(max(0, Date().timeIntervalSince1970 * 1000))

    init(readiness: Readiness, port: BoundPort, host: String, isSecure: Bool) {
        self.readiness = readiness
        self.port = port
        self.host = host
        self.isSecure = isSecure
    }

    func facts(of role: RoleRunner.Role) -> ProcessFacts {
        let missing = readiness.components.filter { !$0.ready && $0.name.hasPrefix("\(role.rawValue).") }
        let reasons = missing.prefix(Self.maxReasons).map {
            String("\($0.name): \($0.reason)".prefix(Self.maxReasonLength))
        }
        return ProcessFacts(
            version: Version.current, host: ReachableAddress.machine, startedAt: startedAt,
            operations: port.current.map { ReachableAddress.url(isSecure: isSecure, host: host, port: $0) },
            notReady: reasons.isEmpty ? nil : reasons)
    }
}

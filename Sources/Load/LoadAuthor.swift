import Foundation
import NIOCore
import NIOWebSocket
import SyncModel

/// A client in flexible mode that makes the app ready for the others, and leaves: queries can only name classes that there are, and in
/// development mode the first query by a property changes the rules, by which sessions begin anew.
struct LoadAuthor {
    /// How long the rules may take to change.
    private static let patience = Duration.seconds(6)

    private let plan: LoadPlan
    private let target: LoadTarget
    private let token: String

    init(_ plan: LoadPlan, _ target: LoadTarget, token: String) {
        self.plan = plan
        self.target = target
        self.token = token
    }

    /// Declares the class of the load.
    func declare() async throws {
        var session = LoadSession(subscribingTo: [:])
        try await serve(&session) { session, effects in
            if let failure = effects.failure {
                throw LoadRefusal(description: "error \(failure.code): \(failure.message)")
            }
            if !effects.acknowledged.isEmpty { return nil }
            guard effects.becameLive else { return effects.messages }
            let now = SyncTimestamp(unixMilliseconds: Int64(Date().timeIntervalSince1970 * 1000))
            return effects.messages + (try session.write(LoadWrites.schema(), at: 0, timestamp: now).messages)
        }
    }

    /// Subscribes as the clients will, and waits until the rules have changed, or would have.
    func subscribe() async throws {
        do {
            try await withDeadline(Self.patience) {
                var session = LoadSession(subscribingTo: plan.queries(of: 0))
                try await serve(&session) { _, effects in effects.failure == nil ? effects.messages : nil }
            }
        } catch is DeadlinePassed {
            // The rules were as they should be.
        }
    }

    /// Leads a session until `answer` says nil to what has come; else it is what to send.
    private func serve(
        _ session: inout LoadSession,
        _ answer: (inout LoadSession, LoadSession.Effects) throws -> [[UInt8]]?
    ) async throws {
        let socket = try await LoadSocket.connect(target, app: plan.app, mode: .flexible, token: token)
        try await socket.executeThenClose { inbound, outbound in
            func send(_ messages: [[UInt8]]) async throws {
                for message in messages {
                    try await outbound.write(
                        WebSocketFrame(
                            fin: true, opcode: .binary, maskKey: .random(), data: ByteBuffer(bytes: message)))
                }
            }
            try await send(try session.opened().messages)
            for try await frame in inbound where frame.opcode == .binary {
                let effects = try session.received(Array(frame.unmaskedData.readableBytesView))
                guard let messages = try answer(&session, effects) else { return }
                try await send(messages)
            }
            throw LoadRefusal(description: "the gateway closed the socket")
        }
    }
}

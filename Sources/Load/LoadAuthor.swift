import Foundation
import NIOCore
import NIOWebSocket
import SyncModel

/// A client in flexible mode that declares the class of the load, and leaves: queries can only name classes that there are.
struct LoadAuthor {
    private let plan: LoadPlan
    private let target: LoadTarget
    private let token: String

    init(_ plan: LoadPlan, _ target: LoadTarget, token: String) {
        self.plan = plan
        self.target = target
        self.token = token
    }

    func declare() async throws {
        let socket = try await LoadSocket.connect(target, app: plan.app, mode: .flexible, token: token)
        try await socket.executeThenClose { inbound, outbound in
            var session = LoadSession(subscribingTo: [:])
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
                if let failure = effects.failure {
                    throw LoadRefusal(description: "error \(failure.code): \(failure.message)")
                }
                if !effects.acknowledged.isEmpty { return }
                try await send(effects.messages)
                guard effects.becameLive else { continue }
                let now = SyncTimestamp(unixMilliseconds: Int64(Date().timeIntervalSince1970 * 1000))
                try await send(try session.write(LoadWrites.schema(), at: 0, timestamp: now).messages)
            }
            throw LoadRefusal(description: "the gateway closed the socket")
        }
    }
}

import Foundation
import NIOCore
import NIOPosix

/// A TCP connection for tests that send whatever they like.
final class RawSocket: Sendable {
    private let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private init(_ channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>) { self.channel = channel }

    static func with<T: Sendable>(
        port: Int, _ body: (inout Stream) async throws -> T
    ) async throws -> T {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var stream = Stream(iterator: inbound.makeAsyncIterator(), outbound: outbound)
            return try await body(&stream)
        }
    }

    struct Stream {
        var iterator: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
        let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
        var buffer = ByteBuffer()

        func write(_ bytes: [UInt8]) async throws { try await outbound.write(ByteBuffer(bytes: bytes)) }
        func write(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

        /// Reads more; false at the end of the stream.
        mutating func fill() async throws -> Bool {
            guard var next = try await iterator.next() else { return false }
            buffer.writeBuffer(&next)
            return true
        }

        mutating func readToEnd() async throws -> [UInt8] {
            while try await fill() {}
            return Array(buffer.readableBytesView)
        }

        /// Up to and without the empty line that ends an HTTP head.
        mutating func readHead() async throws -> String? {
            while true {
                let text = String(decoding: buffer.readableBytesView, as: UTF8.self)
                if let end = text.range(of: "\r\n\r\n") {
                    let head = String(text[..<end.lowerBound])
                    buffer.moveReaderIndex(forwardBy: head.utf8.count + 4)
                    return head
                }
                guard try await fill() else { return nil }
            }
        }
    }
}

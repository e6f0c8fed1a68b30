import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import TestSupport
import Testing

@testable import Operations

/// What a client still sends of a request that has been answered.
@Suite struct AnsweredRequestTests {
    private struct Connection {
        let channel = EmbeddedChannel()
        let heard: Heard
        let leaving: Leaving

        init(_ bounds: AnsweredRequest.Bounds = .init()) throws {
            let heard = Heard()
            let leaving = Leaving()
            (self.heard, self.leaving) = (heard, leaving)
            try channel.pipeline.syncOperations.addHandlers([leaving, AnsweredRequest(bounds), heard])
            try channel.connect(to: .init(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        func head() throws {
            try channel.writeInbound(
                HTTPRequestPart.head(.init(method: .post, scheme: "http", authority: "a", path: "/")))
        }
        func body(_ bytes: Int) throws {
            try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(repeating: 1, count: bytes)))
        }
        func end() throws { try channel.writeInbound(HTTPRequestPart.end(nil)) }
        func answer() throws {
            try channel.writeOutbound(HTTPResponsePart.head(.init(status: .unauthorized)))
            try channel.writeOutbound(HTTPResponsePart.end(nil))
        }
        /// What Hummingbird does after an answer to a request that wants its connection closed.
        func leave() {
            channel.close(mode: .output, promise: nil)
            channel.embeddedEventLoop.run()
        }
    }

    /// The handler behind, where requests are served: holds reads back, as a handler does that has no more use for
    /// them.
    private final class Heard: ChannelDuplexHandler {
        typealias InboundIn = HTTPRequestPart
        typealias OutboundIn = HTTPResponsePart
        private(set) var parts = 0
        func channelRead(context: ChannelHandlerContext, data: NIOAny) { parts += 1 }
        func read(context: ChannelHandlerContext) {}
    }

    /// The socket, before the handler: an embedded channel cannot close it on one side.
    private final class Leaving: ChannelDuplexHandler {
        typealias InboundIn = HTTPRequestPart
        typealias OutboundIn = HTTPResponsePart
        private(set) var reads = 0
        private(set) var isHalfClosed = false
        func read(context: ChannelHandlerContext) { reads += 1 }
        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            guard mode == .output else { return context.close(mode: mode, promise: promise) }
            isHalfClosed = true
            promise?.succeed()
        }
    }

    @Test func aRequestThatCameWholeIsClosedAtOnce() throws {
        let connection = try Connection()
        try connection.head()
        try connection.end()
        try connection.answer()
        connection.leave()
        expectTrue(connection.leaving.isHalfClosed)
        expectTrue(!connection.channel.isActive)
    }

    @Test func aBodyThatComesAfterItsAnswerIsReadToItsEndUnheeded() throws {
        let connection = try Connection()
        try connection.head()
        try connection.answer()
        connection.leave()
        let heard = connection.heard.parts
        for _ in 0..<5 {
            let reads = connection.leaving.reads
            try connection.body(1000)
            expectTrue(connection.leaving.reads > reads)
        }
        expectTrue(connection.channel.isActive)
        try connection.end()
        expectTrue(!connection.channel.isActive)
        expectEqual(connection.heard.parts, heard)
    }

    @Test func aClientThatLeavesInTheMiddleOfItsBodyIsNoticed() throws {
        let connection = try Connection()
        try connection.head()
        try connection.answer()
        connection.leave()
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        connection.channel.embeddedEventLoop.run()
        expectTrue(!connection.channel.isActive)
    }

    @Test func aBodyThatDoesNotEndIsNotWaitedFor() throws {
        let connection = try Connection()
        try connection.head()
        try connection.answer()
        connection.leave()
        connection.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1900))
        expectTrue(connection.channel.isActive)
        connection.channel.embeddedEventLoop.advanceTime(by: .milliseconds(200))
        expectTrue(!connection.channel.isActive)
    }

    /// A connection that is to be kept is closed, too, for Hummingbird reads a body to its end before the next request.
    @Test(arguments: [false, true]) func aBodyThatIsTooLongClosesItsConnection(isLeaving: Bool) throws {
        let connection = try Connection(.init(bytes: 10_000))
        try connection.head()
        // What comes before the answer is another's to bound.
        try connection.body(20_000)
        try connection.answer()
        if isLeaving { connection.leave() }
        try connection.body(9_000)
        expectTrue(connection.channel.isActive)
        try? connection.body(2_000)
        expectTrue(!connection.channel.isActive)
    }

    @Test func theNextRequestOfAConnectionIsHeard() throws {
        let connection = try Connection(.init(bytes: 10_000))
        for _ in 0..<3 {
            try connection.head()
            try connection.answer()
            try connection.body(6_000)
            try connection.end()
        }
        expectEqual(connection.heard.parts, 9)
        expectTrue(connection.channel.isActive)
    }
}

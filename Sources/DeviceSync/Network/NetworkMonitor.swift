internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Tells whoever asked that this machine has got a new link, address or route, so that a server may be reachable again.
///
/// One for the process. On systems without netlink, and where the socket cannot be opened, it never says anything: connections are then tried again after their waits.
final class NetworkMonitor: Sendable {
    static let shared = NetworkMonitor()

    private let listeners = Listeners()
    private let isListening = Atomic(false)
    private let logger = SharedLogHandler.logger(.network)

    /// Calls `listener` after each change, at most once a second, for as long as the token is kept.
    func listen(_ listener: @escaping @Sendable () -> Void) -> NotificationToken {
        let token = listeners.add(listener)
        if !isListening.exchange(true, ordering: .relaxed) { start() }
        return token
    }

    func changed() {
        guard !listeners.isEmpty else { return }
        logger.info("the network has changed")
        listeners.call()
    }

    private func start() {
        #if os(Linux)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        RouteSocket.open(on: loop) { [self] in changed() }.whenFailure { [self] error in
            logger.info("changes of the network are not noticed", metadata: ["error": "\(error)"])
        }
        #endif
    }
}

#if os(Linux)
internal import Glibc

/// A socket on which the kernel tells of links, addresses and routes of the network namespace of the thread that opens it.
enum RouteSocket {
    /// Changes come in bursts, as an interface goes up, gets its addresses, then its routes; and what is there must be given time to be of use.
    static let pause = TimeAmount.seconds(1)

    /// Opens the socket and calls `changed` on the loop once changes have come and `pause` has passed.
    static func open(
        on loop: any EventLoop, pause: TimeAmount = pause, _ changed: @escaping @Sendable () -> Void
    ) -> EventLoopFuture<any Channel> {
        do {
            return NIOPipeBootstrap(group: loop).channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ChangeHandler(pause: pause, changed))
                }
            }
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 1 << 16))
            .takingOwnershipOfDescriptor(input: try descriptor()).map { $0 }
        } catch {
            return loop.makeFailedFuture(error)
        }
    }

    private static func descriptor() throws -> CInt {
        // `struct sockaddr_nl`: family, padding, port, groups. The groups are RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR and
        // RTMGRP_IPV6_ROUTE.
        let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
        let address: (UInt16, UInt16, UInt32, UInt32) = (UInt16(AF_NETLINK), 0, 0, groups)
        let type = CInt(SOCK_RAW.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_NETLINK, type, 0)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, 12) }
        }
        guard status == 0 else {
            let error = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Says once for many messages that something has changed.
    private final class ChangeHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let pause: TimeAmount
        private let changed: @Sendable () -> Void
        private var isDue = false

        init(pause: TimeAmount, _ changed: @escaping @Sendable () -> Void) {
            self.pause = pause
            self.changed = changed
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if RouteMessages.tellOfNewWays(unwrapInboundIn(data).readableBytesView) { schedule(context) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            // The kernel had more to say than the socket could hold: something has changed.
            schedule(context)
        }

        private func schedule(_ context: ChannelHandlerContext) {
            guard !isDue else { return }
            isDue = true
            context.eventLoop.assumeIsolated().scheduleTask(in: pause) { [self] in
                isDue = false
                changed()
            }
        }
    }
}
#endif

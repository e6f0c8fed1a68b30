import Foundation
import Logging
import ServiceLifecycle
import TestSupport
import Testing

@testable import Operations

@Suite(.hangGuard) struct ServiceManagerTests {
    @Test func aServiceManagerHearsWhatAProcessWaitsForAndWhenItIsReady() async throws {
        try await withManager { manager in
            let readiness = Readiness()
            readiness.set("worker.broker", ready: false, reason: "starting")
            readiness.set("worker.store", ready: false, reason: "starting")
            let reports = try #require(
                Self.reports(["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "200000"], readiness))
            let group = ServiceGroup(
                configuration: .init(services: [.init(service: reports)], logger: Logger(label: "test")))
            async let running: Void = group.run()
            try await manager.hears("STATUS=not ready: worker.broker: starting (and 1 more)")
            expectTrue(!manager.heard.contains("READY=1"))
            readiness.set("worker.store", ready: true)
            readiness.set("worker.broker", ready: false, reason: "connection\nrefused")
            try await manager.hears("STATUS=not ready: worker.broker: connection refused")
            readiness.set("worker.broker", ready: true)
            try await manager.hears("READY=1")
            try await manager.hears("STATUS=ready")
            // A process that is not ready any more says why, and stays started.
            readiness.set("worker.broker", ready: false, reason: "blocked by an alarm")
            try await manager.hears("STATUS=not ready: worker.broker: blocked by an alarm")
            expectTrue(!manager.heard.contains("STOPPING=1"))
            await group.triggerGracefulShutdown()
            try await running
            try await manager.hears("STOPPING=1")
            expectEqual(manager.heard.filter { $0 == "READY=1" }.count, 1)
            expectTrue(manager.heard.filter { $0 == "WATCHDOG=1" }.count > 2)
        }
    }

    @Test func theWatchdogOfAnotherProcessIsLeftAlone() async throws {
        try await withManager { manager in
            let readiness = Readiness()
            readiness.set("gateway.broker", ready: false, reason: "starting")
            let reports = try #require(
                Self.reports(
                    ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "20000", "WATCHDOG_PID": "1"], readiness))
            let running = Task { try await reports.run() }
            try await manager.hears("STATUS=not ready: gateway.broker: starting")
            readiness.set("gateway.broker", ready: true)
            try await manager.hears("STATUS=ready")
            running.cancel()
            try await running.value
            expectTrue(!manager.heard.contains("WATCHDOG=1"))
        }
    }

    @Test func abstractNamesAreReached() async throws {
        let name = "@sluice-\(UUID().uuidString)"
        let manager = try Manager(name)
        let socket = try #require(NotifySocket(name))
        expectTrue(socket.send(["READY=1", "STATUS=here"]))
        try await manager.hears("STATUS=here")
    }

    @Test(arguments: ["", "@", "/", "relative/path", "vsock:2:1234", "/" + String(repeating: "x", count: 108)])
    func namesOfNoLocalSocketAreIgnored(_ name: String) {
        expectTrue(NotifySocket(name) == nil)
    }

    @Test func withoutAServiceManagerThereAreNoReports() {
        expectTrue(Self.reports([:], Readiness()) == nil)
    }

    @Test func aManagerThatHasGoneIsNotWaitedFor() throws {
        let socket = try #require(NotifySocket("/nowhere/notify"))
        expectTrue(!socket.send(["READY=1"]))
    }

    private static func reports(_ environment: [String: String], _ readiness: Readiness) -> ServiceManagerReports? {
        ServiceManagerReports(
            environment: environment, processIdentifier: ProcessInfo.processInfo.processIdentifier,
            readiness: readiness, interval: .milliseconds(10), logger: Logger(label: "test"))
    }

    private func withManager(_ body: (Manager) async throws -> Void) async throws {
        let path = "/tmp/sluice-\(UUID().uuidString.prefix(8))"
        defer { unlink(path) }
        try await body(try Manager(path))
    }

    /// What systemd is to a service: the other end of the socket.
    private final class Manager {
        let path: String
        private let descriptor: Int32
        private(set) var heard: [String] = []

        init(_ path: String) throws {
            self.path = path
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            var bytes = Array(path.utf8)
            let isAbstract = bytes[0] == UInt8(ascii: "@")
            if isAbstract { bytes[0] = 0 } else { bytes.append(0) }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
            let size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
            let code = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
            }
            try #require(code == 0, "bind: \(errno)")
        }

        deinit { close(descriptor) }

        /// Returns once a line has come.
        func hears(_ line: String) async throws {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
                    heard += String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
                }
                if heard.contains(line) { return }
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }
}

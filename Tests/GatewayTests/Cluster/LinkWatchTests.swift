import AMQP
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Gateway

@Suite(.hangGuard)
struct LinkWatchTests {
    private struct Late: Error {}

    /// Two connections, and what the link was told about them.
    private final class Link: Sendable {
        struct Facts {
            var states: [AMQPConnectionState]
            var told: [String] = []
            var failures = 0
        }
        let facts: Mutex<Facts>
        private let streams = [0, 1].map { _ in AsyncStream.makeStream(of: AMQPConnectionState.self) }

        init(_ states: [AMQPConnectionState], failures: Int = 0) {
            facts = Mutex(Facts(states: states, failures: failures))
        }

        var told: [String] { facts.withLock { $0.told } }

        /// One notice, however many states there were in between.
        func become(_ states: [AMQPConnectionState]) {
            facts.withLock { $0.states = states }
            streams[0].continuation.yield(states[0])
        }

        func tell(_ what: String) { facts.withLock { $0.told.append(what) } }

        func watched(_ body: @Sendable () async throws -> Void) async throws {
            let watch = LinkWatch(
                states: { self.facts.withLock { $0.states } },
                recover: {
                    self.tell("recover")
                    let fails = self.facts.withLock { facts in
                        facts.failures -= 1
                        return facts.failures >= 0
                    }
                    if fails { throw Late() }
                },
                isDown: { self.tell("down") }, isUp: { self.tell("up") }, logger: Logger(label: "test"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await watch.run(self.streams.map(\.stream)) }
                for stream in streams { stream.continuation.yield(.connecting) }
                try await body()
                group.cancelAll()
            }
        }
    }

    @Test func theLinkIsUpOnceEveryConnectionIsAndTheQueueIsThere() async throws {
        let link = Link([.connected(generation: 1), .connecting])
        try await link.watched {
            try await eventually("down") { link.told.contains("down") }
            expectTrue(!link.told.contains("recover"))
            link.become([.connected(generation: 1), .connected(generation: 1)])
            try await eventually("up") { link.told.last == "up" }
            expectEqual(link.told.suffix(3), ["down", "recover", "up"])
        }
    }

    @Test func aConnectionThatWasLostAndMadeAgainBetweenTwoLooksCounts() async throws {
        let link = Link([.connected(generation: 1), .connected(generation: 1)])
        try await link.watched {
            try await eventually("up") { link.told == ["down", "recover", "up"] }
            link.become([.connected(generation: 1), .connected(generation: 2)])
            try await eventually("up again") { link.told == ["down", "recover", "up", "down", "recover", "up"] }
        }
    }

    @Test func unchangedLinkStateIsNotToldAgain() async throws {
        let link = Link([.connected(generation: 1), .connected(generation: 1)])
        try await link.watched {
            try await eventually("up") { link.told == ["down", "recover", "up"] }
            link.become([.connected(generation: 1), .connected(generation: 1)])
            link.become([.connected(generation: 3), .connected(generation: 1)])
            try await eventually("up again") { link.told.count == 6 }
            expectEqual(link.told, ["down", "recover", "up", "down", "recover", "up"])
        }
    }

    @Test func aQueueThatIsNotThereYetIsLookedForAgain() async throws {
        let link = Link([.connected(generation: 1), .connected(generation: 1)], failures: 2)
        try await link.watched {
            try await eventually("up") { link.told.last == "up" }
            expectEqual(link.told.count(where: { $0 == "recover" }), 3)
            expectEqual(link.told.count(where: { $0 == "up" }), 1)
        }
    }
}

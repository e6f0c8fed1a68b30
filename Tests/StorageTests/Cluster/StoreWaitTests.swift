import Storage
import Synchronization
import TestSupport
import Testing

/// A process that begins while its store is away.
@Suite(.hangGuard) struct StoreWaitTests {
    @Test func aStoreThatIsAwayIsWaitedFor() async throws {
        let tries = Mutex(0)
        let told = Mutex<[String]>([])
        let value = try await waitingForStore { error in
            told.withLock { $0.append(error.words) }
        } _: {
            let count = tries.withLock { count in
                count += 1
                return count
            }
            guard count > 2 else { throw StoreError(.unavailable, "away \(count)") }
            return count
        }
        expectEqual(value, 3)
        expectEqual(told.withLock(\.self), ["away 1", "away 2"])
    }

    @Test func whatNoWaitingMendsIsThrown() async throws {
        let error = await #expect(throws: StoreError.self) {
            try await waitingForStore { _ in
                Issue.record("it is not away")
            } _: {
                throw StoreError(.mismatch, "of another cluster")
            }
        }
        expectEqual(error?.code, .mismatch)
    }

    @Test func whoStopsDoesNotWaitAnyLonger() async throws {
        let isWaiting = Mutex(false)
        let task = Task {
            try await waitingForStore { _ in
                isWaiting.withLock { $0 = true }
            } _: {
                throw StoreError(.unavailable, "away")
            }
        }
        try await eventually { isWaiting.withLock(\.self) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

import TestSupport
import Testing

@testable import Operations

@Suite(.hangGuard) struct StoreWatchTests {
    private struct Away: Error {}

    /// What a look shows, in order.
    private func shown(
        patience: Duration = .seconds(3_600), _ ask: @escaping @Sendable () async throws -> Void
    ) async -> [String?] {
        let (answers, continuation) = AsyncStream<String?>.makeStream()
        await StoreWatch(
            of: [], in: Readiness(), patience: patience, words: { _ in "refused" }, show: { continuation.yield($0) },
            ask: ask
        ).look()
        continuation.finish()
        return await answers.reduce(into: []) { $0.append($1) }
    }

    @Test func aStoreThatAnswersIsThere() async {
        await expectEqual(shown {}, [nil])
    }

    @Test func aStoreThatRefusesIsAway() async {
        await expectEqual(shown { throw Away() }, ["refused"])
    }

    @Test func aStoreThatDoesNotAnswerIsAwayUntilItDoes() async {
        let (answers, continuation) = AsyncStream<String?>.makeStream()
        let (gate, opening) = AsyncStream<Void>.makeStream()
        let watch = StoreWatch(
            of: [], in: Readiness(), patience: .milliseconds(1), show: { continuation.yield($0) }
        ) {
            for await _ in gate { return }
        }
        let looking = Task { await watch.look() }
        var shown = answers.makeAsyncIterator()
        await expectEqual(shown.next(), "the store has not answered for 0.001 seconds")
        opening.yield()
        await expectEqual(shown.next(), .some(nil))
        await looking.value
    }

    @Test func componentsSayWhyTheStoreIsAwayUntilItIsBack() async {
        let readiness = Readiness()
        readiness.set("worker.store", ready: true, reason: "open")
        func look(_ ask: @escaping @Sendable () async throws -> Void) async {
            await StoreWatch(of: ["worker.store"], in: readiness, words: { _ in "refused" }, ask: ask).look()
        }
        await look { throw Away() }
        expectEqual(readiness.component("worker.store")?.reason, "refused")
        // What the role itself says meanwhile does not count against it.
        readiness.set("worker.store", ready: true, reason: "open")
        expectTrue(!readiness.isReady)
        await look {}
        expectEqual(readiness.component("worker.store"), .init(name: "worker.store", ready: true, reason: "open"))
    }
}

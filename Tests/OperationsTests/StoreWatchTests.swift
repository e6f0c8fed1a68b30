import TestSupport
import Testing

@testable import Operations

@Suite(.hangGuard) struct StoreWatchTests {
    private struct Away: Error {}

    /// What a look shows, in order.
    private func shown(
        patience: Duration = .seconds(3_600), _ ask: @escaping @Sendable () async throws -> Void
    ) async -> [Bool] {
        let (answers, continuation) = AsyncStream<Bool>.makeStream()
        await StoreWatch(patience: patience, show: { continuation.yield($0) }, ask: ask).look()
        continuation.finish()
        return await answers.reduce(into: []) { $0.append($1) }
    }

    @Test func aStoreThatAnswersIsThere() async {
        await expectEqual(shown {}, [true])
    }

    @Test func aStoreThatRefusesIsAway() async {
        await expectEqual(shown { throw Away() }, [false])
    }

    @Test func aStoreThatDoesNotAnswerIsAwayUntilItDoes() async {
        let (answers, continuation) = AsyncStream<Bool>.makeStream()
        let (gate, opening) = AsyncStream<Void>.makeStream()
        let watch = StoreWatch(patience: .milliseconds(1), show: { continuation.yield($0) }) {
            for await _ in gate { return }
        }
        let looking = Task { await watch.look() }
        var shown = answers.makeAsyncIterator()
        await expectEqual(shown.next(), false)
        opening.yield()
        await expectEqual(shown.next(), true)
        await looking.value
    }
}

import Storage
import TestSupport
import Testing

@Suite(.hangGuard) struct SliceOutboxTests {
    @Test(arguments: SliceVariant.allCases)
    func messagesWaitInTheirOrderUntilTheyHaveArrived(_ variant: SliceVariant) async throws {
        try await variant.withStore { store in
            let epoch = try await store.take()
            try await expectTrue(store.outbox(after: 0, maxBytes: 1_000).isEmpty)
            let records = ["b", "a", "c"].map { OutboxRecord(id: $0, body: Array(repeating: 1, count: 100)) }
            var batch = SliceBatch()
            batch.outbox = records
            expectTrue(!batch.isEmpty)
            try await store.commit(batch, epoch: epoch)
            let page = try await store.outbox(after: 0, maxBytes: 200)
            expectEqual(page.map(\.record), Array(records.prefix(2)))
            let rest = try await store.outbox(after: try #require(page.last).number, maxBytes: 1)
            expectEqual(rest.map(\.record), [records[2]])
            batch = SliceBatch()
            batch.outboxRemovals = ["a", "gone"]
            expectTrue(!batch.isEmpty)
            try await store.commit(batch, epoch: epoch)
            try await expectEqual(store.outbox(after: 0, maxBytes: 1_000).map(\.record.id), ["b", "c"])
        }
    }
}

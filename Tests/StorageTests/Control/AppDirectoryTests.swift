import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Storage

@Suite(.hangGuard) struct AppDirectoryTests {
    /// One app whose offline time says which reading it was; a reading can be held up.
    private final class Source: AppStore {
        let readings = Mutex(0)
        let gate = Mutex<CheckedContinuation<Void, Never>?>(nil)
        let holdsNext = Mutex(false)

        func app(_ id: String) async throws(StoreError) -> AppRecord? {
            let reading = readings.withLock { readings in
                readings += 1
                return readings
            }
            let holds = holdsNext.withLock { holds in
                defer { holds = false }
                return holds
            }
            if holds { await withCheckedContinuation { waiter in gate.withLock { $0 = waiter } } }
            return id == "tasks" ? AppRecord(id: id, maxOfflineDays: reading, createdAt: 1) : nil
        }

        func apps() async throws(StoreError) -> [AppRecord] { [] }
        func insert(_ app: AppRecord, rules: RulesChange?) async throws(StoreError) {}
        func updateApp(
            _ id: String, _ change: @escaping @Sendable (inout AppRecord) -> Void
        ) async throws(StoreError) -> AppRecord { AppRecord(id: id, createdAt: 1) }
        func schema(ofApp app: String) async throws(StoreError) -> [SchemaElement] { [] }
        func schema(ofApp app: String, among elements: [SchemaElement]) async throws(StoreError) -> [SchemaElement] {
            []
        }
        func extendSchema(
            ofApp app: String, with elements: [SchemaElement], by author: SchemaAuthor?
        ) async throws(StoreError) {}
        func reduceSchema(ofApp app: String, by elements: [SchemaElement]) async throws(StoreError) -> Int { 0 }
        func rules(app: String, version: UInt64) async throws(StoreError) -> RulesRecord? { nil }
        func userChanges(app: String, after version: UInt64) async throws(StoreError) -> Set<String>? { nil }
        func rulesHistory(app: String, after: UInt64?, limit: Int) async throws(StoreError) -> [RulesHeading] { [] }
        func replaceRules(
            app: String, expecting version: UInt64, with change: RulesChange
        ) async throws(StoreError) -> RulesRecord {
            RulesRecord(app: app, version: 1, document: change.document, author: change.author, at: change.at)
        }
    }

    @Test func anAppIsReadOnceUntilItIsForgotten() async throws {
        let source = Source()
        let directory = AppDirectory(store: source, lifetime: .seconds(3600))
        try await expectEqual(directory.app("tasks")?.maxOfflineDays, 1)
        try await expectEqual(directory.app("tasks")?.maxOfflineDays, 1)
        directory.forget("tasks")
        try await expectEqual(directory.app("tasks")?.maxOfflineDays, 2)
        try await expectEqual(directory.latest("tasks")?.maxOfflineDays, 3)
        try await expectEqual(directory.app("tasks")?.maxOfflineDays, 3)
    }

    @Test func recordsOlderThanTheirLifetimeAreReadAgain() async throws {
        let directory = AppDirectory(store: Source(), lifetime: .zero)
        try await expectEqual(directory.app("tasks")?.maxOfflineDays, 1)
        try await expectEqual(directory.app("tasks")?.maxOfflineDays, 2)
    }

    @Test func unknownAppsAreRememberedToo() async throws {
        let source = Source()
        let directory = AppDirectory(store: source, lifetime: .seconds(3600))
        try await expectTrue(directory.app("none") == nil)
        try await expectTrue(directory.app("none") == nil)
        expectEqual(source.readings.withLock { $0 }, 1)
        try await expectTrue(directory.app(String(repeating: "n", count: 65)) == nil)
        expectEqual(source.readings.withLock { $0 }, 1)
    }

    @Test func aReadingThatBeganBeforeAForgettingIsNotRemembered() async throws {
        let source = Source()
        let directory = AppDirectory(store: source, lifetime: .seconds(3600))
        source.holdsNext.withLock { $0 = true }
        async let early = directory.app("tasks")
        while source.gate.withLock({ $0 }) == nil { await Task.yield() }
        directory.forget("tasks")
        source.gate.withLock { $0 }?.resume()
        try await expectEqual(early?.maxOfflineDays, 1)
        try await expectEqual(directory.app("tasks")?.maxOfflineDays, 2)
    }

    @Test func aFloodOfUnknownIdsIsNotRememberedWithoutEnd() async throws {
        let source = Source()
        let directory = AppDirectory(store: source, lifetime: .seconds(3600))
        try await expectEqual(directory.app("tasks")?.maxOfflineDays, 1)
        for number in 0..<AppDirectory.maxEntries { _ = try await directory.app("n\(number)") }
        // The app was forgotten with the rest.
        try await expectEqual(directory.app("tasks")?.maxOfflineDays, AppDirectory.maxEntries + 2)
    }
}

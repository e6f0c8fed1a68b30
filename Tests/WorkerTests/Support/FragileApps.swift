import Storage
import SyncModel
import Synchronization

/// Apps of a control store that cannot be read when told so.
final class FragileApps: AppStore {
    private let store: any AppStore
    /// What every reading of an app ends with.
    let failure = Mutex<StoreError?>(nil)
    private let rulesReadings = Mutex(0)
    /// How often rules were read.
    var rulesRead: Int { rulesReadings.withLock { $0 } }

    init(_ store: any AppStore) { self.store = store }

    func app(_ id: String) async throws(StoreError) -> AppRecord? {
        if let failure = failure.withLock({ $0 }) { throw failure }
        return try await store.app(id)
    }
    func apps() async throws(StoreError) -> [AppRecord] { try await store.apps() }
    func insert(_ app: AppRecord, rules: RulesChange?) async throws(StoreError) {
        try await store.insert(app, rules: rules)
    }
    func updateApp(
        _ id: String, _ change: @escaping @Sendable (inout AppRecord) -> Void
    ) async throws(StoreError) -> AppRecord { try await store.updateApp(id, change) }
    func schema(ofApp app: String) async throws(StoreError) -> [SchemaElement] {
        if let failure = failure.withLock({ $0 }) { throw failure }
        return try await store.schema(ofApp: app)
    }
    func schema(ofApp app: String, among elements: [SchemaElement]) async throws(StoreError) -> [SchemaElement] {
        if let failure = failure.withLock({ $0 }) { throw failure }
        return try await store.schema(ofApp: app, among: elements)
    }
    func extendSchema(
        ofApp app: String, with elements: [SchemaElement], by author: SchemaAuthor?
    ) async throws(StoreError) {
        try await store.extendSchema(ofApp: app, with: elements, by: author)
    }
    func reduceSchema(ofApp app: String, by elements: [SchemaElement]) async throws(StoreError) -> Int {
        try await store.reduceSchema(ofApp: app, by: elements)
    }
    func rules(app: String, version: UInt64) async throws(StoreError) -> RulesRecord? {
        if let failure = failure.withLock({ $0 }) { throw failure }
        rulesReadings.withLock { $0 += 1 }
        return try await store.rules(app: app, version: version)
    }
    func rulesHistory(app: String, after: UInt64?, limit: Int) async throws(StoreError) -> [RulesHeading] {
        try await store.rulesHistory(app: app, after: after, limit: limit)
    }
    func replaceRules(
        app: String, expecting version: UInt64, with change: RulesChange
    ) async throws(StoreError) -> RulesRecord {
        try await store.replaceRules(app: app, expecting: version, with: change)
    }
    func userChanges(app: String, after version: UInt64) async throws(StoreError) -> Set<String>? {
        try await store.userChanges(app: app, after: version)
    }
}

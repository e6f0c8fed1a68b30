import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

@Suite(.hangGuard)
struct QueryTests {
    private let realm: Realm

    init() throws {
        var configuration = Realm.Configuration(inMemoryIdentifier: UUID().uuidString)
        configuration.dynamicSchema = Device.schema
        realm = try Realm(configuration: configuration)
        try realm.write {
            for (key, count, title) in [("a", 3, "x"), ("b", 1, nil), ("c", 2, "y"), ("d", 3, "w")] {
                realm.dynamicCreate("Task", value: ["_id": key, "count": count, "title": title])
            }
            realm.dynamicObject(ofType: "Task", forPrimaryKey: "a")?["best"] =
                realm.dynamicObject(ofType: "Task", forPrimaryKey: "c")
        }
    }

    private static func keys(_ results: Results<DynamicObject>) -> [String] {
        results.compactMap { $0.primaryKey as? String }
    }

    @Test func filtersAreLive() throws {
        let many = realm.dynamicObjects("Task").where { ($0["count"] as? Int ?? 0) > 1 }
        expectEqual(Self.keys(many), ["a", "c", "d"])
        expectEqual(many.count, 3)
        try realm.write { realm.dynamicObject(ofType: "Task", forPrimaryKey: "b")?["count"] = 9 }
        expectEqual(Self.keys(many), ["a", "b", "c", "d"])
        expectEqual(Self.keys(many.where { $0["title"] != nil }), ["a", "c", "d"])
    }

    @Test func filtersSeeTheChangesOfTheTransaction() throws {
        let many = realm.dynamicObjects("Task").where { ($0["count"] as? Int ?? 0) > 2 }
        try realm.write {
            realm.dynamicCreate("Task", value: ["_id": "e", "count": 5])
            expectEqual(Self.keys(many), ["a", "d", "e"])
        }
    }

    @Test func sortingGoesByValueAndThenByKey() throws {
        let tasks = realm.dynamicObjects("Task")
        expectEqual(Self.keys(tasks.sorted(byKeyPath: "count")), ["b", "c", "a", "d"])
        expectEqual(Self.keys(tasks.sorted(byKeyPath: "count", ascending: false)), ["a", "d", "c", "b"])
        expectEqual(Self.keys(tasks.sorted(byKeyPath: "title")), ["b", "d", "a", "c"])
        expectEqual(Self.keys(tasks.sorted(byKeyPath: "_id", ascending: false)), ["d", "c", "b", "a"])
        let both = [SortDescriptor(keyPath: "count", ascending: false), SortDescriptor(keyPath: "title")]
        expectEqual(Self.keys(tasks.sorted(by: both)), ["d", "a", "c", "b"])
    }

    @Test func sortingFollowsLinks() throws {
        let sorted = realm.dynamicObjects("Task").sorted(byKeyPath: "best.title", ascending: false)
        expectTrue(sorted.first?.primaryKey as? String == "a")
    }

    @Test func frozenResultsStayAsTheyWere() throws {
        let frozen = realm.dynamicObjects("Task").where { ($0["count"] as? Int ?? 0) > 1 }.freeze()
        try realm.write { realm.delete(realm.dynamicObjects("Task")) }
        expectEqual(Self.keys(frozen), ["a", "c", "d"])
        expectEqual(frozen.thaw()?.count, 0)
    }

    @Test func observersOfAQueryHearWhatChangesInIt() async throws {
        let heard = Mutex<[String]>([])
        let queue = DispatchQueue(label: "test.observer")
        let sorted = realm.dynamicObjects("Task").where { ($0["count"] as? Int ?? 0) > 1 }
            .sorted(byKeyPath: "count", ascending: false)
        let token = sorted.observe(on: queue) { change in
            heard.withLock {
                switch change {
                case .initial(let results): $0.append("initial \(Self.keys(results))")
                case .update(let results, let deletions, let insertions, let modifications):
                    $0.append("\(Self.keys(results)) -\(deletions) +\(insertions) ~\(modifications)")
                case .error: $0.append("error")
                }
            }
        }
        defer { token.invalidate() }
        func hears(_ text: String) async -> Bool { await eventually { heard.withLock { $0.last == text } } }
        await expectTrue(hears(#"initial ["a", "d", "c"]"#))
        try realm.write { realm.dynamicObject(ofType: "Task", forPrimaryKey: "b")?["count"] = 9 }
        await expectTrue(hears(#"["b", "a", "d", "c"] -[] +[0] ~[]"#))
        try realm.write { realm.dynamicObject(ofType: "Task", forPrimaryKey: "a")?["count"] = 0 }
        await expectTrue(hears(#"["b", "d", "c"] -[1] +[] ~[]"#))
        try realm.write { realm.dynamicObject(ofType: "Task", forPrimaryKey: "d")?["title"] = "z" }
        await expectTrue(hears(#"["b", "d", "c"] -[] +[] ~[1]"#))
        try realm.write { realm.dynamicObject(ofType: "Task", forPrimaryKey: "a")?["title"] = "out of sight" }
        try realm.write { realm.dynamicObject(ofType: "Task", forPrimaryKey: "c")?["count"] = 10 }
        await expectTrue(hears(#"["c", "b", "d"] -[2] +[0] ~[]"#))
    }

    @Test func anObserverThatIsBehindHearsOfSeveralCommitsAtOnce() async throws {
        let queue = DispatchQueue(label: "test.observer")
        let updates = Mutex<[[Int]]>([])
        let token = realm.dynamicObjects("Task").observe(on: queue) { change in
            if case .update(_, let deletions, let insertions, let modifications) = change {
                updates.withLock { $0.append(deletions + insertions + modifications) }
            }
        }
        defer { token.invalidate() }
        queue.sync {}
        queue.suspend()
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "aa"]) }
        try realm.write { realm.delete(realm.dynamicObjects("Task").where { $0.primaryKey as? String == "a" }) }
        for number in 0..<20 {
            try realm.write { realm.dynamicObject(ofType: "Task", forPrimaryKey: "c")?["count"] = number }
        }
        queue.resume()
        await expectTrue(eventually { updates.withLock { !$0.isEmpty } })
        queue.sync {}
        // "a" was deleted, "aa" took its place, "c" was changed.
        expectEqual(updates.withLock { $0 }, [[0, 0, 2]])
    }

    @Test func anObserverThatIsLeftOutOfACommitNeverHearsOfIt() throws {
        let queue = DispatchQueue(label: "test.observer")
        let updates = Mutex<[[Int]]>([])
        let token = realm.dynamicObjects("Task").observe(on: queue) { change in
            if case .update(_, let deletions, let insertions, let modifications) = change {
                updates.withLock { $0.append(deletions + insertions + modifications) }
            }
        }
        defer { token.invalidate() }
        let task = try #require(realm.dynamicObject(ofType: "Task", forPrimaryKey: "b"))
        let names = Mutex<[String]>([])
        let own = task.observe(on: queue) { change in
            if case .change(_, let properties) = change { names.withLock { $0 += properties.map(\.name) } }
        }
        defer { own.invalidate() }
        func count(_ key: String, _ value: Int, without tokens: [NotificationToken] = []) throws {
            try realm.write(withoutNotifying: tokens) {
                realm.dynamicObject(ofType: "Task", forPrimaryKey: key)?["count"] = value
            }
        }
        queue.sync {}
        queue.suspend()
        try count("c", 7)
        try count("d", 8, without: [token])
        try count("c", 8)
        try count("b", 7, without: [token, own])
        queue.resume()
        queue.sync {}
        // "a" links to "c", and so has changed with it.
        expectEqual(updates.withLock { $0 }, [[0, 2], [0, 2]])
        try count("a", 9)
        try count("b", 8, without: [token])
        queue.sync {}
        expectEqual(updates.withLock { $0 }, [[0, 2], [0, 2], [0]])
        expectEqual(names.withLock { $0 }, ["count"])
    }
}

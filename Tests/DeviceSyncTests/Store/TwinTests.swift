import Changesets
import Dispatch
import Foundation
import RealmState
import SeededRandom
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// The same things happen to a realm whose objects are in memory and to one that reads them from its file: nobody can tell the two apart.
@Suite(.hangGuard)
struct TwinTests {
    @Test(arguments: 1...4) func nobodyCanTellThemApart(seed: UInt64) throws {
        let twins = try Twins(seed: seed)
        for _ in 0..<120 { try twins.step() }
        try twins.compare()
    }
}

/// What the observers of either realm were told.
private final class Heard: Sendable {
    let texts = Mutex<[[String]]>([[], []])
}

/// The two realms, and what happens to them.
private final class Twins {
    private static let schema =
        Device.schema.map { description in
            // An index makes no difference to a realm in memory.
            var indexed = description
            indexed.properties = description.properties.map { property in
                var property = property
                property.isIndexed = ["title", "count", "done"].contains(property.name)
                return property
            }
            return indexed
        } + [
            ObjectSchemaDescription(
                "Number", primaryKey: PropertyDescription("_id", .int),
                properties: [
                    PropertyDescription("value", .int, isIndexed: true), PropertyDescription("task", .object("Task")),
                    PropertyDescription("others", .object("Number"), collection: .set),
                    PropertyDescription("any", .any),
                ])
        ]
    private static let filters = [
        ("Task", "count > 3"), ("Task", "best.count > 2 OR title == 'b'"), ("Task", "ANY friends.done == true"),
        ("Task", "title == 'b' AND count > 1"), ("Task", "title == NULL"), ("Task", "title IN {'a', 'c'}"),
        ("Task", "count >= 2 AND count < 9 AND done == true"), ("Task", "_id IN {'t3', 't5', 'x'}"),
        ("Number", "value > 2 AND value <= 6"), ("Number", "value IN {1, 2, NULL}"),
        ("Number", "_id == 3 OR value == 4"),
        ("Task", "@links.@count > 1"), ("Task", "address.street == 'street 1'"), ("Number", "value BETWEEN {2, 6}"),
        ("Number", "task.title != NULL"), ("Number", "others.@count > 0 AND _id < 0"), ("Number", "_id IN {-1, 3, 5}"),
    ]

    private let folder = Folder()
    private var random: SeededGenerator
    private var realms: [Realm] = []
    /// Realms that do not refresh by themselves.
    private var pinned: [Realm] = []
    /// Frozen realms, and what they showed when they were frozen.
    private var frozen: [(realms: [Realm], shown: [Seen])] = []
    private let queue = DispatchQueue(label: "twins")
    private let heard = Heard()
    private var tokens: [NotificationToken] = []
    private let name = UUID().uuidString

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        try open()
    }

    /// Everything that can be read of a realm.
    struct Seen: Equatable {
        var dump: [UInt8]
        var keys: [String: [String]]
        var positions: [String: [String]]
        var counts: [String: Int]
        var selected: [[String]]
        var origins: [String: [String]]
    }

    // MARK: Opening

    private func open() throws {
        let memory = try realms.first ?? realm(RealmCore(location: .memory(name), isSynced: true))
        let file = try realm(RealmCore(location: .file(folder.file), isSynced: true, settlingBytes: 100 << 10))
        realms = [memory, file]
        pinned = realms.map {
            Realm(instance: RealmInstance(core: $0.instance.core, configuration: $0.configuration, session: nil))
        }
        for realm in pinned { realm.autorefresh = false }
        for (number, realm) in realms.enumerated() {
            for className in ["Task", "Number"] {
                let results = realm.dynamicObjects(className)
                let filtered = results.filter(className == "Task" ? "count > 2" : "value > 2")
                for (kind, observed) in [("all", results), ("some", filtered)] {
                    tokens.append(
                        observed.observe(on: queue) { [heard] change in
                            heard.texts.withLock { $0[number].append("\(className) \(kind): \(Self.text(change))") }
                        })
                }
            }
        }
    }

    private func realm(_ core: RealmCore) throws -> Realm {
        if core.snapshot.state.schema.tables.isEmpty {
            var state = core.snapshot.state
            let changeset = try state.record { try SchemaAdditions.apply(Self.schema, to: &$0) }.changeset
            try core.commitLocal(state, changeset: changeset)
            try core.addIndexes(Self.schema)
        }
        let configuration = Realm.Configuration(dynamicSchema: Self.schema)
        return Realm(instance: RealmInstance(core: core, configuration: configuration, session: nil))
    }

    private func reopen() throws {
        tokens = []
        frozen = []
        pinned = []
        queue.sync {}
        heard.texts.withLock { $0 = [[], []] }
        realms.removeLast()
        try open()
    }

    private static func text(_ change: RealmCollectionChange<Results<DynamicObject>>) -> String {
        switch change {
        case .initial(let results): "initial \(results.map { "\($0.primaryKey ?? "")" })"
        case .update(let results, let deletions, let insertions, let modifications):
            "\(results.map { "\($0.primaryKey ?? "")" }) -\(deletions) +\(insertions) ~\(modifications)"
        case .error(let error): "\(error)"
        }
    }

    // MARK: Steps

    func step() throws {
        switch random.below(20) {
        case 0..<8: try write(cancelled: false)
        case 8, 9: try write(cancelled: true)
        case 10..<14: try download()
        case 14:
            let frozen = realms.map { $0.freeze() }
            self.frozen = Array(self.frozen.suffix(4)) + [(frozen, frozen.map(Self.seen))]
        case 15: for realm in pinned { realm.refresh() }
        case 16:
            if random.below(3) == 0 { try reopen() }
        case 17: try writeAsTheyWere()
        default: try compare()
        }
    }

    private func write(cancelled: Bool) throws {
        let seed = random.next()
        let count = 1 + random.below(12)
        let looks = random.below(3) == 0
        var inside: [Seen] = []
        for realm in realms {
            var random = SeededGenerator(seed: seed)
            realm.beginWrite()
            for _ in 0..<count { Self.edit(realm, &random) }
            if looks { inside.append(Self.seen(realm)) }
            for _ in 0..<random.below(3) { Self.edit(realm, &random) }
            if cancelled { realm.cancelWrite() } else { try realm.commitWrite() }
        }
        if looks { expectEqual(inside.first, inside.last) }
    }

    /// Writes through the realms that stand at an older version, which a write brings to the newest.
    private func writeAsTheyWere() throws {
        let seed = random.next()
        for realm in pinned {
            var random = SeededGenerator(seed: seed)
            try realm.write { Self.edit(realm, &random) }
        }
    }

    /// What a download does: another copy's changeset is applied to the contents, and they are committed.
    private func download() throws {
        let seed = random.next()
        let author = Realm(
            instance: RealmInstance(core: realms[0].instance.core, configuration: realms[0].configuration, session: nil)
        )
        var random = SeededGenerator(seed: seed)
        author.beginWrite()
        for _ in 0..<6 { Self.edit(author, &random) }
        var changeset: Changeset?
        author.instance.edit { changeset = $0.changeset }
        author.cancelWrite()
        let received = try #require(changeset)
        for realm in realms {
            let core = realm.instance.core
            core.lock.lock()
            defer { core.lock.unlock() }
            core.prepareToWrite()
            try ReadFailures.collecting {
                var state = core.snapshot.state
                try state.apply(received)
                try core.commit(FileCommit(version: core.snapshot.version + 1, taking: &state), state: state)
            }
        }
    }

    private static func edit(_ realm: Realm, _ random: inout SeededGenerator) {
        let taskKey = "t\(random.below(12))"
        let numberKey = random.below(14) - 5
        func task(_ key: String) -> DynamicObject {
            realm.dynamicObject(ofType: "Task", forPrimaryKey: key) ?? realm.dynamicCreate("Task", value: ["_id": key])
        }
        func number(_ key: Int) -> DynamicObject {
            realm.dynamicObject(ofType: "Number", forPrimaryKey: key)
                ?? realm.dynamicCreate("Number", value: ["_id": key])
        }
        switch random.below(16) {
        case 0: _ = task(taskKey)
        case 1: _ = number(numberKey)
        case 2: if let task = realm.dynamicObject(ofType: "Task", forPrimaryKey: taskKey) { realm.delete(task) }
        case 3: if let number = realm.dynamicObject(ofType: "Number", forPrimaryKey: numberKey) { realm.delete(number) }
        case 4: task(taskKey)["title"] = ["a", "b", nil][random.below(3)]
        case 5: task(taskKey).increment("count", by: random.below(5))
        case 6: task(taskKey)["best"] = random.below(4) == 0 ? nil : task("t\(random.below(12))")
        case 7:
            if let friends = task(taskKey)["friends"] as? DynamicList {
                friends.insert(task("t\(random.below(12))"), at: random.below(friends.count + 1))
            }
        case 8:
            if let friends = task(taskKey)["friends"] as? DynamicList, !friends.isEmpty {
                friends.remove(at: random.below(friends.count))
            }
        case 9: task(taskKey)["any"] = AnyRealmValue.list([.object(task("t\(random.below(12))")), .int(1)])
        case 10: task(taskKey)["address"] = ["street": "street \(random.below(3))"]
        case 11: number(numberKey)["task"] = task(taskKey)
        case 12: (number(numberKey)["others"] as? DynamicSet)?.insert(number(random.below(14) - 5))
        case 13: number(numberKey)["any"] = AnyRealmValue.object(number(random.below(14) - 5))
        case 14: number(numberKey)["value"] = random.below(9)
        default: task(taskKey)["done"] = random.below(2) == 0
        }
    }

    // MARK: Comparing

    func compare() throws {
        expectEqual(Self.seen(realms[0]), Self.seen(realms[1]))
        expectEqual(Self.seen(pinned[0]), Self.seen(pinned[1]))
        for (realms, shown) in frozen {
            expectEqual(shown[0], shown[1])
            expectEqual(realms.map(Self.seen), shown)
        }
        queue.sync {}
        let heard = heard.texts.withLock { $0 }
        // Observers that are behind hear of several commits at once: only where each of them has come to in the end is certain.
        expectEqual(Self.last(heard[0]), Self.last(heard[1]))
    }

    private static func last(_ texts: [String]) -> [String: String] {
        var result: [String: String] = [:]
        for text in texts {
            let observer = String(text.prefix { $0 != ":" })
            result[observer] = String(text.dropFirst(observer.count).prefix { $0 != "]" }.filter { $0 != "i" })
        }
        return result.mapValues { $0.replacingOccurrences(of: "ntal ", with: "") }
    }

    private static func seen(_ realm: Realm) -> Seen {
        func text(_ object: DynamicObject) -> String { "\(object.primaryKey ?? "")" }
        var seen = Seen(
            dump: realm.instance.read { StateDump.canonical(of: copy $0) }, keys: [:], positions: [:], counts: [:],
            selected: [], origins: [:])
        for className in ["Task", "Number"] {
            let all = realm.dynamicObjects(className)
            seen.keys[className] = all.map(text)
            seen.counts[className] = all.count
            seen.positions[className] = (0..<all.count).reversed().map { text(all[$0]) }
            for object in all {
                for (origin, property) in [
                    ("Task", "best"), ("Task", "friends"), ("Number", "task"), ("Number", "others"),
                ] {
                    seen.origins["\(className) \(text(object)) \(origin).\(property)"] =
                        realm.instance.origins(of: object.address, in: ByteString(origin), over: ByteString(property))
                        .map { "\(Value($0))" }
                }
            }
        }
        for (className, filter) in filters {
            let results = realm.dynamicObjects(className).filter(filter)
            seen.selected.append(results.map(text))
            seen.selected.append(results.sorted(byKeyPath: className == "Task" ? "count" : "value").map(text))
        }
        return seen
    }
}

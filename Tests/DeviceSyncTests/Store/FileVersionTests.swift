import Changesets
import Foundation
import GRDB
import RealmState
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// Objects that are read from the file when they are asked for.
@Suite(.hangGuard)
struct FileVersionTests {
    /// A realm whose changed objects leave the memory after few commits.
    private func realm(_ folder: Folder, settlingBytes: Int = 64 << 10) throws -> Realm {
        let core = try RealmCore(location: .file(folder.file), isSynced: false, settlingBytes: settlingBytes)
        if core.snapshot.state.schema.tables.isEmpty {
            var state = core.snapshot.state
            let changeset = try state.record { try SchemaAdditions.apply(Device.schema, to: &$0) }.changeset
            try core.commitLocal(state, changeset: changeset)
        }
        return Realm(instance: RealmInstance(core: core, configuration: folder.configuration, session: nil))
    }

    private func version(_ realm: Realm) -> FileVersion? { realm.instance.current.state.base as? FileVersion }

    @Test func openingReadsNoObjects() throws {
        let folder = Folder()
        try {
            let realm = try self.realm(folder)
            try realm.write {
                for number in 0..<100 { realm.dynamicCreate("Task", value: ["_id": "\(number)", "count": number]) }
            }
        }()
        let realm = try self.realm(folder)
        expectEqual(realm.instance.current.state.cachedObjectCount, 0)
        expectTrue(realm.dynamicObject(ofType: "Task", forPrimaryKey: "7")?["count"] as? Int == 7)
        expectEqual(realm.dynamicObjects("Task").count, 100)
        expectTrue(realm.dynamicObjects("Task")[99].primaryKey as? String == "99")
    }

    @Test func changedObjectsLeaveTheMemory() throws {
        let folder = Folder()
        let realm = try self.realm(folder)
        let first = try #require(version(realm))
        var most = 0
        for number in 0..<100 {
            try realm.write { realm.dynamicCreate("Task", value: ["_id": "\(number)", "count": number]) }
            most = max(most, realm.instance.current.state.cachedObjectCount)
        }
        expectTrue(version(realm) !== first)
        expectTrue(most < 10)
        let counts = realm.dynamicObjects("Task").compactMap { $0["count"] as? Int }
        expectEqual(counts.sorted(), Array(0..<100))
    }

    @Test func frozenRealmsKeepTheirVersions() throws {
        let folder = Folder()
        let realm = try self.realm(folder)
        var frozen: [Realm] = []
        for number in 0..<60 {
            try realm.write {
                let task =
                    realm.dynamicObject(ofType: "Task", forPrimaryKey: "a")
                    ?? realm.dynamicCreate("Task", value: ["_id": "a"])
                task["count"] = number
                if number % 3 == 0 { realm.dynamicCreate("Task", value: ["_id": "n\(number)"]) }
            }
            if number % 10 == 0 { frozen.append(realm.freeze()) }
        }
        for (index, realm) in frozen.enumerated() {
            expectTrue(realm.dynamicObject(ofType: "Task", forPrimaryKey: "a")?["count"] as? Int == index * 10)
            expectEqual(realm.dynamicObjects("Task").count, 1 + (index * 10 + 3) / 3)
        }
        // What they held goes back, up to what is kept for later.
        frozen = []
        let open = realm.instance.core.file.readers.contents.withLock { $0.all.count }
        expectTrue(open <= 1 + FileReaders.idleLimit)
    }

    @Test func theLogBeginsAnew() throws {
        let folder = Folder()
        let realm = try self.realm(folder, settlingBytes: 1 << 20)
        let token = realm.dynamicObjects("Task").observe(on: DispatchQueue(label: "observer")) { _ in }
        func logBytes() throws -> Int {
            try #require(
                FileManager.default.attributesOfItem(atPath: folder.file.path + "-wal")[.size] as? Int)
        }
        for round in 0..<6 {
            for number in 0..<100 {
                try realm.write {
                    realm.dynamicCreate("Task", value: ["_id": "\(number)", "count": round], update: .all)
                }
            }
        }
        // Some hundred commits of 20 kB each have gone through it.
        try expectTrue(logBytes() < 8 << 20)
        token.invalidate()
    }

    @Test func anIndexFindsWhatAQuerySelects() throws {
        let folder = Folder()
        let realm = try folder.models()
        func names(_ realm: Realm) -> [String] {
            realm.objects(Dog.self).where { $0.name == "Rex" && $0.age > 2 }.map { "\($0.age)" }.sorted()
        }
        try realm.write {
            for number in 0..<200 {
                let dog = Dog()
                dog.name = number % 20 == 0 ? "Rex" : "Dog \(number)"
                dog.age = number
                realm.add(dog)
            }
        }
        let expected = stride(from: 20, to: 200, by: 20).map { "\($0)" }.sorted()
        expectEqual(names(realm), expected)
        try realm.write {
            let dogs = Array(realm.objects(Dog.self))
            dogs.first { $0.age == 20 }?.name = "Bello"
            dogs.first { $0.age == 5 }?.name = "Rex"
            if let gone = dogs.first(where: { $0.age == 40 }) { realm.delete(gone) }
            expectEqual(names(realm), ["100", "120", "140", "160", "180", "5", "60", "80"])
        }
        expectEqual(names(realm.freeze()), ["100", "120", "140", "160", "180", "5", "60", "80"])
        let database = try DatabaseQueue(path: folder.file.path)
        let rows = try database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM indexed") }
        expectEqual(rows, 199)
    }

    /// The objects are changed before the realm stands on a version of the file that has them.
    @Test func indexedAndLinkRowsFollowChangesSoonAfterCreation() throws {
        let folder = Folder()
        let realm = try folder.models()
        try realm.write {
            realm.add(Person(value: ["_id": 1, "bestDog": ["name": "Rex"]]))
            realm.add(Dog(value: ["name": "Bello"]))
        }
        let rex = try #require(realm.objects(Dog.self).where { $0.name == "Rex" }.first)
        let bello = try #require(realm.objects(Dog.self).where { $0.name == "Bello" }.first)
        try realm.write {
            rex.name = "Max"
            realm.objects(Person.self).first?.bestDog = bello
        }
        try realm.write {
            realm.delete(bello)
            realm.add(Person(value: ["_id": 2, "bestDog": rex]))
        }
        let database = try DatabaseQueue(path: folder.file.path)
        let rows = try database.read { database in
            try ["indexed", "links"].map { try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM \($0)") }
        }
        expectEqual(rows, [1, 1])
    }

    @Test func anIndexIsMadeWhenAPropertyIsDeclaredAsIndexed() throws {
        let folder = Folder()
        func schema(isIndexed: Bool) -> [ObjectSchemaDescription] {
            [
                ObjectSchemaDescription(
                    "Item", primaryKey: PropertyDescription("_id", .int),
                    properties: [PropertyDescription("value", .int, isOptional: true, isIndexed: isIndexed)])
            ]
        }
        try {
            let realm = try Realm(
                configuration: .init(fileURL: folder.file, dynamicSchema: schema(isIndexed: false)))
            try realm.write {
                for number in 0..<50 {
                    realm.dynamicCreate("Item", value: ["_id": number, "value": number % 5 == 0 ? nil : number - 25])
                }
            }
        }()
        let realm = try Realm(configuration: .init(fileURL: folder.file, dynamicSchema: schema(isIndexed: true)))
        func keys(_ filter: String) -> [Int] {
            realm.dynamicObjects("Item").filter(filter).compactMap { $0.primaryKey as? Int }
        }
        let state = realm.instance.current.state
        let column = try #require(state.schema.table("Item")?.column("value")?.id)
        let low = try #require(OrderedBytes.of(.int(-3), maxCount: DerivedRows.indexedBytes))
        let high = try #require(OrderedBytes.of(.int(-1), maxCount: DerivedRows.indexedBytes))
        expectEqual(
            state.keys(of: "Item", having: column, in: [.init(low: low, high: high)])?.indexed.sorted(),
            [22, 23, 24].map { .int($0) })
        expectEqual(keys("value >= -3 AND value < 0"), [22, 23, 24])
        expectEqual(keys("value == NULL"), stride(from: 0, to: 50, by: 5).map { $0 })
        expectEqual(keys("value IN {1, 3, 70}"), [26, 28])
        expectEqual(keys("value BETWEEN {2, 4} AND _id != 28"), [27, 29])
        expectEqual(keys("_id IN {3, 1, 99}"), [1, 3])
    }

    /// What the index alone tells is as true as a look at each object: beside changes that are not in the file's version, and for values of which the
    /// index has only the beginning.
    @Test func theIndexSelectsWhatALookAtTheObjectsWould() throws {
        let folder = Folder()
        let schema = [
            ObjectSchemaDescription(
                "Item", primaryKey: PropertyDescription("_id", .int),
                properties: [PropertyDescription("name", .string, isOptional: true, isIndexed: true)])
        ]
        let long = String(repeating: "x", count: 300)
        let names: [String?] = ["a", "A", "ab", nil, "", long, long + "y", String(repeating: "x", count: 252)]
        try {
            let realm = try Realm(configuration: .init(fileURL: folder.file, dynamicSchema: schema))
            try realm.write {
                for (number, name) in (names + names).enumerated() {
                    realm.dynamicCreate("Item", value: ["_id": number, "name": name])
                }
            }
        }()
        let realm = try Realm(configuration: .init(fileURL: folder.file, dynamicSchema: schema))
        func check(_ expected: [String?]) {
            for name in names {
                let found = realm.dynamicObjects("Item").filter("name == %@", name as Any)
                    .compactMap { $0.primaryKey as? Int }
                expectEqual(found, expected.indices.filter { expected[$0] == name }, "\(name ?? "null")")
            }
            let few = realm.dynamicObjects("Item").filter("name IN {'a', 'ab'}").compactMap { $0.primaryKey as? Int }
            expectEqual(few, expected.indices.filter { expected[$0] == "a" || expected[$0] == "ab" })
            let any = realm.dynamicObjects("Item").filter("name ==[c] 'a'").compactMap { $0.primaryKey as? Int }
            expectEqual(any, expected.indices.filter { expected[$0]?.lowercased() == "a" })
        }
        check(names + names)
        try realm.write {
            realm.dynamicObject(ofType: "Item", forPrimaryKey: 0)?["name"] = "ab"
            realm.dynamicObject(ofType: "Item", forPrimaryKey: 5)?["name"] = "a"
            realm.dynamicCreate("Item", value: ["_id": 16, "name": "a"])
            check(["ab"] + names[1..<5] + ["a"] + names[6...] + names + ["a"])
        }
        check(["ab"] + names[1..<5] + ["a"] + names[6...] + names + ["a"])
    }

    @Test func aResetHoldsWhatDiffers() throws {
        let (folder, other) = (Folder(), Folder())
        let realms = try [realm(folder), realm(other)]
        for (index, realm) in realms.enumerated() {
            try realm.write {
                for number in 0..<500 where number != 3 + index {
                    let count = index == 1 && number % 100 == 0 ? -number : number
                    realm.dynamicCreate("Task", value: ["_id": "\(number)", "count": count])
                }
            }
        }
        let fresh = try self.realm(other).instance.current.state
        var state = try self.realm(folder).instance.current.state
        let statistics = try StateTransfer.transfer(from: fresh, to: &state)
        expectEqual(statistics, StateTransfer.Statistics(inserted: 1, updated: 4, deleted: 1))
        expectTrue(state.cachedObjectCount == 6 && fresh.cachedObjectCount == 0)
        expectEqual(StateDump.canonical(of: state), StateDump.canonical(of: fresh))
    }

    // MARK: Reads that fail

    @Test func workThatCanThrowThrowsWhatCannotBeRead() throws {
        let folder = Folder()
        try {
            let realm = try Realm(configuration: folder.configuration)
            try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        }()
        try RealmFileEdits.run("UPDATE objects SET value = X'FF'", at: folder.file.path)
        let realm = try Realm(configuration: folder.configuration)
        let copy = folder.url.appendingPathComponent("copy.realm")
        let error = #expect(throws: Realm.Error.self) { try realm.writeCopy(toFile: copy) }
        expectEqual(error?.code, .invalidDatabase)
        expectTrue(!FileManager.default.fileExists(atPath: copy.path))
    }

    @Test func aGetterStopsTheProcessAtWhatCannotBeRead() async throws {
        let folder = Folder()
        try {
            let realm = try Realm(configuration: folder.configuration)
            try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        }()
        try RealmFileEdits.run("UPDATE objects SET value = X'FF'", at: folder.file.path)
        await #expect(processExitsWith: .failure) { [file = folder.file as URL] in
            let realm = try Realm(configuration: .init(fileURL: file, dynamicSchema: Device.schema))
            _ = realm.dynamicObject(ofType: "Task", forPrimaryKey: "a")
        }
    }
}

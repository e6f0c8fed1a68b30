import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

@Suite(.hangGuard)
struct LocalRealmTests {
    struct Stop: Error {}

    @discardableResult
    private func inRealm<R>(_ configuration: Realm.Configuration, _ body: (Realm) throws -> R) throws -> R {
        try body(Realm(configuration: configuration))
    }

    @Test func everyKindOfValueSurvivesReopening() throws {
        let folder = Folder()
        try inRealm(folder.configuration) { realm in
            try realm.write {
                let friend = realm.dynamicCreate("Task", value: ["_id": "friend"])
                realm.dynamicCreate(
                    "Task",
                    value: [
                        "_id": "a", "title": "text", "count": 7, "done": true, "numbers": [1, 2], "friends": [friend],
                        "best": friend, "any": AnyRealmValue.list([.int(1), .string("x")]), "names": ["k": "v"],
                        "tags": ["t", "s"], "address": ["street": "High Street"],
                    ])
            }
        }
        expectTrue(!RealmFileSet(main: folder.configuration.fileURL ?? folder.url).isOpen)
        try inRealm(folder.configuration) { realm in
            let task = try #require(realm.dynamicObject(ofType: "Task", forPrimaryKey: "a"))
            expectTrue(task["title"] as? String == "text")
            expectTrue(task["count"] as? Int == 7)
            expectTrue(task["done"] as? Bool == true)
            expectTrue((task["numbers"] as? DynamicList)?.compactMap { $0 as? Int } == [1, 2])
            expectTrue(((task["friends"] as? DynamicList)?.first as? DynamicObject)?.primaryKey as? String == "friend")
            expectTrue((task["best"] as? DynamicObject)?.primaryKey as? String == "friend")
            expectTrue(task["any"] as? AnyRealmValue == .list([.int(1), .string("x")]))
            expectTrue((task["names"] as? DynamicMap)?["k"] as? String == "v")
            expectTrue((task["tags"] as? DynamicSet)?.compactMap { $0 as? String } == ["s", "t"])
            expectTrue((task["address"] as? DynamicObject)?["street"] as? String == "High Street")
        }
    }

    @Test func aThrowingWriteLeavesNothing() throws {
        let folder = Folder()
        let realm = try Realm(configuration: folder.configuration)
        #expect(throws: Stop.self) {
            try realm.write {
                realm.dynamicCreate("Task", value: ["_id": "a"])
                throw Stop()
            }
        }
        expectTrue(realm.isEmpty)
        expectTrue(!realm.isInWriteTransaction)
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "b"]) }
        expectEqual(realm.dynamicObjects("Task").count, 1)
    }

    @Test func aFrozenRealmStaysAsItWas() throws {
        let folder = Folder()
        let realm = try Realm(configuration: folder.configuration)
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a", "title": "one"]) }
        let frozen = realm.freeze()
        try realm.write { realm.dynamicObject(ofType: "Task", forPrimaryKey: "a")?["title"] = "two" }
        expectEqual(frozen.titles(), ["a": "one"])
        expectEqual(frozen.thaw().titles(), ["a": "two"])
        expectTrue(realm.syncSession == nil)
    }

    @Test func deletingAnObjectClearsLinksToIt() throws {
        let folder = Folder()
        let realm = try Realm(configuration: folder.configuration)
        try realm.write {
            let friend = realm.dynamicCreate("Task", value: ["_id": "b"])
            realm.dynamicCreate("Task", value: ["_id": "a", "best": friend, "friends": [friend]])
        }
        let task = try #require(realm.dynamicObject(ofType: "Task", forPrimaryKey: "a"))
        try realm.write { (task["best"] as? DynamicObject).map(realm.delete) }
        expectTrue(task["best"] == nil)
        expectTrue((task["friends"] as? DynamicList)?.isEmpty == true)
    }

    @Test func collectionNotificationsListExactlyTheDifference() async throws {
        let folder = Folder()
        let realm = try await Realm(configuration: folder.configuration)
        try realm.write { for key in ["a", "b", "c"] { realm.dynamicCreate("Task", value: ["_id": key]) } }
        let changes = Mutex<[[[Int]]]>([])
        let token = realm.dynamicObjects("Task").observe(on: DispatchQueue(label: "test")) { change in
            if case .update(_, let deletions, let insertions, let modifications) = change {
                changes.withLock { $0.append([deletions, insertions, modifications]) }
            } else {
                changes.withLock { $0.append([]) }
            }
        }
        await expectTrue(eventually { changes.withLock { $0.count } == 1 })
        try realm.write {
            realm.dynamicObject(ofType: "Task", forPrimaryKey: "a").map(realm.delete)
            realm.dynamicObject(ofType: "Task", forPrimaryKey: "c")?["count"] = 1
            realm.dynamicCreate("Task", value: ["_id": "d"])
        }
        await expectTrue(eventually { changes.withLock { $0.last } == [[0], [2], [1]] })
        token.invalidate()
        // The witness is another observer, whose turn comes after that of the first.
        let last = Mutex<[Int]?>(nil)
        let witness = realm.dynamicObjects("Task").observe(on: DispatchQueue(label: "witness")) { change in
            if case .update(_, let deletions, _, _) = change {
                last.withLock { $0 = deletions }
            } else {
                last.withLock { $0 = [] }
            }
        }
        await expectTrue(eventually { last.withLock { $0 } != nil })
        try realm.write { realm.deleteAll() }
        await expectTrue(eventually { last.withLock { $0?.count } == 3 })
        expectEqual(changes.withLock { $0.count }, 2)
        witness.invalidate()
    }

    @Test func anotherTypeForAPropertyIsRefused() throws {
        let folder = Folder()
        try inRealm(folder.configuration) { _ in }
        var other = folder.configuration
        other.dynamicSchema = [
            ObjectSchemaDescription(
                "Task", primaryKey: PropertyDescription("_id", .string),
                properties: [PropertyDescription("count", .string)])
        ]
        #expect { try Realm(configuration: other) } throws: { ($0 as? Realm.Error)?.code == .schemaMismatch }
    }

    @Test func anOpenRealmIsNotDeleted() throws {
        let folder = Folder()
        try inRealm(folder.configuration) { (_: Realm) -> Void in
            #expect { try Realm.deleteFiles(for: folder.configuration) } throws: {
                ($0 as? Realm.Error)?.code == .alreadyOpen
            }
        }
        try expectTrue(Realm.deleteFiles(for: folder.configuration))
        try expectTrue(!Realm.deleteFiles(for: folder.configuration))
    }

    @Test func aDamagedFileIsAnErrorAndNoCrash() throws {
        let folder = Folder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let file = try #require(folder.configuration.fileURL)
        for contents in [Data(repeating: 7, count: 5000), Data("a".utf8)] {
            try contents.write(to: file)
            #expect { try Realm(configuration: folder.configuration) } throws: {
                ($0 as? Realm.Error)?.code == .invalidDatabase
            }
            try expectEqual(Data(contentsOf: file), contents)
        }
    }

    @Test func anInMemoryRealmIsSharedByNameAndGoneWithItsLastInstance() throws {
        var configuration = Realm.Configuration(inMemoryIdentifier: UUID().uuidString, dynamicSchema: Device.schema)
        configuration.schemaVersion = 0
        try inRealm(configuration) { realm in
            try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
            try expectEqual(inRealm(configuration) { $0.dynamicObjects("Task").count }, 1)
        }
        try expectTrue(inRealm(configuration) { $0.isEmpty })
    }
}

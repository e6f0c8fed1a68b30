import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Higher versions of a local realm's schema: what the app's block is given, and what is kept.
@Suite(.hangGuard)
struct MigrationTests {
    private let folder = Folder()
    struct Stop: Error {}

    private enum Old {
        final class Person: TestObject {
            override class func _realmObjectName() -> String? { "Person" }
            @Persisted(primaryKey: true) var _id: Int
            @Persisted var firstName: String
            @Persisted var lastName: String
            @Persisted var age: String
            @Persisted var size: Int?
            @Persisted var nick: String
        }
    }

    private enum New {
        final class Person: TestObject {
            override class func _realmObjectName() -> String? { "Person" }
            @Persisted(primaryKey: true) var _id: Int
            @Persisted var fullName: String
            @Persisted var age: Int
            @Persisted var size: Int
            @Persisted var alias: String
        }
        final class Log: TestObject {
            @Persisted(primaryKey: true) var _id: Int
            @Persisted var text: String
        }
    }

    private func makeOld() throws {
        let realm = try Realm(
            configuration: Realm.Configuration(fileURL: folder.file, schemaVersion: 1, objectTypes: [Old.Person.self]))
        try realm.write {
            realm.create(Old.Person.self, value: [1, "Ada", "Lovelace", "36", 170, "A"])
            realm.create(Old.Person.self, value: [2, "Bob", "Builder", "old", NSNull(), "B"])
            realm.create(Old.Person.self, value: [3, "Eve", "Gone", "1", 3, "E"])
        }
    }

    private func configuration(_ version: UInt64 = 2, block: MigrationBlock?) -> Realm.Configuration {
        Realm.Configuration(
            fileURL: folder.file, schemaVersion: version, migrationBlock: block,
            objectTypes: [New.Person.self, New.Log.self])
    }

    @Test func aFileIsMigratedWithoutAnybodyWhoHasItOpen() throws {
        try makeOld()
        try Realm.performMigration(
            for: configuration { migration, _ in
                migration.enumerateObjects(ofType: "Person") { old, new in new?["fullName"] = old?["firstName"] }
            })
        expectEqual(try schemaVersionAtURL(folder.file), 2)
        let realm = try Realm(configuration: configuration(block: nil))
        expectEqual(realm.objects(New.Person.self).map(\.fullName), ["Ada", "Bob", "Eve"])
    }

    @Test func objectsComeIntoTheirNewForm() throws {
        try makeOld()
        let block: MigrationBlock = { migration, version in
            expectTrue(version == 1 && migration.oldSchema.objectSchema.count == 1)
            expectEqual(migration.newSchema.objectSchema.count, 2)
            migration.enumerateObjects(ofType: "Person") { old, new in
                guard let old, let new else { return }
                new["fullName"] = "\(old["firstName"] ?? "") \(old["lastName"] ?? "")"
                new["age"] = Int(old["age"] as? String ?? "") ?? -1
                if old["_id"] as? Int == 3 { migration.delete(new) }
            }
            migration.renameProperty(onType: "Person", from: "nick", to: "alias")
            migration.create("Log", value: ["_id": 1, "text": "migrated"])
            var left: [Int] = []
            migration.enumerateObjects(ofType: "Person") { old, new in
                if let id = old?["_id"] as? Int, new != nil { left.append(id) }
            }
            migration.enumerateObjects(ofType: "Log") { old, new in if old == nil, new != nil { left.append(0) } }
            expectEqual(left, [1, 2, 0])
        }
        do {
            let realm = try Realm(configuration: configuration(block: block))
            let people = realm.objects(New.Person.self)
            expectTrue(people.map(\.fullName) == ["Ada Lovelace", "Bob Builder"] && people.map(\.age) == [36, -1])
            expectTrue(people.map(\.size) == [170, 0] && people.map(\.alias) == ["A", "B"])
            expectEqual(
                realm.dynamicObjects("Person").first?.objectSchema.properties.map(\.name),
                ["_id", "fullName", "age", "size", "alias"])
        }
        // Once.
        let realm = try Realm(configuration: configuration { _, _ in Issue.record("a migration of what is migrated") })
        expectTrue(realm.objects(New.Log.self).map(\.text) == ["migrated"] && realm.objects(New.Person.self).count == 2)
    }

    @Test func withoutABlockAnotherTypeIsRefused() throws {
        try makeOld()
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration(block: nil)) }
        expectEqual(error?.code, .schemaMismatch)
        let realm = try Realm(
            configuration: Realm.Configuration(fileURL: folder.file, schemaVersion: 1, objectTypes: [Old.Person.self]))
        expectEqual(realm.objects(Old.Person.self).count, 3)
    }

    private final class OtherKey: TestObject {
        override class func _realmObjectName() -> String? { "Person" }
        @Persisted(primaryKey: true) var _id: String
    }

    @Test func impossibleMigrationThrowsAndKeepsTheRealm() throws {
        try makeOld()
        var other = configuration { _, _ in Issue.record("the block of a migration that cannot be") }
        other.objectTypes = [OtherKey.self]
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: other) }
        expectTrue(error?.code == .schemaMismatch && error?.message.contains("primary key") == true)
        try objectsComeIntoTheirNewFormAfterAll()
    }

    private func objectsComeIntoTheirNewFormAfterAll() throws {
        let realm = try Realm(configuration: configuration { migration, _ in migration.deleteData(forType: "Person") })
        expectTrue(realm.objects(New.Person.self).isEmpty)
    }

    @Test func aNewRealmIsNotMigrated() throws {
        let realm = try Realm(configuration: configuration(7) { _, _ in Issue.record("a migration of nothing") })
        expectTrue(realm.isEmpty)
    }
}

import Foundation
import RealmSwift
import TestSupport
import Testing

/// A program that imports `RealmSwift` alone has all of the SDK.
@Suite struct RealmSwiftTests {
    final class Boat: Object {
        @Persisted(primaryKey: true) var _id: Int
        @Persisted var name: String
        override class func shouldIncludeInDefaultSchema() -> Bool { false }
    }

    @Test func theOtherNameOfTheModuleWorks() throws {
        let configuration = Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Boat.self])
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.add(Boat(value: ["_id": 1, "name": "Ark"])) }
        expectEqual(realm.objects(Boat.self).where { $0.name.starts(with: "A") }.count, 1)
    }
}

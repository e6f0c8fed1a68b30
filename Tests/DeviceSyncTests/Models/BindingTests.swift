import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// When the properties of an object that a realm hands out begin to show the realm.
@Suite(.hangGuard)
struct BindingTests {
    private let folder = Folder()

    /// A class whose objects are not made empty.
    final class Prepared: TestObject {
        @Persisted(primaryKey: true) var _id: Int
        @Persisted var name: String
        @Persisted var tags: List<String>
        @Persisted var watched = 0 { didSet { changes += 1 } }
        var changes = 0

        required init() {
            super.init()
            name = "prepared"
            tags.append("prepared")
            watched = 5
        }
    }

    private func realm() throws -> Realm {
        let realm = try Realm(
            configuration: Realm.Configuration(fileURL: folder.file, objectTypes: [Prepared.self, Dog.self]))
        try realm.write {
            let object = Prepared()
            object._id = 1
            realm.add(object)
            object.name = "stored"
            object.tags[0] = "stored"
            object.watched = 9
        }
        return realm
    }

    @Test func valuesSetByAnInitializerDoNotHideTheRealm() throws {
        let realm = try realm()
        let found = try #require(realm.object(ofType: Prepared.self, forPrimaryKey: 1))
        expectTrue(found.name == "stored" && Array(found.tags) == ["stored"] && found.watched == 9)
        let other = try #require(realm.object(ofType: Prepared.self, forPrimaryKey: 1))
        expectTrue(other["name"] as? String == "stored" && (other["watched"] as? Int) == 9)
        expectTrue(other.description.contains("name = stored"))
    }

    @Test func aWriteIsTheFirstUseOfAProperty() throws {
        let realm = try realm()
        let found = try #require(realm.object(ofType: Prepared.self, forPrimaryKey: 1))
        try realm.write {
            found.name = "written"
            found["watched"] = 10
        }
        let other = try #require(realm.objects(Prepared.self).first)
        expectTrue(other.name == "written" && other.watched == 10 && found.name == "written")
    }

    @Test func anAddedObjectShowsWhatOthersWriteLater() throws {
        let realm = try realm()
        let dog = Dog(value: ["name": "Rex"])
        try realm.write { realm.add(dog) }
        try realm.write { try #require(realm.objects(Dog.self).first).name = "Max" }
        expectTrue(dog.name == "Max" && dog.age == 1)
        try realm.write { realm.delete(dog) }
        expectTrue(dog.isInvalidated)
    }

    /// Several threads may read a frozen object at once, so reading must not change it.
    @Test func frozenObjectsAreBoundFromTheBeginning() throws {
        let frozen = try #require(realm().freeze().objects(Prepared.self).first)
        expectTrue(frozen.unbound == nil)
        expectTrue(frozen.name == "stored" && frozen.watched == 9 && Array(frozen.tags) == ["stored"])
    }
}

import Dispatch
import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Objects and collections go from one realm of a file to another by reference, and out of a realm that is invalidated.
@Suite(.hangGuard)
struct HandingOverTests {
    private let folder = Folder()
    private let queue = DispatchQueue(label: "test.reader")

    /// Makes a person in a realm of the calling thread.
    private func person() throws -> (Realm, Person) {
        let realm = try folder.models()
        let person = Person(value: [
            "_id": 1, "name": "Ada", "dogs": [["name": "a"], ["name": "b"]], "home": ["name": "Main"],
            "scores": ["x": 1], "tags": ["t"],
        ])
        try realm.write { realm.add(person) }
        return (realm, person)
    }

    @Test func aReferenceIsFoundInAnotherRealm() throws {
        let (realm, person) = try person()
        let object = ThreadSafeReference(to: person)
        let list = ThreadSafeReference(to: person.dogs)
        let map = ThreadSafeReference(to: person.scores)
        let street = ThreadSafeReference(to: try #require(person.home))
        let results = ThreadSafeReference(to: realm.objects(Dog.self).where { $0.name == "b" })
        try queue.sync {
            let there = try Realm(configuration: folder.modelConfiguration, queue: queue)
            expectEqual(there.resolve(object)?.name, "Ada")
            expectEqual(there.resolve(list)?.map(\.name), ["a", "b"])
            expectEqual(there.resolve(map)?["x"], 1)
            expectEqual(there.resolve(street)?.name, "Main")
            expectEqual(there.resolve(results)?.map(\.name), ["b"])
            try there.write { there.resolve(object)?.name = "Eve" }
        }
        expectEqual(person.name, "Eve")
        // Found already, it can be found again, and in no other realm.
        expectTrue(object.isInvalidated)
        try expectTrue(Folder().models().resolve(object) == nil)
        try realm.write { realm.delete(person) }
        try expectTrue(folder.models().resolve(object) == nil)
        try expectTrue(folder.models().resolve(list) == nil)
    }

    @Test func aWrapperHandsOverByItself() async throws {
        let (realm, person) = try person()
        @ThreadSafe var shared: Person? = person
        let copy = _shared
        await expectEqual(onThread { copy.wrappedValue?.name }, "Ada")
        try realm.write { realm.delete(person) }
        expectTrue(shared == nil)
    }

    @Test func invalidatingEndsObjectsAndNotTheRealm() throws {
        let (realm, person) = try person()
        let (dogs, everybody) = (person.dogs, realm.objects(Person.self))
        expectEqual(dogs.count, 2)
        realm.beginWrite()
        person.name = "not kept"
        realm.invalidate()
        expectTrue(!realm.isInWriteTransaction)
        expectTrue(person.isInvalidated && dogs.isInvalidated)
        expectTrue(person.age == nil && dogs.isEmpty)
        expectEqual(everybody.map(\.name), ["Ada"])
        expectEqual(everybody.first?.dogs.count, 2)
    }

    @Test func invalidatingEndsObjectsWithoutModelsToo() throws {
        let (realm, _) = try person()
        let person = try #require(realm.dynamicObject(ofType: "Person", forPrimaryKey: 1))
        let dogs = try #require(person["dogs"] as? DynamicList)
        let (scores, friends) = (person["scores"] as? DynamicMap, person["friends"] as? DynamicSet)
        let everybody = realm.dynamicObjects("Person")
        try realm.write {
            scores?["x"] = 1
            person["anything"] = [[1]]
        }
        let anything = try #require((person["anything"] as? AnyRealmValue)?.listValue)
        expectTrue(anything.count == 1 && scores?.count == 1)
        realm.invalidate()
        expectTrue(person.isInvalidated && dogs.isEmpty && scores?.count == 0 && friends?.count == 0)
        expectTrue(anything.isInvalidated && anything.isEmpty)
        expectTrue(everybody.map { $0["name"] as? String } == ["Ada"])
        expectTrue((everybody.first?["dogs"] as? DynamicList)?.count == 2)
    }
}

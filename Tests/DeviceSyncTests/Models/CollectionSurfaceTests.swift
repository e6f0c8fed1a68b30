import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// What all collections answer alike.
@Suite(.hangGuard)
struct CollectionSurfaceTests {
    private let folder = Folder()

    @Test func listsAnswerAsResultsDo() throws {
        let realm = try folder.models()
        let person = Person(value: [
            "_id": 1, "dogs": [["name": "a", "age": 3], ["name": "b", "age": 5], ["name": "c", "age": 4]],
            "home": ["name": "x", "numbers": [4, 6]],
        ])
        try realm.write { realm.add(person) }
        let dogs = person.dogs
        expectTrue(dogs.max(of: \.age) == 5 && dogs.min(ofProperty: "age") == 3)
        expectTrue(dogs.sum(of: \.age) == 12 && dogs.average(of: \.age) == 4)
        expectEqual(dogs.filter(NSPredicate(format: "age > %d", 3)).map(\.name), ["b", "c"])
        expectEqual(dogs.index(matching: { $0.name == "c" }), 2)
        expectTrue(dogs.value(forKey: "name") as? [String] == ["a", "b", "c"])
        expectTrue(person.home?.numbers.sum() == 10 && person.home?.numbers.average() == 5)
        try realm.write { dogs.setValue(1, forKey: "age") }
        expectEqual(realm.objects(Dog.self).sum(of: \.age), 3)
        expectTrue(List<Int>().average() == nil && List<Int>().sum() == 0)
    }

    @Test func theTypeOfACollectionCanBeHidden() throws {
        let realm = try folder.models()
        try realm.write {
            realm.add(Person(value: ["_id": 1, "dogs": [["name": "a"], ["name": "b"], ["name": "c"]]]))
        }
        let person = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
        let all = [
            AnyRealmCollection(person.dogs), AnyRealmCollection(realm.objects(Dog.self).sorted(by: \.name)),
            AnyRealmCollection(AnyRealmCollection(person.dogs)),
        ]
        for dogs in all {
            expectTrue(dogs.map(\.name) == ["a", "b", "c"] && dogs.realm == realm && !dogs.isFrozen)
            expectEqual(dogs.objects(at: [0, 2]).map(\.name), ["a", "c"])
        }
        try realm.write { realm.delete(person) }
        expectTrue(all[0].isInvalidated && all[0].isEmpty && !all[1].isInvalidated)
    }
}

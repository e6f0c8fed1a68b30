import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Objects that a program holds, while others are made of them or change them, as in Realm Swift.
@Suite(.hangGuard)
struct HeldObjectTests {
    private let folder = Folder()
    private let realm: Realm

    init() throws { realm = try folder.models() }

    @Test func objectsAmongValuesAreCopied() throws {
        let dog = Dog(value: ["name": "Rex"])
        let friend = Person(value: ["_id": 2, "bestDog": dog, "streets": [["name": "a"]]])
        try realm.write {
            let made = realm.create(
                Person.self,
                value: [
                    "_id": 1, "dogs": [dog], "bestDog": dog, "pets": ["best": dog], "friends": [friend],
                    "anything": AnyRealmValue.fromArray([.object(dog), .fromDictionary(["a": .object(dog)])]),
                ])
            expectTrue(made.bestDog?.realm != nil && made.bestDog == made.dogs.first)
            expectTrue(made.pets["best"] == made.bestDog && made.friends.first?.bestDog == made.bestDog)
            expectEqual(made.anything[0]?.object(Dog.self)?.name, "Rex")
            expectEqual(made.anything[1]?["a"]?.object(Dog.self)?.name, "Rex")
            realm.create(Person.self, value: Person(value: ["_id": 3, "bestDog": dog]), update: .modified)
        }
        expectTrue(dog.realm == nil && friend.realm == nil && friend.streets.first?.realm == nil)
        dog.name = "Max"
        expectEqual(realm.objects(Dog.self).map(\.name), ["Rex"])
    }

    @Test func objectsThatLinkInACircleAreCopied() throws {
        let first = Person(value: ["_id": 1])
        let second = Person(value: ["_id": 2])
        first.friends.insert(second)
        second.friends.insert(first)
        try realm.write {
            let made = realm.create(Person.self, value: first)
            expectEqual(made.friends.first?.friends.first, made)
        }
        expectTrue(first.realm == nil && second.realm == nil && realm.objects(Person.self).count == 2)
    }

    @Test func anAddedObjectIsTheOneThatWasMade() throws {
        let dog = Dog(value: ["name": "Rex"])
        try realm.write { realm.add(Person(value: ["_id": 1, "dogs": [dog]])) }
        expectTrue(dog.realm != nil)
    }

    @Test func aClassThatIsKnownOnlyWhenItRunsIsMade() throws {
        let city: Object = City(value: ["_id": "a"])
        try realm.write {
            expectTrue(realm.create(type(of: city), value: city) is City)
            expectTrue(realm.object(ofType: type(of: city), forPrimaryKey: "a") is City)
        }
    }

    @Test func anObjectOfAClassWithOtherPropertiesIsNoValue() {
        #expect(throws: ValueMismatch.self) { try Person().assign(["bestDog": City()]) }
        #expect(throws: ValueMismatch.self) { try Dog().assign(City()) }
    }

    @Test func anUpdateChangesEmbeddedObjectsWhereTheyAre() throws {
        func update(_ streets: [String], _ policy: Realm.UpdatePolicy) throws {
            try realm.write {
                let home: [String: Any] = ["name": streets[0], "numbers": [1, streets.count]]
                let new = Person(value: ["_id": 1, "home": home, "streets": streets.map { ["name": $0] }])
                realm.add(new, update: policy)
                expectTrue(new.home?.name == streets[0] && new.streets.map(\.name) == streets)
            }
        }
        try update(["a", "b"], .error)
        let person = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
        let (home, first, second) = (try #require(person.home), person.streets[0], person.streets[1])
        try update(["c", "d", "e"], .modified)
        expectTrue(home.name == "c" && Array(home.numbers) == [1, 3])
        expectTrue(first.name == "c" && second.name == "d" && person.streets[2].name == "e")
        try update(["f"], .modified)
        expectTrue(first.name == "f" && second.isInvalidated && !home.isInvalidated)
        try update(["f"], .all)
        expectTrue(home.isInvalidated)
    }

    @Test func anUpdateOfAnEmbeddedObjectIsOneOfItsProperties() throws {
        try realm.write { realm.add(Person(value: ["_id": 1, "home": ["name": "a", "numbers": [1, 2]]])) }
        let numbers = try #require(realm.objects(Person.self).first?.home?.numbers)
        let token = numbers.observe(on: DispatchQueue(label: "test.held")) { change in
            if case .update = change { Issue.record("the numbers have not changed") }
        }
        try realm.write {
            realm.add(Person(value: ["_id": 1, "home": ["name": "b", "numbers": [1, 2]]]), update: .modified)
        }
        expectTrue(!numbers.isInvalidated && Array(numbers) == [1, 2])
        token.invalidate()
    }

    @Test @MainActor func aWriteBeginsWithWhatObserversHaveNotHeardOf() async throws {
        func mine() throws -> Realm {
            try Realm(configuration: folder.modelConfiguration, _isolation: MainActor.shared)
        }
        let realm = try mine()
        let heard = ModelNotificationTests.Heard()
        let token = realm.objects(City.self).observe { change in
            switch change {
            case .initial(let cities): heard.hear("initial \(cities.count)")
            case .update(let cities, _, let insertions, _): heard.hear("\(insertions) of \(cities.count)")
            case .error: heard.hear("error")
            }
        }
        for name in ["a", "b"] { try realm.write { realm.create(City.self, value: ["_id": name]) } }
        expectEqual(heard.all, ["initial 0", "[0] of 1"])
        await expectTrue(heard.ends(with: "[1] of 2"))
        token.invalidate()
    }

    @Test func valuesOfAnUnmanagedListAreSearched() {
        let numbers = List<Int>()
        numbers.append(objectsIn: [5, 6, 7, 8])
        expectEqual(numbers.index(matching: NSPredicate(format: "self == 7")), 2)
        expectEqual(numbers.index(matching: "SELF > %@", 5), 1)
        expectEqual(numbers.index(matching: { $0 > 6 && $0 < 9 }), 2)
        expectEqual(numbers.index(matching: "self > 8"), nil)
        let names = MutableSet<String?>()
        names.insert(objectsIn: ["a", nil])
        expectEqual(names.index(matching: "self == nil").map { names[$0] }, .some(nil))
        let values = List<AnyRealmValue>()
        values.append(objectsIn: [1, "a"])
        expectEqual(values.index(matching: "self == 'a'"), 1)
    }

    @Test func objectsOfAnUnmanagedListAreSearched() {
        let graz = City(value: ["_id": "Graz", "people": 290_000])
        let person = Person(value: ["streets": [["name": "a", "city": graz]]])
        let people = List<Person>()
        people.append(objectsIn: [Person(value: ["dogs": [["name": "Rex"]]]), person, Person(value: ["name": "Eve"])])
        expectEqual(people.index(matching: "ANY dogs.name == %@", "Rex"), 0)
        expectEqual(people.index(matching: NSPredicate(format: "ANY streets.city.people > %@", 1)), 1)
        expectEqual(people.index(matching: { $0.name == "Eve" }), 2)
        expectEqual(people.index(matching: { $0.name == "Bob" }), nil)
        expectTrue(person.realm == nil && person.streets.first?.city === graz && graz.realm == nil)
    }

    @Test func keyPathsByNameReadAndWrite() throws {
        let person = Person(value: ["_id": 1, "home": ["name": "a"], "friends": [["_id": 2, "name": "b"]]])
        person.setValue("c", forKeyPath: "home.name")
        person.setValue("d", forKeyPath: "bestDog.name")
        expectTrue(person.home?.name == "c" && person.bestDog == nil)
        expectEqual(person.friends.value(forKey: "name") as Any? as? Set<String>, ["b"])
    }

    @Test func whatIsReadTwiceIsTheSame() {
        expectTrue(Realm.Error(.fail) == Realm.Error(.fail) && Realm.Error(.fail) != Realm.Error(.fileAccess))
        let sections = realm.objects(Dog.self).sectioned(by: \.name)
        expectTrue(sections == sections && sections != realm.objects(Dog.self).sectioned(by: \.name))
    }
}

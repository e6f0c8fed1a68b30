import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Lists, sets, maps and backlinks, each unmanaged and in a realm: the same calls, the same results.
@Suite(.hangGuard)
struct ModelCollectionTests {
    private let folder = Folder()
    private let realm: Realm

    init() throws { realm = try folder.models() }

    /// Runs `body` with an unmanaged object and with one of the realm.
    private func both(_ body: (Person) throws -> Void) throws {
        try body(Person(value: ["_id": 1]))
        try realm.write { try body(realm.create(Person.self, value: ["_id": 2])) }
    }

    @Test func listsChangeAlike() throws {
        try both { person in
            let tags = person.tags
            tags.append(objectsIn: ["a", "b", "c"])
            tags.insert("x", at: 1)
            tags.move(from: 0, to: 3)
            expectEqual(Array(tags), ["x", "b", "c", "a"])
            tags.swapAt(0, 3)
            tags[1] = "B"
            tags.replace(index: 2, object: "C")
            expectTrue(Array(person.tags) == ["a", "B", "C", "x"] && tags.index(of: "C") == 2 && tags.last == "x")
            tags.removeFirst()
            tags.removeLast()
            tags.replaceSubrange(0..<1, with: ["1", "2"])
            expectEqual(Array(tags), ["1", "2", "C"])
            person.tags = ["new"]
            expectEqual(Array(person.tags), ["new"])
            person.tags.sort { $0 < $1 }
            person.tags.removeAll()
            expectTrue(tags.isEmpty || tags.realm == nil)
        }
    }

    @Test func setsChangeAlike() throws {
        try both { person in
            let (first, second) = (Person(value: ["_id": 10]), Person(value: ["_id": 11]))
            person.friends.insert(first)
            person.friends.insert(objectsIn: [first, second])
            expectTrue(person.friends.count == 2 && person.friends.contains(second))
            let others = MutableSet<Person>()
            others.insert(second)
            expectTrue(others.isSubset(of: person.friends) && others.intersects(person.friends))
            person.friends.formIntersection(others)
            expectEqual(person.friends.count, 1)
            person.friends.formUnion([first])
            person.friends.subtract(others)
            expectEqual(person.friends.map(\._id), [10])
            person.friends.remove(first)
            expectTrue(person.friends.isEmpty)
        }
        expectEqual(realm.objects(Person.self).count, 3)
    }

    @Test func mapsChangeAlike() throws {
        try both { person in
            person.scores["a"] = 1
            person.scores.updateValue(2, forKey: "b")
            person.scores["b", default: 0] += 5
            person.scores.merge([("c", 3), ("a", 10)].map { (key: $0.0, value: $0.1) }) { $0 + $1 }
            expectTrue(person.scores.keys == ["a", "b", "c"] && person.scores.values == [11, 7, 3])
            person.scores["a"] = nil
            person.scores.removeObject(for: "nothing")
            expectTrue(person.scores.map { "\($0.key)\($0.value)" } == ["b7", "c3"] && person.scores.count == 2)
            person.pets["rex"] = Dog(value: ["name": "Rex"])
            person.pets["none"] = .some(nil)
            expectTrue(person.pets["rex"]??.name == "Rex" && person.pets.count == 2 && person.pets["fido"] == nil)
            person.scores.removeAll()
            expectTrue(person.scores.isEmpty)
        }
    }

    @Test func embeddedObjectsBelongToTheirPlace() throws {
        let person = try realm.write {
            realm.create(Person.self, value: ["_id": 1, "streets": [["name": "a"], ["name": "b"]]])
        }
        let street = Street(value: ["name": "c"])
        try realm.write {
            person.streets.append(street)
            street.numbers.append(7)
            person.streets[0].name = "A"
            person.home = Street(value: ["name": "home"])
        }
        expectTrue(person.streets.map(\.name) == ["A", "b", "c"] && person.streets[2].numbers.first == 7)
        expectTrue(street.realm == realm && person.home?.name == "home")
        try realm.write {
            person.streets.remove(at: 0)
            person.home = nil
        }
        expectTrue(person.streets.map(\.name) == ["b", "c"] && person.home == nil)
    }

    @Test func linkingObjectsFollowTheLinks() throws {
        let dog = Dog(value: ["name": "Rex"])
        try realm.write {
            realm.add(dog)
            for id in 1...3 {
                realm.create(Person.self, value: ["_id": id, "dogs": [dog], "bestDog": (id == 2 ? dog : nil) as Any])
            }
        }
        expectTrue(dog.owners.map(\._id) == [1, 2, 3] && dog.bestOf.map(\._id) == [2])
        expectTrue(dog.owners.where { $0._id > 1 }.count == 2 && dog.owners.filter("_id == 3").first?._id == 3)
        try realm.write {
            realm.object(ofType: Person.self, forPrimaryKey: 1)?.dogs.removeAll()
            realm.delete(try #require(realm.object(ofType: Person.self, forPrimaryKey: 3)))
        }
        expectEqual(dog.owners.map(\._id), [2])
    }

    /// The list is as in a flexible realm whose subscriptions select the list's object and not the linked one.
    @Test func linksToObjectsThatTheRealmLacksAreLeftOut() throws {
        let person = try realm.write {
            realm.create(
                Person.self,
                value: ["_id": 1, "dogs": [["name": "a"], ["name": "b"], ["name": "c"]]])
        }
        let missing = person.dogs[1]
        let address = try #require(missing.handle).address
        try realm.write { realm.instance.edit { try $0.replayDeletion(of: address) } }
        expectTrue(person.dogs.map(\.name) == ["a", "c"] && person.dogs.count == 2 && person.dogs[1].name == "c")
        try realm.write {
            person.dogs.insert(Dog(value: ["name": "x"]), at: 1)
            person.dogs.remove(at: 0)
            person.dogs.append(Dog(value: ["name": "z"]))
        }
        expectTrue(
            person.dogs.map(\.name) == ["x", "c", "z"] && person.dogs.sorted(by: \.name).map(\.name) == ["c", "x", "z"])
        // The link is still there: when the object comes back, so does the element.
        try realm.write { realm.create(Dog.self, value: ["_id": missing._id, "name": "b"]) }
        expectEqual(person.dogs.count, 4)
    }
}

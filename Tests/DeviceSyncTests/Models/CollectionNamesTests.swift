import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// What programs for Realm Swift ask of collections, whichever they have.
@Suite(.hangGuard)
struct CollectionNamesTests {
    private let folder = Folder()
    private let realm: Realm
    private let person: Person

    init() throws {
        realm = try folder.models()
        person = Person(value: [
            "_id": 1, "dogs": [["name": "c", "age": 3], ["name": "a", "age": 5], ["name": "b", "age": 4]],
            "tags": ["x", "y"], "scores": ["one": 1, "two": 2], "bestDog": ["name": "best"],
        ])
        try realm.write { [realm, person] in
            realm.add(person)
            for dog in person.dogs { person.pets[dog.name] = dog }
        }
    }

    private func asked<Dogs: RealmCollection<Dog>>(_ dogs: Dogs) throws {
        expectEqual(dogs.filter("age > 3").sorted(byKeyPath: "name").map(\.name), ["a", "b"])
        expectEqual(dogs.where { $0.age > 4 }.map(\.name), ["a"])
        expectEqual(dogs.sorted(by: ["name"]).map(\.name), ["a", "b", "c"])
        expectTrue(dogs.max(of: \.age) == 5 && dogs.sum(ofProperty: "age") == 12)
        expectTrue(dogs.sectioned(by: \.age).count == 3 && dogs.distinct(by: [\Dog.age]).count == 3)
        let first = try #require(dogs.first)
        expectTrue(dogs.index(of: first) == 0 && dogs == dogs)
        expectEqual(dogs.value(forKeyPath: "age") as? [Int], dogs.map(\.age))
        let frozen = dogs.freeze()
        expectTrue(frozen.isFrozen && frozen.map(\.age) == dogs.map(\.age) && frozen != dogs)
        expectTrue(frozen.thaw()?.isFrozen == false && frozen.thaw()?.count == 3)
        expectTrue(dogs.description.contains("[0] Dog {"), "\(dogs.description)")
    }

    @Test func everyCollectionOfObjectsIsAskedAlike() throws {
        try asked(person.dogs)
        try asked(realm.objects(Dog.self).where { $0.name != "best" })
        try asked(AnyRealmCollection(person.dogs))
        let friends = Set([1, 2])
        expectEqual(person.dogs.where { $0.age.in(friends) }.count, 0)
        let dog = try #require(person.dogs.first)
        expectTrue(dog.owners.freeze().first?._id == 1 && dog.owners == dog.owners && dog.owners.freeze() != dog.owners)
        expectTrue(dog.owners.freeze().thaw() == dog.owners && Dog().owners == Dog().owners)
    }

    @Test func aHiddenCollectionIsObserved() async {
        let heard = ModelNotificationTests.Heard()
        let token = AnyRealmCollection(person.tags).observe(on: DispatchQueue(label: "test.any")) { change in
            if case .update(let tags, _, let insertions, _) = change { heard.hear("\(Array(tags)) \(insertions)") }
            if case .initial = change { heard.hear("initial") }
        }
        defer { token.invalidate() }
        await expectTrue(heard.ends(with: "initial"))
        try? realm.write { person.tags.append("z") }
        await expectTrue(heard.ends(with: #"["x", "y", "z"] [2]"#))
    }

    @Test func collectionsAreEqualIfTheyAreOneOrHoldTheSame() throws {
        let (one, other) = (List<Int>(), List<Int>())
        expectTrue(one == other)
        one.append(objectsIn: [1, 2])
        expectTrue(one != other)
        other.append(objectsIn: [1, 2])
        expectTrue(one == other && one !== other)
        let again = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
        expectTrue(again.dogs == person.dogs && again.tags == ["x", "y"] && again.scores == ["two": 2, "one": 1])
        expectTrue(again.friends == person.friends && again.freeze().dogs != person.dogs)
        expectTrue(realm.objects(Dog.self) == realm.objects(Dog.self))
        let filtered = realm.objects(Dog.self).filter("age > 3")
        let copy = filtered
        expectTrue(filtered == copy && filtered != realm.objects(Dog.self).filter("age > 4"))
    }

    @Test func listsTakeRangesAndOffsets() throws {
        func list(_ numbers: ClosedRange<Int>) -> List<Int> {
            let list = List<Int>()
            list.append(objectsIn: numbers)
            return list
        }
        let numbers = list(0...5)
        numbers.removeSubrange(1...2)
        numbers.insert(contentsOf: [7, 8], at: 1)
        expectEqual(Array(numbers), [0, 7, 8, 3, 4, 5])
        numbers.replaceSubrange(..<3, with: [9])
        expectEqual(Array(numbers), [9, 3, 4, 5])
        numbers[1..<3] = list(1...3)[0..<3]
        expectEqual(Array(numbers), [9, 1, 2, 3, 5])
        numbers.remove(atOffsets: [0, 4])
        expectEqual(Array(numbers), [1, 2, 3])
        for (offsets, destination) in [([1], 0), ([0], 3), ([0], 1), ([2], 1), ([], 1), ([0, 2], 1), ([0, 1], 3)] {
            let (moved, expected) = (list(1...3), list(1...3))
            moved.move(fromOffsets: IndexSet(offsets), toOffset: destination)
            let chosen = offsets.map { expected[$0] }
            let before = (0..<destination).filter { !offsets.contains($0) }.map { expected[$0] }
            let behind = (destination..<3).filter { !offsets.contains($0) }.map { expected[$0] }
            expectEqual(Array(moved), before + chosen + behind, "\(offsets) \(destination)")
        }
    }

    @Test func mapsAreAskedAsListsAre() {
        let pets = person.pets
        let young: Results<Dog?> = pets.filter(NSPredicate(format: "age < 5"))
        expectEqual(young.map { $0?.name }, ["b", "c"])
        expectEqual(pets.where { $0.age > 4 }.first??.name, "a")
        expectEqual(pets.sorted(by: \.age, ascending: false).map { $0?.age }, [5, 4, 3])
        expectEqual(pets.sorted(byKeyPath: "age").map { $0?.age }, [3, 4, 5])
        expectTrue(
            pets.contains { key, value in key == "a" && value?.age == 5 } && !pets.contains { $0 == "x" || $1 == nil })
        expectTrue(pets.min(of: \.age) == 3 && pets.max(of: \.age) == 5 && pets.sum(of: \.age) == 12)
        expectEqual(pets.average(of: \.age), 4)
        let scores = person.scores
        expectTrue(scores.allSatisfy { scores.contains($0) as Bool })
    }

    private func asked<Scores: RealmKeyedCollection<String, Int>>(_ scores: Scores) {
        expectTrue(scores.max() == 2 && scores.sum() == 3 && scores.average() == 1.5)
        expectEqual(scores.filter("SELF > 1").map { $0 }, [2])
        expectEqual(scores.sorted(ascending: false).map { $0 }, [2, 1])
        expectTrue(scores.value(forKey: "two") as? Int == 2 && scores.contains { $0 == "one" && $1 == 1 })
    }

    @Test func generalCodeAsksMaps() throws {
        asked(person.scores)
        func set<Scores: RealmKeyedCollection<String, Int>>(_ scores: Scores) { scores.setValue(7, forKey: "one") }
        try realm.write { set(person.scores) }
        expectEqual(person.scores["one"], 7)
    }

    @Test func keyPathsByNameLeadOverLinks() {
        expectEqual(person.value(forKeyPath: "bestDog.name") as? String, "best")
        expectEqual((person.value(forKeyPath: "dogs.name") as? [Any?])?.compactMap { $0 as? String }, ["c", "a", "b"])
        expectEqual(realm.objects(Person.self).value(forKeyPath: "bestDog.name") as? [String], ["best"])
        expectTrue((realm.objects(Person.self).value(forKeyPath: "dogs") as? [List<Dog>])?.first == person.dogs)
    }

    @Test func descriptorsAreMadeOfTextsAndKeyPaths() {
        let descriptor: DeviceSync.SortDescriptor = "name"
        expectEqual(descriptor, SortDescriptor(keyPath: \Dog.name))
        expectEqual(descriptor.reversed(), SortDescriptor(keyPath: "name", ascending: false))
        expectEqual(descriptor.reversed().description, "SortDescriptor(keyPath: name, direction: descending)")
    }

    @Test func objectsAndCollectionsArePrintedAsRealmPrintsThem() throws {
        let text = "Dog {\n\t_id = 507f1f77bcf86cd799439011;\n\tname = best;\n\tage = 1;\n}"
        let copy = Dog(value: ["_id": ObjectId("507f1f77bcf86cd799439011"), "name": "best"])
        expectEqual(copy.description, text)
        let list = List<Dog>()
        list.append(copy)
        let lines = list.description.split(separator: "\n", omittingEmptySubsequences: false)
        expectTrue(lines.first?.hasPrefix("List<Dog> <0x") == true && lines.last == ")", "\(list.description)")
        expectEqual(lines[1], "\t[0] Dog {")
        expectEqual(lines[2], "\t\t_id = 507f1f77bcf86cd799439011;")
        expectTrue(person.description.contains("\tnick = (null);"), "\(person.description)")
        expectTrue(
            person.description.contains("\tdone = 0;") && person.description.contains("[one]: 1"),
            "\(person.description)")
        let numbers = List<Int>()
        numbers.append(objectsIn: 0..<120)
        expectTrue(numbers.description.contains("... 20 objects skipped."), "\(numbers.description)")
    }
}

import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Collections of values and of embedded objects, asked as those of objects are.
@Suite(.hangGuard)
struct ValueCollectionTests {
    private let folder = Folder()
    private let realm: Realm
    private let person: Person

    init() throws {
        realm = try folder.models()
        person = Person(value: [
            "_id": 1, "tags": ["b", "a", "c", "a"], "scores": ["one": 1, "two": 2, "three": 3],
            "streets": [["name": "Long", "numbers": [1]], ["name": "Broad", "numbers": []]],
        ])
        try realm.write { [realm, person] in realm.add(person) }
    }

    @Test func valuesAreSortedFilteredAndMadeDistinct() throws {
        expectEqual(Array(person.tags.sorted(ascending: true) as Results<String>), ["a", "a", "b", "c"])
        expectEqual(Array(person.tags.sorted(ascending: false) as Results<String>), ["c", "b", "a", "a"])
        expectEqual(Array(person.tags.distinct()), ["b", "a", "c"])
        expectEqual(Array(person.tags.filter("SELF > %@", "a")), ["b", "c"])
        expectEqual(Array(person.tags.where { $0 != "a" && $0.in(["c", "a"]) }), ["c"])
        expectEqual(person.tags.index(matching: "SELF == 'c'"), 2)
        expectEqual(Array(person.scores.sorted(ascending: true)), [1, 2, 3])
        expectEqual(Array(person.scores.filter(NSPredicate(format: "self >= %d", 2))), [3, 2])
        let sorted: Results<String> = person.tags.sorted(ascending: true)
        try realm.write { person.tags.append("0") }
        expectTrue(sorted.first == "0" && sorted.count == 5 && sorted.freeze().count == 5)
    }

    @Test func valuesAreReadByKey() throws {
        expectEqual(person.tags.value(forKey: "self") as? [String], ["b", "a", "c", "a"])
        try realm.write { person.streets[0].numbers.append(8) }
        let numbers = person.streets[0].numbers
        expectEqual(numbers.value(forKeyPath: "@sum.self") as? NSNumber, 9)
        expectEqual(numbers.value(forKeyPath: "@max.self") as? NSNumber, 8)
        expectEqual(person.tags.value(forKey: "@count") as? NSNumber, 4)
        expectEqual(person.streets.value(forKey: "name") as? [String], ["Long", "Broad"])
    }

    @Test func embeddedObjectsAreSortedFilteredAndChanged() throws {
        expectEqual(person.streets.sorted(byKeyPath: "name").map(\.name), ["Broad", "Long"])
        expectEqual(person.streets.filter("numbers.@count == 0").map(\.name), ["Broad"])
        let long = try #require(person.streets.where { $0.name == "Long" }.first)
        try realm.write { long.name = "Longer" }
        expectEqual(person.streets.map(\.name), ["Longer", "Broad"])
    }

    @Test func valuesHaveExtremesSumsAndAverages() {
        expectTrue(person.scores.min() == 1 && person.scores.max() == 3 && person.scores.sum() == 6)
        expectTrue(person.scores.average() == 2.0 && person.tags.sorted(ascending: true).first == "a")
        let optionals = Scalars(value: ["optionals": [3, nil, 4]]).optionals
        expectTrue(optionals.min() == 3 && optionals.max() == 4 && optionals.sum() == 7)
        expectTrue(optionals.average() == 3.5 && List<Int?>().average() == nil as Double?)
        let dogs = Person(value: ["dogs": [["age": 3], ["age": 4]]]).dogs
        // Also of objects that no realm has.
        expectTrue(dogs.max(ofProperty: "age") == 4 && dogs.sum(of: \.age) == 7)
        expectEqual(dogs.average(of: \.age) as Double?, 3.5)
    }

    @Test func operatorsOfKeyPathsSumUp() throws {
        try realm.write { person.dogs.append(objectsIn: [Dog(value: ["age": 3]), Dog(value: ["age": 5])]) }
        expectEqual((person.dogs.value(forKeyPath: "@sum.age") as? NSNumber)?.intValue, 8)
        expectEqual((person.dogs.value(forKeyPath: "@count") as? NSNumber)?.intValue, 2)
        expectEqual((person.dogs.value(forKeyPath: "@avg.age") as? NSNumber)?.doubleValue, 4)
        expectEqual(person.dogs.value(forKeyPath: "@unionOfObjects.age") as? [Int], [3, 5])
        expectEqual(person.scores.value(forKey: "two") as? Int, 2)
        expectEqual((person.scores.value(forKey: "@max") as? NSNumber)?.intValue, 3)
    }

    @Test func sortedValuesAreObserved() async throws {
        let heard = ModelNotificationTests.Heard()
        let token = (person.tags.sorted(ascending: true) as Results<String>).observe(
            on: DispatchQueue(label: "test.values")
        ) { change in
            switch change {
            case .initial(let tags): heard.hear("\(Array(tags))")
            case .update(let tags, let deletions, let insertions, _):
                heard.hear("\(Array(tags)) \(deletions) \(insertions)")
            case .error: heard.hear("error")
            }
        }
        defer { token.invalidate() }
        await expectTrue(heard.ends(with: "[\"a\", \"a\", \"b\", \"c\"]"))
        try realm.write { person.tags.remove(at: 0) }
        await expectTrue(heard.ends(with: "[\"a\", \"a\", \"c\"] [2] []"))
    }

    @Test func valuesAreInSections() {
        let sections = person.tags.sectioned(by: { $0 == "a" ? "first" : "rest" }, ascending: false)
        expectEqual(sections.map(\.key), ["rest", "first"])
        expectEqual(sections.map { Array($0) }, [["c", "b"], ["a", "a"]])
    }

    @Test func anyCollectionIsHandedOver() throws {
        let hidden = AnyRealmCollection(person.tags)
        let reference = ThreadSafeReference(to: hidden)
        let values = ThreadSafeReference(to: person.tags.filter("SELF == 'a'"))
        expectEqual(try #require(realm.resolve(reference)).count, 4)
        expectEqual(try #require(realm.resolve(values)).count, 2)
        expectTrue(hidden.description.hasPrefix("AnyRealmCollection<string> <0x"), "\(hidden.description)")
    }
}

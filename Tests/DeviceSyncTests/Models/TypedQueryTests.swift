import Changesets
import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Queries that the compiler checks, queries as text, and predicates: what they select, and that they are one language.
@Suite(.hangGuard)
struct TypedQueryTests {
    private let folder = Folder()
    private let realm: Realm

    init() throws {
        realm = try folder.models()
        try realm.write { [realm] in
            let rex = Dog(value: ["name": "Rex", "age": 3])
            let fido = Dog(value: ["name": "Fido", "age": 9])
            realm.add([rex, fido])
            realm.create(
                Person.self,
                value: [
                    "_id": 1, "name": "Ada", "age": 36, "mood": "happy", "rank": 3, "dogs": [rex, fido], "bestDog": rex,
                    "tags": ["a", "b"], "scores": ["x": 1, "y": 5], "done": true, "anything": 5,
                    "home": ["name": "High Street", "city": ["_id": "Graz", "people": 290_000], "numbers": [1, 9]],
                ])
            realm.create(
                Person.self,
                value: [
                    "_id": 2, "name": "ada", "nick": "Eve", "age": 20, "dogs": [fido], "tags": ["c"],
                    "scores": ["x": 9],
                    "anything": "five", "friends": [realm.object(ofType: Person.self, forPrimaryKey: 1) as Any],
                ])
            realm.create(
                Person.self, value: ["_id": 3, "name": "Bob", "mood": "angry", "rank": 1, "anything": [1, 2]])
        }
    }

    private func ids(_ query: (Query<Person>) -> Query<Bool>) -> [Int] {
        realm.objects(Person.self).where(query).map(\._id)
    }

    @Test func comparisons() {
        expectEqual(ids { $0.name == "Ada" }, [1])
        expectEqual(ids { $0.name != "Ada" }, [2, 3])
        expectTrue(ids { $0.age == nil } == [3] && ids { $0.age != nil } == [1, 2])
        expectTrue(ids { $0.age > 20 } == [1] && ids { $0.age >= 20 } == [1, 2] && ids { $0.age < 36 } == [2])
        expectEqual(ids { $0.age <= 36 }, [1, 2])
        expectTrue(ids { $0._id.in([1, 3, 7]) } == [1, 3] && ids { $0.age.in([20, nil]) } == [2, 3])
        expectTrue(ids { $0._id.contains(2...3) } == [2, 3] && ids { $0._id.contains(1..<3) } == [1, 2])
        expectTrue(
            ids { $0.mood == .angry } == [3] && ids { $0.rank == .high } == [1] && ids { $0.rank.rawValue > 2 } == [1])
        expectTrue(ids { $0.mood.rawValue == "calm" } == [2] && ids { $0.mood.in([.calm, .happy]) } == [1, 2])
        expectTrue(ids { $0._id == $0.dogs.count }.isEmpty)
        expectTrue(ids { $0.done } == [1] && ids { !$0.done } == [2, 3] && ids { $0.done == false } == [2, 3])
    }

    @Test func maps() throws {
        expectTrue(ids { $0.scores.containsAny(in: [5, 7]) } == [1] && ids { $0.scores.containsAny(in: [7]) }.isEmpty)
        expectTrue(
            ids { $0.scores.max == 5 } == [1] && ids { $0.scores.min > 1 } == [2] && ids { $0.scores.sum == 6 } == [1])
        expectEqual(ids { $0.scores.avg == 9 }, [2])
        let rex = try #require(realm.objects(Dog.self).where { $0.name == "Rex" }.first)
        let ada = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
        try realm.write { ada.pets["best"] = rex }
        expectEqual(ids { $0.pets.containsAny(in: [rex]) }, [1])
    }

    @Test func text() {
        expectEqual(ids { $0.name.equals("ADA", options: .caseInsensitive) }, [1, 2])
        expectEqual(ids { $0.name.notEquals("ADA", options: [.caseInsensitive]) }, [3])
        expectTrue(
            ids { $0.name.contains("d") } == [1, 2] && ids { $0.name.contains("B", options: .caseInsensitive) } == [3])
        expectTrue(ids { $0.name.starts(with: "A") } == [1] && ids { $0.name.ends(with: "b") } == [3])
        expectTrue(
            ids { $0.name.like("?d*") } == [1, 2] && ids { $0.name.like("A*", caseInsensitive: true) } == [1, 2])
        expectEqual(ids { $0.nick.starts(with: "E") }, [2])
    }

    @Test func logic() {
        expectEqual(ids { $0.name == "Ada" || $0.name == "Bob" }, [1, 3])
        expectEqual(ids { $0.name == "Ada" && $0.age > 40 || $0.age == nil }, [3])
        expectEqual(ids { $0.name == "Ada" && ($0.age > 40 || $0.age == 36) }, [1])
        expectEqual(ids { !($0.name == "Ada" || $0.name == "Bob") }, [2])
    }

    @Test func linksAndCollections() throws {
        let rex = try #require(realm.objects(Dog.self).where { $0.name == "Rex" }.first)
        expectTrue(ids { $0.bestDog.name == "Rex" } == [1] && ids { $0.bestDog == rex } == [1])
        expectEqual(ids { $0.bestDog == nil }, [2, 3])
        expectTrue(ids { $0.home.city.people > 1_000 } == [1] && ids { $0.home.name == "High Street" } == [1])
        expectTrue(ids { $0.dogs.name == "Fido" } == [1, 2] && ids { $0.dogs.contains(rex) } == [1])
        expectTrue(ids { $0.dogs.count == 2 } == [1] && ids { $0.dogs.count > 0 } == [1, 2])
        expectTrue(ids { $0.tags.contains("c") } == [2] && ids { $0.tags.containsAny(in: ["b", "c"]) } == [1, 2])
        expectEqual(ids { $0.friends.name == "Ada" }, [2])
        expectTrue(ids { $0.home.numbers.max > 8 } == [1] && ids { $0.home.numbers.sum == 10 } == [1])
        expectTrue(
            ids { $0.dogs.age.max == 9 } == [1, 2] && ids { $0.dogs.age.min < 9 } == [1]
                && ids { $0.dogs.age.avg == 6 } == [1])
        expectEqual(ids { ($0.dogs.age > 2 && $0.dogs.name != "Rex").count == 1 }, [1, 2])
        expectEqual(ids { ($0.dogs.age > 2).count == 2 }, [1])
        expectTrue(ids { $0.scores["x"] == 9 } == [2] && ids { $0.scores.keys == "y" } == [1])
        expectTrue(
            ids { $0.scores.values > 4 } == [1, 2] && ids { $0.scores.contains(5) } == [1]
                && ids { $0.scores.count == 1 } == [2])
        expectTrue(
            ids { $0.anything == .int(5) } == [1] && ids { $0.anything == "five" } == [2]
                && ids { $0.anything[1] == 2 } == [3])
        expectEqual(realm.objects(Dog.self).where { $0.owners.name == "ada" }.map(\.name), ["Fido"])
        expectEqual(realm.objects(Dog.self).where { $0.owners.count == 2 }.map(\.name), ["Fido"])
    }

    @Test func valuesOfAnyTypeByTheirPaths() throws {
        try realm.write {
            let trees: [AnyRealmValue] = [
                ["k": ["a": 1], "list": ["x", ["y", 2]]], ["k": ["a": 5], "list": []], ["x", "y", ["deep": ["z"]]], 7,
                "x",
            ]
            for (index, tree) in trees.enumerated() {
                realm.create(
                    Note.self,
                    value: ["_id": "\(index)", "content": tree, "list": [tree, "last"], "map": ["key": tree]])
            }
        }
        let notes = realm.objects(Note.self)
        func ids(_ query: (Query<Note>) -> Query<Bool>) -> [String] { notes.where(query).map(\._id) }
        expectTrue(ids { $0.content["k"]["a"] == 1 } == ["0"] && ids { $0.content["k"]["a"] > 1 } == ["1"])
        expectTrue(ids { $0.content["list"][0] == "x" } == ["0"] && ids { $0.content["list"][1][1] == 2 } == ["0"])
        expectTrue(ids { $0.content[0] == "x" } == ["2"] && ids { $0.content[2]["deep"][0] == "z" } == ["2"])
        expectTrue(ids { $0.content.any == "y" } == ["2"] && ids { $0.content["list"].any == "x" } == ["0"])
        expectTrue(ids { $0.content["k"].any == 5 } == ["1"] && ids { $0.content.any["a"].in([1, 5]) } == ["0", "1"])
        expectTrue(
            ids { $0.content["list"].any.starts(with: "x") } == ["0"]
                && ids { $0.content["k"]["none"] == .none } == ["0", "1"])
        expectTrue(ids { $0.map["key"]["k"]["a"] == 1 } == ["0"] && ids { $0.map.values == 7 } == ["3"])
        expectTrue(
            ids { $0.content == 7 } == ["3"] && ids { $0.content == "x" || $0.content["k"]["a"] == 5 } == ["1", "4"])
        expectEqual(notes.filter("content['k']['a'] == %@", 1).map(\._id), ["0"])
        expectTrue(
            notes.filter("content.k.a > 1").map(\._id) == ["1"] && notes.filter("content[*] == 'y'").map(\._id) == ["2"]
        )
        expectTrue(
            notes.filter("list[0] == 7").map(\._id) == ["3"] && notes.filter("list[0][1] == 'y'").map(\._id) == ["2"])
        expectEqual(notes.filter("map['key'].list[1][*] == 2").map(\._id), ["0"])
        expectTrue(
            notes.filter("content.@type == 'array'").map(\._id) == ["2"]
                && notes.filter("content.@type == 'object'").map(\._id) == ["0", "1"])
    }

    @Test func listsAndDictionariesAsWholes() throws {
        let trees: [AnyRealmValue] = [
            [], [1, "x"], ["x", 1], [1, ["a": [2.5, .none]]], [:], ["a": 1], ["a": ["b": [true]]], 7,
        ]
        try realm.write {
            for (index, tree) in trees.enumerated() {
                realm.create(Note.self, value: ["_id": "\(index)", "content": tree, "list": [tree]])
            }
        }
        let notes = realm.objects(Note.self)
        for (index, tree) in trees.enumerated() {
            let others = trees.indices.filter { $0 != index }.map { "\($0)" }
            expectEqual(notes.where { $0.content == tree }.map(\._id), ["\(index)"])
            expectEqual(notes.where { $0.content != tree }.map(\._id), others)
            expectEqual(notes.filter("content == %@", tree).map(\._id), ["\(index)"])
            expectEqual(notes.filter("list[0] == %@", tree).map(\._id), ["\(index)"])
        }
        expectEqual(notes.where { $0.content.in([[1, "x"], ["a": 1], 7]) }.map(\._id), ["1", "5", "7"])
        expectEqual(notes.where { $0.content[1]["a"] == [2.5, .none] }.map(\._id), ["3"])
        #expect(throws: Realm.Error.self) { try notes.filter(checking: "content < %@", trees[1]) }
        // Servers do not know what devices may ask.
        let subscribed = try QueryPredicate(format: "content == %@", [trees[1]])
        #expect(throws: ValueMismatch.self) { try subscribed.text(on: "Note", notes.instance.schema) }
    }

    @Test func propertiesOfTheObjectThatAMapHasForAKey() throws {
        try realm.write {
            realm.object(ofType: Person.self, forPrimaryKey: 3)?.pets["best"] = Dog(value: ["name": "Lad"])
        }
        expectEqual(ids { $0.pets["best"].name == "Lad" }, [3])
    }

    @Test func textsWithArgumentsAndPredicatesMeanTheSame() {
        let people = realm.objects(Person.self)
        func ids(_ format: String, _ args: Any...) -> [Int] {
            let byPredicate = people.filter(NSPredicate(format: format, argumentArray: args)).map(\._id)
            return byPredicate
        }
        expectEqual(people.filter("name == %@ AND age > %d", "Ada", 30).map(\._id), [1])
        expectTrue(ids("name ==[c] %@", "ADA") == [1, 2] && ids("%K == %@", "name", "Bob") == [3])
        expectTrue(
            ids("name ==[cd] 'ADA'") == [1, 2] && ids("done == YES") == [1] && ids("done = NO && age <> nil") == [2])
        expectTrue(ids("ANY dogs.name == 'Rex'") == [1] && ids("SOME tags IN %@", ["b", "c"]) == [1, 2])
        expectTrue(
            ids("NONE dogs.age > 5") == [3] && ids("dogs.@count >= 1") == [1, 2] && ids("dogs.@max.age == 9") == [1, 2])
        expectEqual(ids("SUBQUERY(dogs, $d, $d.age > 2 AND $d.name != 'Rex').@count == 1"), [1, 2])
        expectTrue(
            ids("scores.@allKeys == 'y'") == [1] && ids("scores['x'] == 9") == [2]
                && ids("ANY scores.@allValues > 4") == [1, 2])
        expectTrue(
            ids("age BETWEEN {19, 21}") == [2] && ids("NOT name CONTAINS 'd'") == [3]
                && ids("TRUEPREDICATE") == [1, 2, 3])
        expectTrue(ids("nick == nil") == [1, 3] && ids("mood IN {'happy', \"angry\"}") == [1, 3])
        expectTrue(
            people.filter(NSPredicate(value: false)).isEmpty && people.filter(NSPredicate(value: true)).count == 3)
        // A string is what it is, whatever it looks like.
        expectTrue(people.filter("name == 'YES' OR name == '[cd] nil'").isEmpty)
    }

    @Test(arguments: ["name =", "mayor == 1", "name == 1", "name == %@", "dogs ==", "(name == 'a'", "age > 'x'", ""])
    func aTextOfAPersonThatIsNoQueryThrows(text: String) {
        let error = #expect(throws: Realm.Error.self) { try realm.objects(Person.self).filter(checking: text) }
        expectTrue(error?.code == .invalidInput && error?.message.isEmpty == false)
    }

    @Test func aTextOfAPersonSelects() throws {
        try expectEqual(realm.objects(Person.self).filter(checking: "name == %@", "Bob").map(\._id), [3])
    }

    @Test func orderAndDistinction() throws {
        let people = realm.objects(Person.self)
        expectEqual(people.sorted(by: \.age, ascending: false).map(\._id), [1, 2, 3])
        expectEqual(people.sorted(byKeyPath: "name").map(\._id), [1, 3, 2])
        expectEqual(people.sorted(by: \.bestDog?.name, ascending: false).first?._id, 1)
        expectEqual(people.sorted(by: \.home?.city?.people).last?._id, 1)
        expectEqual(
            people.sorted(by: [SortDescriptor(keyPath: "done"), SortDescriptor(keyPath: "_id", ascending: false)]).map(
                \._id), [3, 2, 1])
        expectEqual(people.distinct(by: [\.done]).map(\._id), [1, 2])
        expectEqual(people.sorted(by: \._id, ascending: false).distinct(by: ["done"]).map(\._id), [3, 1])
        // People whose link leads nowhere are left out.
        expectEqual(people.distinct(by: ["bestDog.name"]).map(\._id), [1])
        expectEqual(people.where { $0._id > 1 }.sorted(by: \.name).index(matching: { $0.name == "ada" }), 1)
        let first = try #require(people.first)
        expectEqual(first.dogs.sorted(by: \.age, ascending: false).map(\.name), ["Fido", "Rex"])
        expectTrue(
            first.dogs.where { $0.age > 5 }.map(\.name) == ["Fido"] && first.dogs.filter("age < %d", 5).count == 1)
    }

    @Test func aggregates() {
        let people = realm.objects(Person.self)
        expectTrue(
            people.max(ofProperty: "age") as Int? == 36 && people.min(of: \._id) == 1 && people.sum(of: \._id) == 6)
        expectTrue(
            people.average(ofProperty: "age") == 28 && people.where { $0._id > 9 }.average(ofProperty: "age") == nil)
        expectEqual(realm.objects(Dog.self).sum(of: \.age), 12)
    }

    @Test func collectionsStayLive() throws {
        let adults = realm.objects(Person.self).where { $0.age >= 21 }
        expectEqual(adults.count, 1)
        try realm.write {
            realm.create(Person.self, value: ["_id": 4, "age": 50])
            expectEqual(adults.count, 2)
            adults.setValue(10, forKey: "age")
        }
        expectTrue(
            adults.isEmpty && realm.objects(Person.self).value(forKey: "age").compactMap { $0 as? Int } == [10, 20, 10])
    }

    @Test func namesOfKeyPaths() {
        expectEqual(KeyPathNames.of(\Person.home?.city?.people), "home.city.people")
        expectTrue(KeyPathNames.of(\Person.bestDog) == "bestDog" && KeyPathNames.of(\Person.scores) == "scores")
    }

    @Test func valuesAreNeverTakenForText() throws {
        let name = "' OR TRUEPREDICATE OR name == '%@ $0"
        try realm.write { realm.create(Person.self, value: ["_id": 9, "name": name]) }
        expectTrue(ids { $0.name == name } == [9] && realm.objects(Person.self).filter("name == %@", name).count == 1)
    }
}

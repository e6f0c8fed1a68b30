import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// Notifications of typed objects and of their collections.
@Suite(.hangGuard)
struct ModelNotificationTests {
    private let folder = Folder()
    private let realm: Realm
    private let person: Person
    private let queue = DispatchQueue(label: "test.models")

    init() throws {
        realm = try folder.models()
        person = Person(value: [
            "_id": 1, "name": "Ada", "dogs": [["name": "a"], ["name": "b"]], "tags": ["x", "y", "x"],
        ])
        try realm.write { [realm, person] in realm.add(person) }
    }

    final class Heard: Sendable {
        private let lines = Mutex<[String]>([])
        func hear(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
        /// Whether a line comes last, before long.
        func ends(with line: String) async -> Bool { await eventually { self.all.last == line } }
    }

    private static func text<C: Collection>(_ change: RealmCollectionChange<C>, _ element: (C.Element) -> String)
        -> String
    {
        switch change {
        case .initial(let collection): "initial \(collection.map(element).joined(separator: ","))"
        case .update(let collection, let deletions, let insertions, let modifications):
            "\(collection.map(element).joined(separator: ",")) -\(deletions) +\(insertions) ~\(modifications)"
        case .error: "error"
        }
    }

    @Test func linksThatChangeAreObjectsOfTheirClasses() async throws {
        let heard = Heard()
        let tokens = [
            person.observe(keyPaths: [\.bestDog], on: queue) { (change: ObjectChange<Person>) in
                guard case .change(_, let properties) = change else { return }
                let names =
                    properties.map { ($0.oldValue as? Dog)?.name ?? "-" }
                    + properties.map {
                        ($0.newValue as? Dog)?.name ?? "-"
                    }
                heard.hear(names.joined(separator: " "))
            },
            realm.dynamicObject(ofType: "Person", forPrimaryKey: 1)?.observe(on: queue) { change in
                if case .change(_, let properties) = change, properties.first?.newValue is DynamicObject {
                    heard.hear("dynamic")
                }
            },
        ]
        defer { for token in tokens { token?.invalidate() } }
        try realm.write { person.bestDog = person.dogs[0] }
        await expectTrue(eventually { Set(heard.all) == ["- a", "dynamic"] })
        try realm.write { person.bestDog = person.dogs[1] }
        await expectTrue(eventually { heard.all.contains("a b") })
    }

    @Test func anObjectReportsItsProperties() async throws {
        let heard = Heard()
        let token = person.observe(keyPaths: [\.name, \.age], on: queue) { (change: ObjectChange<Person>) in
            switch change {
            case .change(let person, let properties):
                heard.hear(
                    properties.map { "\(person._id) \($0.name) \($0.oldValue ?? "-") \($0.newValue ?? "-")" }.joined(
                        separator: ";"))
            case .deleted: heard.hear("deleted")
            case .error: heard.hear("error")
            }
        }
        defer { token.invalidate() }
        try realm.write {
            person.name = "Eve"
            person.age = 3
        }
        await expectTrue(heard.ends(with: "1 name Ada Eve;1 age - 3"))
        try realm.write { person.nick = "not observed" }
        try realm.write { person.age = 4 }
        await expectTrue(heard.ends(with: "1 age 3 4"))
        try realm.write { realm.delete(person) }
        await expectTrue(heard.ends(with: "deleted"))
        try realm.write { realm.create(Person.self, value: ["_id": 1, "name": "back"]) }
        queue.sync {}
        expectEqual(heard.all.count, 3)
    }

    @Test func resultsReportPositionsAndObservedProperties() async throws {
        let heard = Heard()
        let sorted = realm.objects(Dog.self).sorted(by: \.name)
        let token = sorted.observe(keyPaths: [\.name], on: queue) { heard.hear(Self.text($0) { $0.name }) }
        defer { token.invalidate() }
        await expectTrue(heard.ends(with: "initial a,b"))
        try realm.write { sorted[0].age = 10 }
        try realm.write { realm.create(Dog.self, value: ["name": "aa"]) }
        await expectTrue(heard.ends(with: "a,aa,b -[] +[1] ~[]"))
        expectEqual(heard.all.count, 2)
        try realm.write { sorted[2].name = "bb" }
        await expectTrue(heard.ends(with: "a,aa,bb -[] +[] ~[2]"))
        token.invalidate()
        try realm.write { sorted[0].name = "c" }
        queue.sync {}
        expectEqual(heard.all.count, 3)
    }

    @Test func listsReportPositions() async throws {
        let heard = Heard()
        let token = person.dogs.observe(on: queue) { heard.hear(Self.text($0) { $0.name }) }
        defer { token.invalidate() }
        await expectTrue(heard.ends(with: "initial a,b"))
        try realm.write { person.dogs[1].name = "B" }
        await expectTrue(heard.ends(with: "a,B -[] +[] ~[1]"))
        try realm.write {
            person.dogs.insert(Dog(value: ["name": "new"]), at: 0)
            person.dogs.remove(at: 1)
        }
        await expectTrue(heard.ends(with: "new,B -[0] +[0] ~[]"))
        let tags = Heard()
        let second = person.tags.observe(on: queue) { tags.hear(Self.text($0) { $0 }) }
        defer { second.invalidate() }
        await expectTrue(tags.ends(with: "initial x,y,x"))
        try realm.write { person.tags.remove(at: 0) }
        await expectTrue(tags.ends(with: "y,x -[0] +[] ~[]"))
    }

    @Test func changesBehindUpToThreeLinksAreModifications() async throws {
        try realm.write {
            for id in 2...6 { realm.create(Person.self, value: ["_id": id, "name": "\(id)"]) }
            for id in 1...5 {
                let next = try #require(realm.object(ofType: Person.self, forPrimaryKey: id + 1))
                realm.object(ofType: Person.self, forPrimaryKey: id)?.friends.insert(next)
            }
        }
        func rename(_ id: Int) throws {
            try realm.write { realm.object(ofType: Person.self, forPrimaryKey: id)?.name += "x" }
        }
        let (all, some, list, named) = (Heard(), Heard(), Heard(), Heard())
        let people = realm.objects(Person.self)
        let first = people.filter("_id < 3").sorted(by: \._id)
        let dogs = person.friends
        let tokens = [
            people.observe(on: queue) { all.hear(Self.text($0) { "\($0._id)" }) },
            first.observe(on: queue) { some.hear(Self.text($0) { "\($0._id)" }) },
            dogs.observe(on: queue) { list.hear(Self.text($0) { "\($0._id)" }) },
            first.observe(keyPaths: [\.name], on: queue) { named.hear(Self.text($0) { "\($0._id)" }) },
        ]
        defer { for token in tokens { token.invalidate() } }
        await expectTrue(all.ends(with: "initial 1,2,3,4,5,6"))
        try rename(6)
        await expectTrue(all.ends(with: "1,2,3,4,5,6 -[] +[] ~[2, 3, 4, 5]"))
        try rename(5)
        await expectTrue(some.ends(with: "1,2 -[] +[] ~[1]"))
        await expectTrue(list.ends(with: "2 -[] +[] ~[0]"))
        try rename(4)
        await expectTrue(some.ends(with: "1,2 -[] +[] ~[0, 1]"))
        await expectTrue(all.ends(with: "1,2,3,4,5,6 -[] +[] ~[0, 1, 2, 3]"))
        queue.sync {}
        expectTrue(all.all.count == 4 && some.all.count == 3 && list.all.count == 3)
        try rename(2)
        await expectTrue(named.ends(with: "1,2 -[] +[] ~[1]"))
        expectEqual(named.all.count, 2)
    }

    @Test func anElementThatChangesIsAModification() async throws {
        try realm.write {
            person.streets.append(objectsIn: [Street(value: ["name": "a"]), Street(value: ["name": "b"])])
        }
        let (tags, streets) = (Heard(), Heard())
        let tokens = [
            person.tags.observe(on: queue) { tags.hear(Self.text($0) { $0 }) },
            person.streets.observe(on: queue) { streets.hear(Self.text($0) { $0.name }) },
        ]
        defer { for token in tokens { token.invalidate() } }
        await expectTrue(streets.ends(with: "initial a,b"))
        await expectTrue(tags.ends(with: "initial x,y,x"))
        try realm.write {
            person.tags[1] = "z"
            person.streets[0].name = "A"
        }
        await expectTrue(tags.ends(with: "x,z,x -[] +[] ~[1]"))
        await expectTrue(streets.ends(with: "A,b -[] +[] ~[0]"))
        try realm.write {
            person.tags[2] = "w"
            person.tags.append("v")
            person.tags.remove(at: 0)
        }
        await expectTrue(tags.ends(with: "z,w,v -[0] +[2] ~[1]"))
    }

    @Test func mapsReportWhatTheirObjectsHold() async throws {
        let dog = try #require(person.dogs.first)
        try realm.write { person.pets["first"] = dog }
        let (all, names, owners) = (Heard(), Heard(), Heard())
        @Sendable func text(_ change: RealmMapChange<Map<String, Dog?>>) -> String {
            switch change {
            case .initial(let map): "initial \(map.keys)"
            case .update(let map, let deletions, let insertions, let modifications):
                "\(map.keys) -\(deletions) +\(insertions) ~\(modifications)"
            case .error: "error"
            }
        }
        let tokens = [
            person.pets.observe(on: queue) { all.hear(text($0)) },
            person.pets.observe(keyPaths: [\.name], on: queue) { names.hear(text($0)) },
            person.pets.observe(keyPaths: ["owners.nick"], on: queue) { owners.hear(text($0)) },
        ]
        defer { for token in tokens { token.invalidate() } }
        await expectTrue(owners.ends(with: #"initial ["first"]"#))
        try realm.write { dog.age = 7 }
        await expectTrue(all.ends(with: #"["first"] -[] +[] ~["first"]"#))
        try realm.write { dog.name = "new" }
        await expectTrue(names.ends(with: #"["first"] -[] +[] ~["first"]"#))
        try realm.write { person.nick = "new" }
        await expectTrue(owners.ends(with: #"["first"] -[] +[] ~["first"]"#))
        try realm.write { person.pets["first"] = nil }
        await expectTrue(all.ends(with: #"[] -["first"] +[] ~[]"#))
        await expectTrue(names.ends(with: #"[] -["first"] +[] ~[]"#))
        queue.sync {}
        expectTrue(names.all.count == 3 && owners.all.count >= 2)
    }

    @Test func setsMapsAndBacklinksReport() async throws {
        let (friends, scores, owners) = (Heard(), Heard(), Heard())
        let dog = try #require(person.dogs.first)
        let tokens = [
            person.friends.observe(on: queue) { friends.hear(Self.text($0) { "\($0._id)" }) },
            person.scores.observe(on: queue) { change in
                switch change {
                case .initial(let map): scores.hear("initial \(map.count)")
                case .update(_, let deletions, let insertions, let modifications):
                    scores.hear("-\(deletions) +\(insertions) ~\(modifications)")
                case .error: scores.hear("error")
                }
            },
            dog.owners.observe(on: queue) { owners.hear(Self.text($0) { "\($0._id)" }) },
        ]
        defer { for token in tokens { token.invalidate() } }
        await expectTrue(owners.ends(with: "initial 1"))
        try realm.write {
            let other = realm.create(Person.self, value: ["_id": 2, "dogs": [dog]])
            person.friends.insert(other)
            person.scores["a"] = 1
        }
        await expectTrue(friends.ends(with: "2 -[] +[0] ~[]"))
        await expectTrue(scores.ends(with: #"-[] +["a"] ~[]"#))
        await expectTrue(owners.ends(with: "1,2 -[] +[1] ~[0]"))
        try realm.write {
            person.scores["a"] = 2
            person.scores["b"] = 3
        }
        await expectTrue(scores.ends(with: #"-[] +["b"] ~["a"]"#))
    }
}

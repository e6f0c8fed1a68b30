import Dispatch
import Foundation
import TestSupport
import Testing

@testable import DeviceSync

extension Dog {
    fileprivate var label: String { "\(name) (\(age))" }
}

extension Person {
    fileprivate var greeting: String { "\(name), \(mood.rawValue)" }
}

private class PersonCard: Projection<Person> {
    @Projected(\Person.name) var title
    @Projected(\Person.name.localizedUppercase) var loud
    @Projected(\Person.home?.name) var street
    @Projected(\Person.dogs.projectTo.name) var dogNames: ProjectedCollection<String>
    @Projected(\Person.dogs.projectTo.label) var dogLabels: ProjectedCollection<String>
    @Projected(\Person.tags) var labels
    @Projected(\Person.dogs.count) var dogCount
    @Projected(\Person.greeting) var greeting
    @Projected(\Person.bestDog) var dog

    /// No property of the object.
    var isSelected = false
}

private final class NumberedCard: PersonCard, ObjectKeyIdentifiable {
    @Projected(\Person._id) var number
}

/// What a part of a program needs of objects, by names of its own.
@Suite(.hangGuard)
struct ProjectionTests {
    private let folder = Folder()
    private let queue = DispatchQueue(label: "test.projections")
    private let realm: Realm
    private let person: Person

    init() throws {
        realm = try folder.models()
        person = Person(value: [
            "_id": 1, "name": "Ada", "dogs": [["name": "a"], ["name": "b"]], "home": ["name": "Way"], "tags": ["x"],
        ])
        try realm.write { [realm, person] in
            realm.add(person)
            realm.add(Person(value: ["_id": 2, "name": "Bob"]))
        }
    }

    @Test func propertiesShowTheObject() {
        let card = NumberedCard(projecting: person)
        expectEqual(card.title, "Ada")
        expectEqual(card.loud, "ADA")
        expectEqual(card.street, "Way")
        expectEqual(Array(card.dogNames), ["a", "b"])
        expectEqual(Array(card.dogLabels), ["a (1)", "b (1)"])
        expectEqual(Array(card.labels), ["x"])
        expectEqual(card.dogCount, 2)
        expectEqual(card.greeting, "Ada, calm")
        expectEqual(card.number, 1)
        expectTrue(card.dog == nil && card.rootObject === person && card.realm == realm)
        expectEqual(PersonCard.className(), "Person")
    }

    @Test func whatIsAssignedIsAssignedToTheObject() throws {
        let card = PersonCard(projecting: person)
        try realm.write {
            card.title = "Eve"
            card.labels.append("y")
            card.dogNames[1] = "c"
            card.dog = person.dogs[0]
        }
        expectEqual(person.name, "Eve")
        expectEqual(Array(person.tags), ["x", "y"])
        expectEqual(person.dogs.map(\.name), ["a", "c"])
        expectEqual(card.dog?.name, "a")
        let unmanaged = PersonCard(projecting: Person())
        unmanaged.title = "Ida"
        expectEqual(unmanaged.rootObject.name, "Ida")
    }

    @Test func aRealmHasProjectionsOfItsObjects() throws {
        let cards = realm.objects(NumberedCard.self)
        expectEqual(cards.map(\.title), ["Ada", "Bob"])
        expectEqual(cards.filter("name == %@", "Bob").map(\.number), [2])
        expectEqual(cards.sorted(byKeyPath: "name", ascending: false).first?.title, "Bob")
        expectEqual(cards.sectioned(by: \.title).allKeys, ["Ada", "Bob"])
        expectEqual(cards.sectioned(by: \.loud, sortDescriptors: []).map { $0.map(\.number) }, [[1], [2]])
        expectTrue(cards.first == NumberedCard(projecting: person) && cards.first?.id != cards.last?.id)
    }

    @Test func projectionsAreFrozenAndThawedAsTheirObjects() throws {
        let card = PersonCard(projecting: person)
        let frozen = card.freeze()
        let names = card.dogNames.freeze()
        try realm.write {
            card.title = "Eve"
            person.dogs.removeAll()
        }
        expectTrue(frozen.isFrozen && !card.isFrozen)
        expectEqual(frozen.title, "Ada")
        expectEqual(frozen.thaw()?.title, "Eve")
        expectEqual(Array(names), ["a", "b"])
        expectEqual(names.thaw().map { Array($0) }, [])
        try realm.write { realm.delete(person) }
        expectTrue(card.isInvalidated && frozen.thaw() == nil)
    }

    @Test func projectionsAreHandedOver() throws {
        let card = ThreadSafeReference(to: PersonCard(projecting: person))
        let names = ThreadSafeReference(to: PersonCard(projecting: person).dogNames)
        let other = try Realm(configuration: folder.modelConfiguration, queue: nil)
        expectEqual(other.resolve(card)?.title, "Ada")
        expectEqual(other.resolve(names).map { Array($0) }, ["a", "b"])
    }

    @Test func observersHearOfWhatIsShown() async throws {
        let heard = ModelNotificationTests.Heard()
        @Sendable func hear(_ name: String, _ change: ObjectChange<PersonCard>) {
            switch change {
            case .change(_, let properties):
                for property in properties {
                    heard.hear("\(name) \(property.name) \(property.oldValue ?? "-") \(property.newValue ?? "-")")
                }
            case .deleted: heard.hear("\(name) deleted")
            case .error: heard.hear("error")
            }
        }
        let card = PersonCard(projecting: person)
        let tokens = [
            card.observe(keyPaths: [\.title], on: queue) { hear("title", $0) },
            card.observe(keyPaths: ["dogNames"], on: queue) { change in
                if case .change(let card, let properties) = change {
                    heard.hear("dogs \(properties.map(\.name)) \(Array(card.dogNames))")
                }
            },
            card.observe(keyPaths: ["greeting"], on: queue) { hear("greeting", $0) },
        ]
        defer { for token in tokens { token.invalidate() } }
        try realm.write { person.done = true }
        try realm.write { person.name = "Eve" }
        await expectTrue(
            eventually {
                Set(heard.all) == [
                    "title title Ada Eve", "title loud ADA EVE", "greeting greeting Ada, calm Eve, calm",
                ]
            })
        try realm.write { person.dogs[0].name = "z" }
        await expectTrue(heard.ends(with: #"dogs ["dogNames"] ["z", "b"]"#))
        let labels = card.observe(keyPaths: [\.dogLabels], on: queue) { change in
            if case .change(let card, _) = change { heard.hear("labels \(Array(card.dogLabels))") }
        }
        defer { labels.invalidate() }
        try realm.write { person.dogs[0].age = 7 }
        await expectTrue(heard.ends(with: #"labels ["z (7)", "b (1)"]"#))
        try realm.write { realm.delete(person) }
        await expectTrue(eventually { heard.all.suffix(2).sorted() == ["greeting deleted", "title deleted"] })
    }

    @Test func collectionsOfProjectionsAreObserved() async throws {
        let heard = ModelNotificationTests.Heard()
        let tokens = [
            realm.objects(PersonCard.self).observe(keyPaths: [\.title], on: queue) { change in
                switch change {
                case .update(let cards, _, _, let modifications):
                    heard.hear("cards \(cards.map(\.title)) \(modifications)")
                default: heard.hear("initial")
                }
            },
            PersonCard(projecting: person).dogNames.observe(on: queue) { change in
                switch change {
                case .update(let names, _, let insertions, _): heard.hear("names \(Array(names)) \(insertions)")
                default: heard.hear("initial")
                }
            },
        ]
        defer { for token in tokens { token.invalidate() } }
        await expectTrue(eventually { heard.all.count == 2 })
        try realm.write { person.name = "Eve" }
        await expectTrue(heard.ends(with: #"cards ["Eve", "Bob"] [0]"#))
        try realm.write { person.dogs.append(Dog(value: ["name": "c"])) }
        await expectTrue(heard.ends(with: #"names ["a", "b", "c"] [2]"#))
    }

    @Test func anActorObservesAProjection() async throws {
        actor Listener {
            private(set) var titles: [String] = []
            func hear(_ title: String) { titles.append(title) }
        }
        let listener = Listener()
        let token = await PersonCard(projecting: person).observe(on: listener) { listener, change in
            if case .change(let card, _) = change { listener.hear(card.title) }
        }
        defer { token.invalidate() }
        try realm.write { person.name = "Eve" }
        for _ in 0..<500 where await listener.titles.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        let titles = await listener.titles
        expectEqual(titles, ["Eve"])
    }

    @Test func aProjectionPrintsWhatItShows() {
        let text = NumberedCard(projecting: person).description
        expectTrue(text.hasPrefix("NumberedCard<Person> <0x"))
        expectTrue(text.contains("\ttitle(\\.name) = Ada;\n"))
        expectTrue(
            text.contains("\tdogNames(\\.dogs.name) = ProjectedCollection<String> {\n\t\t[0] a\n\t\t[1] b\n\t};\n"))
        expectTrue(text.contains("\tgreeting(\\.name, mood) = Ada, calm;\n"))
    }
}

import Dispatch
import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Where notifications come, and what they are about.
@Suite(.hangGuard)
struct DeliveryTests {
    private let folder = Folder()
    private let heard = ModelNotificationTests.Heard()

    /// Hears of its realm's changes on itself.
    private actor Listener {
        let heard: ModelNotificationTests.Heard
        private var tokens: [NotificationToken] = []
        private var calls = 0
        private var person: Person?

        init(_ heard: ModelNotificationTests.Heard) { self.heard = heard }

        func listen(to configuration: Realm.Configuration) async throws {
            let realm = try await Realm(configuration: configuration, actor: self)
            try await realm.asyncWrite { _ = realm.create(Person.self, value: ["_id": 1, "name": "Ada"]) }
            guard let person = realm.object(ofType: Person.self, forPrimaryKey: 1) else { return }
            tokens = [
                await realm.objects(Person.self).observe(on: self) { actor, change in
                    actor.calls += 1
                    switch change {
                    case .update(let people, _, _, _): actor.heard.hear("results \(people.map(\.name))")
                    default: actor.heard.hear("initial results")
                    }
                },
                await person.observe(keyPaths: [\.name], on: self) { actor, change in
                    actor.calls += 1
                    if case .change(let person, _) = change { actor.heard.hear("object \(person.name)") }
                },
                await person.tags.observe(on: self) { actor, change in
                    actor.calls += 1
                    switch change {
                    case .update(let tags, _, _, _): actor.heard.hear("tags \(Array(tags))")
                    default: actor.heard.hear("initial tags")
                    }
                },
                await person.scores.observe(on: self) { actor, change in
                    actor.calls += 1
                    switch change {
                    case .update(let scores, _, _, _): actor.heard.hear("scores \(scores.count)")
                    default: actor.heard.hear("initial scores")
                    }
                },
                // Without a place: on the actor too, where the realm can be used.
                realm.observe { _, realm in self.assumeIsolated { $0.heard.hear("realm \(realm.isEmpty)") } },
            ]
            self.person = person
        }

        func change() async throws {
            guard let person, let realm = person.realm else { return }
            try await realm.asyncWrite {
                person.name = "Eve"
                person.tags.append("t")
                person.scores["x"] = 1
            }
        }

        func stop() -> Int {
            tokens = []
            return calls
        }
    }

    @Test func anActorHearsOnItself() async throws {
        let listener = Listener(heard)
        try await listener.listen(to: folder.modelConfiguration)
        await expectTrue(eventually { heard.all.count == 3 })
        try await listener.change()
        let expected: Set = [
            "initial results", "initial tags", "initial scores",
            #"results ["Eve"]"#, "object Eve", #"tags ["t"]"#, "scores 1", "realm false",
        ]
        await expectTrue(eventually { Set(heard.all) == expected })
        await expectEqual(listener.stop(), 7)
    }

    @Test func anotherQueueGetsWhatItCanUse() async throws {
        let (mine, other) = (DispatchQueue(label: "test.mine"), DispatchQueue(label: "test.other"))
        let realm = try Realm(configuration: folder.modelConfiguration, queue: mine)
        let tokens = try mine.sync {
            try realm.write { _ = realm.create(Person.self, value: ["_id": 1]) }
            let person = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
            return [
                realm.objects(Person.self).observe(on: other) { change in
                    if case .update(let people, _, _, _) = change { heard.hear("other \(people.map(\.name))") }
                },
                realm.objects(Person.self).observe { change in
                    if case .update(let people, _, _, _) = change { heard.hear("mine \(people.map(\.name))") }
                },
                person.observe(on: other) { (change: ObjectChange<Person>) in
                    if case .change(let person, _) = change { heard.hear("object \(person.name)") }
                },
            ]
        }
        // The first notifications.
        other.sync {}
        mine.sync {}
        try mine.sync { try realm.write { realm.objects(Person.self).first?.name = "Ada" } }
        await expectTrue(
            eventually {
                Set(heard.all) == [#"other ["Ada"]"#, #"mine ["Ada"]"#, "object Ada"]
            })
        for token in tokens { token.invalidate() }
    }

    @Test func keyPathsGoOverLinksAndEmbeddedObjects() async throws {
        let queue = DispatchQueue(label: "test.paths")
        let realm = try await Realm(configuration: folder.modelConfiguration)
        let graz = City(value: ["_id": "Graz"])
        let person = Person(value: [
            "_id": 1, "bestDog": ["name": "a"], "dogs": [["name": "b"]], "home": ["name": "Main", "city": graz],
            "streets": [["name": "One"]],
        ])
        try await realm.asyncWrite { realm.add(person) }
        let paths = ["bestDog.name", "dogs.name", "home.city.people", "streets.name"]
        let token = realm.objects(Person.self).observe(keyPaths: paths, on: queue) { change in
            if case .update(_, _, _, let modifications) = change { heard.hear("results \(modifications)") }
        }
        let second = person.observe(keyPaths: paths, on: queue) { (change: ObjectChange<Person>) in
            if case .change(_, let changes) = change { heard.hear("object \(changes.map(\.name))") }
        }
        defer {
            token.invalidate()
            second.invalidate()
        }
        queue.sync {}
        func expect(_ name: String, _ change: () -> Void) async throws {
            let count = heard.all.count
            try realm.write(change)
            await expectTrue(eventually { heard.all.count == count + 2 }, "\(name)")
            expectEqual(Set(heard.all.suffix(2)), ["results [0]", "object [\"\(name)\"]"])
        }
        try await expect("bestDog") { person.bestDog?.name = "A" }
        try await expect("dogs") { person.dogs[0].name = "B" }
        try await expect("home") { graz.people = 3 }
        try await expect("streets") { person.streets[0].name = "Two" }
        try await expect("bestDog") { person.bestDog = nil }
        // What no path leads to.
        let count = heard.all.count
        try realm.write {
            person.name = "Eve"
            person.dogs[0].age = 7
            person.home?.name = "Side"
        }
        queue.sync {}
        queue.sync {}
        expectEqual(heard.all.count, count)
    }

    @Test func aKeyPathThatLeadsNowhereTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let folder = Folder()
            let realm = try folder.models()
            _ = realm.objects(Person.self).observe(keyPaths: ["name.first"]) { _ in }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        expectTrue(text.contains("property 'name' of class Person links to nothing"))
    }
}

import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// What programs for Realm Swift take for granted without saying so.
@Suite(.hangGuard)
struct ExpectedOfRealmTests {
    private let folder = Folder()

    @Test @MainActor func aTransactionOutlivesTheHandleThatBeganIt() throws {
        func realm() throws -> Realm {
            try Realm(configuration: folder.modelConfiguration, _isolation: MainActor.shared)
        }
        try realm().beginWrite()
        try realm().create(City.self, value: ["_id": "a"])
        try realm().commitWrite()
        expectEqual(try realm().objects(City.self).count, 1)
        try realm().beginWrite()
        try realm().deleteAll()
        try realm().cancelWrite()
        expectEqual(try realm().objects(City.self).count, 1)
    }

    @Test @MainActor func codeThatTheMainActorCallsHasItsRealm() async throws {
        func mine() throws -> Realm {
            try Realm(configuration: folder.modelConfiguration, _isolation: MainActor.shared)
        }
        let realm = try mine()
        expectTrue(try Self.open(folder) == realm)
    }

    private nonisolated static func open(_ folder: Folder) throws -> Realm {
        try Realm(configuration: folder.modelConfiguration)
    }

    @Test func anObservationOfACancelledTaskNeverBegins() async throws {
        actor Listener {}
        let folder = folder
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let realm = try folder.models()
            return await realm.objects(City.self).observe(on: Listener()) { _, _ in Issue.record("observed") }
        }
        let token = try await task.value
        expectTrue(!token.invalidate())
    }

    @Test func aTokenSaysWhetherItEndsTheObservation() throws {
        let token = try folder.models().objects(City.self).observe(on: DispatchQueue(label: "test.token")) { _ in }
        expectTrue(token.invalidate())
        expectTrue(!token.invalidate())
    }

    @Test func objectIdsAreInTheOrderInWhichTheyWereMade() {
        let made = (0..<100).map { _ in ObjectId.generate() }
        // The counter begins anew within these at most once.
        let descents = zip(made, made.dropFirst()).filter { $0 > $1 }.count
        expectTrue(descents <= 1 && Set(made).count == 100)
    }

    @Test func objectsInValuesAreAdded() throws {
        let realm = try folder.models()
        let dog = Dog(value: ["name": "Rex"])
        let note = Note(value: ["_id": "n"])
        note.content = .object(dog)
        note.list.append(.fromArray([.object(Dog(value: ["name": "Fido"]))]))
        try realm.write { realm.add(note) }
        expectTrue(dog.realm == realm && realm.objects(Dog.self).count == 2)
        expectTrue(note.content.object(Dog.self)?.name == "Rex" && note.content == .object(dog))
        expectEqual(note.list[0].listValue?[0].object(Dog.self)?.name, "Fido")
        if case .object(let object) = note.content { expectEqual(object["name"] as? String, "Rex") }
    }

    @Test func listsAreReadByNameWithoutTheirModels() throws {
        let realm = try folder.models()
        let person = Person(value: ["_id": 1, "dogs": [["name": "a"], ["name": "b"]], "pets": ["c": ["name": "c"]]])
        try realm.write { realm.add(person) }
        expectEqual(person.dynamicList("dogs").map { $0["name"] as? String }, ["a", "b"])
        expectEqual(person.dynamicList("dogs").filter("name == 'b'").count, 1)
        let pets: Map<String, DynamicObject?> = person.dynamicMap("pets")
        expectEqual((pets["c"] ?? nil)?.name as? String, "c")
        let dynamic = try #require(realm.dynamicObject(ofType: "Person", forPrimaryKey: 1))
        expectEqual(dynamic.dynamicList("dogs").sorted(byKeyPath: "name", ascending: false).first?.name as? String, "b")
    }

    @Test func anObjectIsObservedAsWhateverItIs() async throws {
        let realm = try folder.models()
        let dog = Dog(value: ["name": "a"])
        try realm.write { realm.add(Person(value: ["_id": 1, "dogs": [dog]])) }
        let heard = ModelNotificationTests.Heard()
        let queue = DispatchQueue(label: "test.observe")
        let token = (dog as Object).observe(on: queue) { (change: ObjectChange<Dog>) in
            if case .change(let dog, _) = change { heard.hear(dog.name) }
        }
        let backlink = dog.observe(keyPaths: ["owners.name"], on: queue) { change in
            if case .change(_, let properties) = change { heard.hear(properties.map(\.name).joined()) }
        }
        defer {
            token.invalidate()
            backlink.invalidate()
        }
        try realm.write { dog.name = "b" }
        await expectTrue(heard.ends(with: "b"))
        try realm.write { dog.owners.first?.name = "Ann" }
        await expectTrue(heard.ends(with: "owners"))
    }

    @Test func whatIsReadAnywhereIsAtLeastAsNewAsWhatAnotherReaderWrote() throws {
        let realm = try folder.models()
        try realm.write { realm.add(City(value: ["_id": "a", "people": 1])) }
        let city = ThreadSafe(wrappedValue: realm.objects(City.self).first)
        let configuration = folder.modelConfiguration
        DispatchQueue(label: "test.threadSafe").sync {
            do {
                let realm = try Realm(configuration: configuration)
                try realm.write { city.wrappedValue?.people = 2 }
            } catch {
                Issue.record(error)
            }
        }
        expectEqual(city.wrappedValue?.people, 2)
    }

    @Test func resultsOfAnInvalidatedRealmAreInvalid() throws {
        let realm = try folder.models()
        let cities = realm.objects(City.self)
        expectTrue(!cities.isInvalidated)
        realm.invalidate()
        expectTrue(cities.isInvalidated && !realm.objects(City.self).isInvalidated)
    }

    @Test func collectionsOfEmbeddedObjectsAreCopiedWithAnObject() throws {
        let realm = try folder.models()
        let first = Person(value: ["_id": 1, "streets": [["name": "a"]]])
        try realm.write {
            realm.add(first)
            realm.create(Person.self, value: ["_id": 2, "streets": first.streets])
        }
        expectEqual(realm.objects(Person.self).map { $0.streets.map(\.name) }, [["a"], ["a"]])
    }
}

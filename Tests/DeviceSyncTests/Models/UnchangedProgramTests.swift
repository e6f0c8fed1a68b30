import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// What programs for Realm Swift write down, as they write it.
@Suite(.hangGuard)
struct UnchangedProgramTests {
    /// Assigns its properties before the superclass is initialized, as Swift asks of designated initializers.
    final class Ticket: TestObject {
        @Persisted(primaryKey: true) var _id: Int
        @Persisted var title: String
        @Persisted(indexed: true) var mood = Mood.calm

        init(_id: Int, title: String) {
            self.title = title
            super.init()
            self._id = _id
            mood = .happy
        }

        required init() {
            title = "untitled"
            super.init()
        }
    }

    struct Number: CustomPersistable, Hashable {
        var value: Int
        init(persistedValue: Int) { value = persistedValue }
        var persistableValue: Int { value }
    }

    final class Invoice: TestObject {
        @Persisted(primaryKey: true) var number = Number(persistedValue: 0)
        @Persisted(indexed: true) var parent: Number?
        @Persisted var scans: List<Data>
    }

    final class OldStyle: TestObject {
        let mood = RealmProperty<Mood?>()
        let rank = RealmOptional<Rank>()
    }

    private let folder = Folder()

    private func open(_ types: [ObjectBase.Type], version: UInt64 = 0, _ block: MigrationBlock? = nil) throws -> Realm {
        try Realm(
            configuration: Realm.Configuration(
                fileURL: folder.file, schemaVersion: version, migrationBlock: block, objectTypes: types))
    }

    @Test func aClassAssignsItsPropertiesBeforeItsSuperclassIsInitialized() throws {
        let realm = try open([Ticket.self])
        let ticket = Ticket(_id: 7, title: "a")
        expectTrue(ticket._id == 7 && ticket.title == "a" && ticket.mood == .happy)
        try realm.write {
            realm.add(ticket)
            realm.create(Ticket.self, value: ["_id": 8])
        }
        expectEqual(realm.objects(Ticket.self).map(\.title), ["a", "untitled"])
        expectEqual(realm.objects(Ticket.self).map(\.mood), [.happy, .calm])
    }

    @Test func typesOfTheAppsOwnArePrimaryKeysAndIndexed() throws {
        let realm = try open([Invoice.self])
        try realm.write {
            for number in 1...40 {
                realm.create(Invoice.self, value: ["number": number, "parent": number / 2])
            }
            realm.create(Invoice.self, value: ["number": Number(persistedValue: 3), "parent": NSNull()], update: .all)
        }
        expectEqual(
            realm.object(ofType: Invoice.self, forPrimaryKey: Number(persistedValue: 9))?.parent?.value, 4)
        expectEqual(
            realm.objects(Invoice.self).where { $0.parent == Number(persistedValue: 10) }.map(\.number.value), [20, 21])
        expectEqual(realm.objects(Invoice.self).filter("parent == nil").map(\.number.value), [3])
    }

    @Test func bytesAreSorted() throws {
        let realm = try open([Invoice.self])
        let invoice = Invoice()
        invoice.scans.append(objectsIn: [Data([2]), Data([1, 2]), Data([1]), Data()])
        try realm.write { realm.add(invoice) }
        expectEqual(Array(invoice.scans.sorted()), [Data(), Data([1]), Data([1, 2]), Data([2])])
        expectEqual(invoice.scans.sorted(ascending: false).first, Data([2]))
    }

    @Test func propertiesOfTheOldStyleHoldEnumerations() throws {
        let realm = try open([OldStyle.self])
        let object = OldStyle()
        object.mood.value = .angry
        try realm.write {
            realm.add(object)
            object.rank.value = .high
        }
        let found = try #require(realm.objects(OldStyle.self).first)
        expectTrue(found.mood.value == .angry && found.rank.value == .high)
    }

    @Test func aMigrationMakesObjectsOfArraysAndOfOldObjects() throws {
        do {
            let realm = try open([Person.self, Dog.self, City.self, Street.self], version: 1)
            try realm.write {
                realm.create(Person.self, value: ["_id": 1, "name": "Ann", "dogs": [["name": "Rex"]]])
            }
        }
        let realm = try open([Person.self, Dog.self, City.self, Street.self], version: 2) { migration, _ in
            migration.create("City", value: ["a", 3] as [Any])
            migration.create("City", value: ["_id": "b"])
            migration.enumerateObjects(ofType: "Person") { old, new in
                guard let old, let new else {
                    Issue.record("no objects")
                    return
                }
                migration.delete(new)
                let again = migration.create("Person", value: old)
                again["nick"] = "new"
            }
        }
        expectEqual(realm.objects(City.self).map { "\($0._id) \($0.people)" }, ["a 3", "b 0"])
        let person = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
        expectTrue(person.name == "Ann" && person.nick == "new")
        expectEqual(person.dogs.map(\.name), ["Rex"])
        expectEqual(realm.objects(Dog.self).count, 1)
    }

    @Test func objectsWithoutAModelAreMadeOfWhatComes() throws {
        let realm = try open([Person.self, Dog.self, City.self, Street.self])
        let values: [Any] = [["_id": "a", "people": 1] as [String: Any], ["b", 2] as [Any]]
        try realm.write {
            let made = values.map { realm.dynamicCreate("City", value: $0) }
            made[0]["people"] = 9
            let city = City(value: ["_id": "c"])
            realm.add(city)
            realm.dynamicCreate("City", value: city as Any, update: .modified)
        }
        expectEqual(realm.objects(City.self).map { "\($0._id) \($0.people)" }, ["a 9", "b 2", "c 0"])
    }

    @Test @MainActor func anObserverIsGivenTheObjectThatItObserves() async throws {
        let configuration = Realm.Configuration(fileURL: folder.file, objectTypes: [City.self])
        let realm = try await Realm(configuration: configuration)
        let city = try realm.write { realm.create(City.self, value: ["a"]) }
        let mine = ObjectIdentifier(city)
        let (here, elsewhere) = (ModelNotificationTests.Heard(), ModelNotificationTests.Heard())
        let tokens = [
            city.observe { Self.tell(here, $0, mine) },
            city.observe(on: DispatchQueue(label: "test.elsewhere")) { Self.tell(elsewhere, $0, mine) },
        ]
        defer { for token in tokens { token.invalidate() } }
        try realm.write { city.people = 3 }
        await expectTrue(here.ends(with: "3, the same"))
        await expectTrue(elsewhere.ends(with: "3, another"))
    }

    private nonisolated static func tell(
        _ heard: ModelNotificationTests.Heard, _ change: ObjectChange<City>, _ observed: ObjectIdentifier
    ) {
        guard case .change(let city, _) = change else { return }
        heard.hear("\(city.people), \(ObjectIdentifier(city) == observed ? "the same" : "another")")
    }

    @Test func anObjectIsTheSameWithItsModelAndWithout() throws {
        let realm = try open([Person.self, Dog.self, City.self, Street.self])
        let (a, b) = try realm.write {
            (realm.create(City.self, value: ["a"]), realm.create(City.self, value: ["b"]))
        }
        let dynamic = try #require(realm.dynamicObject(ofType: "City", forPrimaryKey: "a"))
        expectTrue(dynamic.isSameObject(as: a) && a.isSameObject(as: dynamic) && !dynamic.isSameObject(as: b))
        expectTrue(!a.isSameObject(as: nil))
    }
}

import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Typed objects, unmanaged and in a realm.
@Suite(.hangGuard)
struct ModelTests {
    private let folder = Folder()

    @Test func anUnmanagedObjectHasItsDefaults() {
        let person = Person()
        expectTrue(person.name == "nobody" && person.age == nil && person.mood == .calm && person.rank == nil)
        expectTrue(person.dogs.isEmpty && person.friends.isEmpty && person.scores.isEmpty && !person.done)
        expectTrue(person.anything == .none && person.bestDog == nil && person.realm == nil && !person.isInvalidated)
        let (dog, other) = (Dog(), Dog())
        expectTrue(dog._id == dog._id && dog._id != other._id && dog.owners.isEmpty)
        person.dogs.append(dog)
        person.scores["a"] = 1
        expectTrue(person.dogs.first === dog && person.scores["a"] == 1)
        expectTrue(Scalars()._id != Scalars()._id)
    }

    @Test func anObjectIsMadeOfADictionaryAnArrayOrAnotherObject() {
        let person = Person(value: [
            "_id": 7, "name": "Ada", "age": 36, "mood": "happy", "rank": 3, "tags": ["a", "b"], "scores": ["x": 1],
            "dogs": [["name": "Rex"], ["name": "Fido", "age": 4]], "home": ["name": "High Street", "numbers": [1, 2]],
            "anything": [1, "two"], "nick": NSNull(),
        ])
        expectTrue(person._id == 7 && person.age == 36 && person.mood == .happy && person.rank == .high)
        expectTrue(Array(person.tags) == ["a", "b"] && person.scores["x"] == 1 && person.dogs.map(\.age) == [1, 4])
        expectTrue(
            person.home.map { Array($0.numbers) } == [1, 2] && person.anything == .list([.int(1), .string("two")]))
        let dog = Dog(value: [ObjectId.generate(), "Rex", 3])
        expectTrue(dog.name == "Rex" && dog.age == 3)
        let copy = Dog(value: dog)
        expectTrue(copy._id == dog._id && copy.name == "Rex" && copy !== dog)
        expectTrue(person["name"] as? String == "Ada" && person["nick"] == nil)
        person["age"] = 40
        expectEqual(person.age, 40)
    }

    @Test func everyScalarSurvivesReopening() throws {
        let id = UUID()
        let date = Date(timeIntervalSince1970: 1_700_000_000.25)
        let objectId = ObjectId.generate()
        do {
            let realm = try folder.models()
            try realm.write {
                realm.create(
                    Scalars.self,
                    value: [
                        "_id": id, "int8": -8, "int16": 16, "int32": 32, "int64": Int64.max, "float": 2.5, "double": 3,
                        "string": "text", "data": Data([1, 2]), "date": date, "objectId": objectId, "uuid": id,
                        "optionals": [1, nil, 3] as [Int?], "moods": ["angry"],
                    ])
            }
        }
        let realm = try folder.models()
        let found = try #require(realm.object(ofType: Scalars.self, forPrimaryKey: id))
        expectTrue(found._id == id && found.bool && found.int8 == -8 && found.int16 == 16 && found.int32 == 32)
        expectTrue(found.int64 == .max && found.float == 2.5 && found.double == 3 && found.string == "text")
        expectTrue(found.data == Data([1, 2]) && found.date == date && found.objectId == objectId && found.uuid == id)
        expectTrue(found.decimal == "1.25" && Array(found.optionals) == [1, nil, 3] && Array(found.moods) == [.angry])
        try realm.write {
            found.int32 = nil
            found.decimal = "-2"
            found.bool = false
        }
        expectTrue(found.int32 == nil && found.decimal == "-2" && !found.bool)
        // The dynamic API sees the same.
        let dynamic = try #require(realm.dynamicObject(ofType: "Scalars", forPrimaryKey: id))
        expectTrue(dynamic["int8"] as? Int == -8 && dynamic["bool"] as? Bool == false)
    }

    @Test func addingAnObjectAddsWhatItLinksTo() throws {
        let realm = try folder.models()
        let person = Person(value: ["_id": 1, "name": "Ada"])
        let dog = Dog(value: ["name": "Rex"])
        let list = person.dogs
        person.dogs.append(dog)
        person.bestDog = dog
        person.friends.insert(person)
        person.home = Street(value: ["name": "High Street"])
        person.home?.city = City(value: ["_id": "Graz", "people": 290_000])
        try realm.write { realm.add(person) }
        expectTrue(person.realm == realm && dog.realm == realm && person.handle != nil)
        expectTrue(realm.objects(Dog.self).count == 1 && realm.objects(City.self).first?.people == 290_000)
        // What was taken from the object before shows the realm, too.
        try realm.write { dog.name = "Fido" }
        expectTrue(list.first?.name == "Fido" && person.bestDog == dog && person.home?.city?._id == "Graz")
        expectTrue(Array(dog.owners) == [person] && dog.bestOf.first?.name == "Ada" && person.friends.contains(person))
        expectEqual(person.note, "not kept")
        let found = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
        expectTrue(
            found == person && found !== person && found.isSameObject(as: person) && Set([found, person]).count == 1)
    }

    @Test func updatePoliciesSayWhatHappensToAnExistingObject() throws {
        let realm = try folder.models()
        try realm.write {
            realm.create(Person.self, value: ["_id": 1, "name": "Ada", "age": 36, "tags": ["a"]])
            // What is not named stays.
            realm.create(Person.self, value: ["_id": 1, "age": 37], update: .modified)
        }
        let person = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
        expectTrue(person.name == "Ada" && person.age == 37 && Array(person.tags) == ["a"])
        // An object has all its properties.
        try realm.write { realm.add(Person(value: ["_id": 1, "age": 38]), update: .all) }
        expectTrue(person.name == "nobody" && person.age == 38 && person.tags.isEmpty)
        expectEqual(realm.objects(Person.self).count, 1)
    }

    @Test func deletingTakesLinksAndEmbeddedObjectsAway() throws {
        let realm = try folder.models()
        let person = Person(value: ["_id": 1, "dogs": [["name": "a"], ["name": "b"]], "home": ["name": "x"]])
        try realm.write { realm.add(person) }
        let home = try #require(person.home)
        try realm.write {
            realm.delete(try #require(person.dogs.first))
            realm.delete(home)
        }
        expectTrue(person.dogs.map(\.name) == ["b"] && person.home == nil && home.isInvalidated)
        try realm.write { realm.delete(realm.objects(Dog.self)) }
        expectTrue(person.dogs.isEmpty)
        try realm.write { realm.delete(person) }
        expectTrue(person.isInvalidated && realm.isEmpty)
        // Another device may delete an object at any moment: reading it is no mistake.
        expectTrue(person.name == "" && person.dogs.isEmpty && person.description == "[invalid object]")
    }

    @Test func frozenObjectsStayAsTheyWere() throws {
        let realm = try folder.models()
        let person = Person(value: ["_id": 1, "name": "Ada", "tags": ["a"]])
        try realm.write { realm.add(person) }
        let (frozen, tags) = (person.freeze(), person.tags.freeze())
        try realm.write {
            person.name = "Eve"
            person.tags.append("b")
        }
        expectTrue(frozen.name == "Ada" && Array(frozen.tags) == ["a"] && Array(tags) == ["a"] && frozen.isFrozen)
        expectTrue(frozen.thaw()?.name == "Eve" && tags.thaw()?.count == 2 && frozen != person)
        try realm.write { realm.delete(person) }
        expectTrue(frozen.thaw() == nil && frozen.name == "Ada")
    }

    @Test func aCancelledWriteLeavesNoObject() throws {
        let realm = try folder.models()
        let person = Person(value: ["_id": 1])
        realm.beginWrite()
        realm.add(person)
        expectEqual(realm.objects(Person.self).count, 1)
        realm.cancelWrite()
        expectTrue(person.isInvalidated && realm.objects(Person.self).isEmpty)
    }

    @Test func classesWithoutAPrimaryKeyAndWithABaseClassAreKept() throws {
        do {
            let realm = try folder.models()
            try realm.write {
                realm.add([Entry(value: ["text": "a"]), Entry(value: ["text": "a"])])
                realm.create(Derived.self, value: ["_id": 1, "own": 4])
                realm.dynamicCreate("Entry", value: ["text": "b"])
            }
        }
        let realm = try folder.models()
        expectEqual(realm.objects(Entry.self).map(\.text).sorted(), ["a", "a", "b"])
        let derived = try #require(realm.objects(Derived.self).first)
        expectTrue(derived.inherited == "from the base" && derived.own == 4)
        expectTrue(
            derived.objectSchema.primaryKeyProperty?.name == "_id"
                && Entry().objectSchema.primaryKeyProperty == nil)
        try realm.write { realm.delete(realm.objects(Entry.self).filter("text == 'a'")) }
        expectEqual(realm.objects(Entry.self).count, 1)
    }

    @Test func objectsWithoutPrimaryKeysComeInTheOrderInWhichTheyWereMade() throws {
        let realm = try folder.models()
        let texts = (0..<200).map { "\($0 % 7) \($0)" }
        for part in [texts[..<50], texts[50..<51], texts[51...]] {
            try realm.write {
                for (number, text) in part.enumerated() {
                    if number % 3 == 0 {
                        realm.dynamicCreate("Entry", value: ["text": text])
                    } else {
                        realm.add(Entry(value: ["text": text]))
                    }
                }
            }
        }
        expectEqual(realm.objects(Entry.self).map(\.text), texts)
        expectEqual(
            realm.objects(Entry.self).filter("text BEGINSWITH '3'").map(\.text), texts.filter { $0.hasPrefix("3") })
        expectEqual(realm.objects(Entry.self).last?.text, texts.last)
    }

    @Test func createCopiesObjectsOfOtherRealms() throws {
        let realm = try folder.models()
        let other = Folder()
        let copies = try other.models()
        let person = Person(value: ["_id": 1, "dogs": [["name": "Rex"]], "home": ["name": "x", "numbers": [4]]])
        try realm.write { realm.add(person) }
        let copy = try copies.write { copies.create(Person.self, value: person) }
        expectTrue(
            copy.realm == copies && copy.dogs.map(\.name) == ["Rex"] && copy.home.map { Array($0.numbers) } == [4])
        expectTrue(copy.dogs.first?.realm == copies && person.dogs.first?.realm == realm)
    }

    // MARK: Schema

    final class Renamed: TestObject {
        override class func _realmObjectName() -> String? { "Stored" }
        override class func propertiesMapping() -> [String: String] { ["first": "first_name"] }
        @Persisted(primaryKey: true) var _id: Int
        @Persisted var first: String
    }

    @Test func namesInTheRealmMayDiffer() throws {
        let realm = try Realm(configuration: Realm.Configuration(fileURL: folder.file, objectTypes: [Renamed.self]))
        try realm.write { realm.create(Renamed.self, value: ["_id": 1, "first": "Ada"]) }
        expectTrue(realm.dynamicObject(ofType: "Stored", forPrimaryKey: 1)?["first_name"] as? String == "Ada")
        expectEqual(realm.objects(Renamed.self).where { $0.first == "Ada" }.count, 1)
    }

    final class Found: TestObject {
        @TaskLocal static var isWanted = false
        override class func shouldIncludeInDefaultSchema() -> Bool { isWanted }
        @Persisted(primaryKey: true) var _id: Int
    }

    @Test func withoutObjectTypesARealmHasTheClassesOfTheProgram() throws {
        expectTrue(ModelClasses.all.contains { $0 == Person.self } && ModelClasses.all.contains { $0 == Derived.self })
        expectTrue(ModelClasses.ofDefaultSchema.isEmpty)
        try Found.$isWanted.withValue(true) {
            let realm = try Realm(configuration: Realm.Configuration(fileURL: folder.file))
            expectEqual(realm.schema.objectSchema.map(\.className), ["Found"])
        }
        // The classes that the configuration names are the only ones.
        let other = Folder()
        try Found.$isWanted.withValue(true) {
            let realm = try Realm(configuration: Realm.Configuration(fileURL: other.file, objectTypes: [City.self]))
            expectEqual(realm.schema.objectSchema.map(\.className), ["City"])
        }
    }

    private final class Owner: TestObject {
        @Persisted(primaryKey: true) var _id: Int
        @Persisted var city: City?
    }

    private final class Lost: TestObject {
        @Persisted(primaryKey: true) var _id: Int
        @Persisted(originProperty: "nothing") var owners: LinkingObjects<Owner>
    }

    private enum Elsewhere {
        final class City: TestObject {
            @Persisted(primaryKey: true) var _id: Int
        }
    }

    private final class Parts: TestObject {
        @Persisted(primaryKey: true) var _id: Int
        @Persisted var parts: MutableSet<Street>
    }

    @Test(
        arguments: [
            ([Owner.self], "Owner.city links to City, which is not in the schema"),
            (
                [Owner.self, City.self, Lost.self],
                "Lost.owners follows 'nothing' of class Owner, which is no link to Lost"
            ),
            ([City.self, Elsewhere.City.self], "have one name in realms"),
            ([Parts.self, Street.self, City.self], "Parts.parts is a set of embedded objects; use a List"),
        ] as [([ObjectBase.Type], String)])
    func modelsThatNoRealmCanHaveAreRefused(types: [ObjectBase.Type], message: String) throws {
        let error = #expect(throws: Realm.Error.self) {
            try Realm(configuration: Realm.Configuration(fileURL: folder.file, objectTypes: types))
        }
        expectTrue(error?.code == .schemaMismatch && error?.message.contains(message) == true, "\(error as Any)")
    }

    @Test func typedAndDynamicObjectsAreTheSame() throws {
        let realm = try folder.models()
        try realm.write {
            realm.dynamicCreate("Person", value: ["_id": 1, "name": "Ada", "mood": "unknown", "scores": ["a": 1]])
        }
        let person = try #require(realm.objects(Person.self).first)
        // A raw value that is no case, as a newer program may write it.
        expectTrue(person.name == "Ada" && person.mood == .calm && person.scores["a"] == 1)
        try realm.write {
            person.mood = .angry
            person.anything = .object(person)
        }
        expectTrue(realm.dynamicObjects("Person").first?["mood"] as? String == "angry")
        expectTrue(person.anything.object(Person.self) == person && person.anything.object(Dog.self) == nil)
    }
}

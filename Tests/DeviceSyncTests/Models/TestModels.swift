import Foundation

@testable import DeviceSync

// Models of the tests. Realms of other tests in the same process must not get them.

class TestObject: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class TestPart: EmbeddedObject {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

enum Mood: String, PersistableEnum { case calm, happy, angry }
enum Rank: Int, PersistableEnum { case low = 1, middle, high }

final class Street: TestPart {
    @Persisted var name = ""
    @Persisted var city: City?
    @Persisted var numbers: List<Int>
}

final class City: TestObject {
    @Persisted(primaryKey: true) var _id: String
    @Persisted var people: Int
}

final class Dog: TestObject {
    @Persisted(primaryKey: true) var _id = ObjectId.generate()
    @Persisted(indexed: true) var name: String
    @Persisted var age = 1
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
    @Persisted(originProperty: "bestDog") var bestOf: LinkingObjects<Person>
}

final class Person: TestObject {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var name = "nobody"
    @Persisted var nick: String?
    @Persisted var age: Int?
    @Persisted var dogs: List<Dog>
    @Persisted var friends: MutableSet<Person>
    @Persisted var bestDog: Dog?
    @Persisted var home: Street?
    @Persisted var streets: List<Street>
    @Persisted var tags: List<String>
    @Persisted var scores: Map<String, Int>
    @Persisted var pets: Map<String, Dog?>
    @Persisted var mood: Mood
    @Persisted var rank: Rank?
    @Persisted var anything: AnyRealmValue
    @Persisted var done: Bool

    /// No property of the realm.
    var note = "not kept"
}

final class Scalars: TestObject {
    @Persisted(primaryKey: true) var _id: UUID
    @Persisted var bool = true
    @Persisted var int8: Int8 = 8
    @Persisted var int16: Int16
    @Persisted var int32: Int32?
    @Persisted var int64: Int64
    @Persisted var float: Float = 1.5
    @Persisted var double: Double
    @Persisted var string: String
    @Persisted var data: Data
    @Persisted var date: Date
    @Persisted var objectId: ObjectId
    @Persisted var uuid: UUID?
    @Persisted var decimal: Decimal128 = "1.25"
    @Persisted var optionals: List<Int?>
    @Persisted var moods: List<Mood>
    @Persisted var anySet: MutableSet<AnyRealmValue>
}

/// A class without a primary key, as local realms may have.
final class Entry: TestObject {
    @Persisted var text: String
}

class Base: TestObject {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var inherited = "from the base"
}

final class Derived: Base {
    @Persisted var own = 3
}

extension Folder {
    static let models: [ObjectBase.Type] = [
        Person.self, Dog.self, Street.self, City.self, Scalars.self, Entry.self, Derived.self,
        Note.self, NotePart.self,
    ]

    var modelConfiguration: Realm.Configuration { Realm.Configuration(fileURL: file, objectTypes: Self.models) }

    func models() throws -> Realm { try Realm(configuration: modelConfiguration) }
}

/// A class with values of any type wherever they can be.
final class Note: TestObject {
    @Persisted(primaryKey: true) var _id: String
    @Persisted var content: AnyRealmValue
    @Persisted var list: List<AnyRealmValue>
    @Persisted var map: Map<String, AnyRealmValue>
    @Persisted var part: NotePart?
}

final class NotePart: TestPart {
    @Persisted var content: AnyRealmValue
}

import Dispatch
import Foundation
import TestSupport
import Testing

@testable import DeviceSync

private final class OldPerson: TestObject {
    let age = RealmOptional<Int>()
    let height = RealmProperty<Double?>()
    let anything = RealmProperty<AnyRealmValue>()
    let tags = List<String>()
    let dogs = List<OldDog>()
    let numbers = MutableSet<Int>()
    let scores = Map<String, Int>()
    let secret = RealmOptional<Int>(7)

    /// No property of the realm.
    var note = "not kept"

    override class func ignoredProperties() -> [String] { ["secret"] }
}

private final class OldDog: TestObject {
    let weight = RealmProperty<Int?>()
    let owners = LinkingObjects(fromType: OldPerson.self, property: "dogs")
    let collar = List<OldCollar>()
}

private final class OldCollar: TestPart {
    let size = RealmOptional<Int8>(3)
}

/// A class with a wrapper, beside which others are no properties of realms.
private final class MixedStyle: TestObject {
    @Persisted var name: String
    let age = RealmOptional<Int>()
}

private final class OldCode: TestObject, Codable {
    // The compiler decodes no constants.
    var number = RealmOptional<Int>()
    var share = RealmProperty<Double?>()
    var tags = List<String>()
}

/// Models without wrappers, as programs had them before there were some.
@Suite(.hangGuard)
struct OldStyleModelTests {
    private let folder = Folder()

    private func open() throws -> Realm {
        try Realm(
            configuration: Realm.Configuration(
                fileURL: folder.file,
                objectTypes: [OldPerson.self, OldDog.self, OldCollar.self, MixedStyle.self, OldCode.self]))
    }

    private func filled() throws -> (Realm, OldPerson) {
        let realm = try open()
        let person = OldPerson()
        person.age.value = 36
        person.height.value = 1.7
        person.anything.value = "text"
        person.tags.append(objectsIn: ["x", "y"])
        person.numbers.insert(4)
        person.scores["a"] = 1
        let dog = OldDog()
        dog.weight.value = 9
        dog.collar.append(OldCollar())
        person.dogs.append(dog)
        try realm.write { realm.add(person) }
        return (realm, person)
    }

    @Test func propertiesAreKept() throws {
        let (realm, person) = try filled()
        for shown in [person, try #require(realm.objects(OldPerson.self).first)] {
            expectTrue(shown.age.value == 36 && shown.height.value == 1.7 && shown.anything.value == "text")
            expectTrue(Array(shown.tags) == ["x", "y"] && Array(shown.numbers) == [4] && shown.scores["a"] == 1)
            expectTrue(shown.dogs.first?.weight.value == 9 && shown.dogs.first?.collar.first?.size.value == 3)
            expectEqual(shown.dogs.first?.owners.count, 1)
        }
        expectEqual(
            OldPerson().objectSchema.properties.map(\.name),
            ["age", "height", "anything", "tags", "dogs", "numbers", "scores"])
        expectTrue(person.height.description.contains("1.7") && person["age"] as? Int == 36)
    }

    @Test func propertiesAreWritten() throws {
        let (realm, person) = try filled()
        let shown = try #require(realm.objects(OldPerson.self).first)
        try realm.write {
            shown.age.value = nil
            shown.tags.append("z")
            shown.dogs[0].collar[0].size.value = 5
            shown["height"] = 2.5
            shown["scores"] = ["b": 2]
            realm.create(OldPerson.self, value: ["age": 7, "tags": ["new"]])
        }
        expectTrue(person.age.value == nil && Array(person.tags) == ["x", "y", "z"] && person.height.value == 2.5)
        expectTrue(person.dogs[0].collar[0].size.value == 5 && person.scores["b"] == 2 && person.scores["a"] == nil)
        expectEqual(realm.objects(OldPerson.self).last.map { [$0.age.value: Array($0.tags)] }, [7: ["new"]])
        let frozen = person.freeze()
        try realm.write { person.dogs.removeAll() }
        expectTrue(frozen.dogs.first?.owners.count == 1 && realm.objects(OldDog.self).first?.owners.isEmpty == true)
    }

    @Test func propertiesAreQueriedAndObserved() async throws {
        let (realm, person) = try filled()
        let people = realm.objects(OldPerson.self)
        expectTrue(people.filter("age > 30 AND ANY dogs.weight == 9").count == 1 && people.filter("age < 30").isEmpty)
        expectEqual(people.where { $0.dogs.count == 1 && $0.tags.contains("y") }.count, 1)
        expectEqual(realm.objects(OldDog.self).filter("owners.age == 36").count, 1)
        expectEqual(people.sorted(by: \.age.value).count, 1)
        let heard = ModelNotificationTests.Heard()
        let token = person.observe(keyPaths: [\.age.value, \.tags], on: DispatchQueue(label: "test.old")) {
            (change: ObjectChange<OldPerson>) in
            if case .change(let person, let properties) = change {
                heard.hear("\(properties.map(\.name)) \(person.age.value ?? 0)")
            }
        }
        defer { token.invalidate() }
        try realm.write { person.height.value = 1 }
        try realm.write { person.age.value = 40 }
        await expectTrue(heard.ends(with: #"["age"] 40"#))
        expectEqual(heard.all.count, 1)
    }

    @Test func wrappersExcludeTheOldStyle() throws {
        let realm = try open()
        let mixed = MixedStyle(value: ["name": "a"])
        mixed.age.value = 3
        try realm.write { realm.add(mixed) }
        expectEqual(mixed.objectSchema.properties.map(\.name), ["name"])
        expectEqual(realm.objects(MixedStyle.self).first?.age.value, nil)
    }

    @Test func theyAreCoded() throws {
        let realm = try open()
        let text = #"{"number":3,"share":null,"tags":["a"]}"#
        let code = try JSONDecoder().decode(OldCode.self, from: Data(text.utf8))
        expectTrue(code.number.value == 3 && code.share.value == nil && Array(code.tags) == ["a"])
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        expectEqual(String(decoding: try encoder.encode(code), as: UTF8.self), text)
        try realm.write { realm.add(code) }
        expectEqual(String(decoding: try encoder.encode(code), as: UTF8.self), text)
    }
}

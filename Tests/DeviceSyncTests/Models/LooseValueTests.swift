import Changesets
import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Values as JSON and older programs have them: what an object is made of them.
@Suite(.hangGuard)
struct LooseValueTests {
    private let folder = Folder()

    private static func json(_ text: String) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(text.utf8))
    }

    @Test func namesThatAClassDoesNotHaveAreLeftOut() throws {
        let person = Person(value: [
            "_id": 1, "name": "Ada", "shoeSize": 40, "home": ["name": "x", "postcode": 1], "befriended": ["x"],
        ])
        expectTrue(person.name == "Ada" && person.home?.name == "x")
        let realm = try folder.models()
        try realm.write {
            realm.create(City.self, value: ["_id": "Graz", "mayor": "?"])
            realm.create(Dog.self, value: ["name": "a", "owners": [1, 2]])
            realm.dynamicCreate("City", value: ["_id": "Linz", "people": 3, "mayor": NSNull()])
            realm.dynamicCreate("Person", value: ["_id": 3, "home": ["name": "y", "postcode": 1]])
        }
        expectEqual(realm.objects(City.self).map(\._id), ["Graz", "Linz"])
        expectTrue(
            realm.objects(Person.self).first?.home?.name == "y" && realm.objects(Dog.self).first?.owners.count == 0)
    }

    @Test func arraysMayBeShorterThanTheClassHasProperties() throws {
        let (first, second) = (City(value: ["Graz"]), Person(value: [7, "Ada", NSNull(), 36] as [Any]))
        expectTrue(first._id == "Graz" && first.people == 0)
        expectTrue(second._id == 7 && second.name == "Ada" && second.nick == nil && second.age == 36 && !second.done)
        let realm = try folder.models()
        try realm.write {
            realm.create(Person.self, value: [1, "Eve", "E", 20, [["name": "a"]]])
            realm.create(Person.self, value: [1, "Eva"], update: .modified)
            realm.dynamicCreate("City", value: ["Linz"])
            realm.dynamicCreate("City", value: ["Wien", NSNumber(value: 5)])
        }
        let person = try #require(realm.objects(Person.self).first)
        expectTrue(person.name == "Eva" && person.nick == "E" && person.age == 20 && person.dogs.count == 1)
        expectEqual(realm.objects(City.self).map(\.people), [0, 5])
    }

    @Test func valuesAreThoseOfJSON() throws {
        let text = """
            {"_id": 1, "name": "Ada", "nick": null, "age": 1, "done": true, "tags": ["a", "b"], "scores": {"x": 0, "y": 1},
             "home": {"name": "x", "numbers": [0, 1, 2], "city": null}, "bestDog": {"name": "Rex", "age": 1},
             "anything": {"one": 1, "half": 1.5, "yes": true, "none": null, "list": [1, 0, false]}, "streets": null}
            """
        let realm = try folder.models()
        try realm.write { realm.create(Person.self, value: try Self.json(text)) }
        let person = try #require(realm.objects(Person.self).first)
        expectTrue(person.nick == nil && person.age == 1 && person.done && Array(person.tags) == ["a", "b"])
        expectTrue(person.scores["y"] == 1 && person.home.map { Array($0.numbers) } == [0, 1, 2])
        expectTrue(person.bestDog?.age == 1 && person.streets.isEmpty)
        let anything = try #require(person.anything.dictionaryValue)
        expectTrue(anything["one"] == .int(1) && anything["half"] == .double(1.5) && anything["yes"] == .bool(true))
        expectTrue(anything["none"] == AnyRealmValue.none && anything["list"] == [1, 0, false])
    }

    @Test func dynamicObjectsTakeTheValuesOfJSON() throws {
        let realm = try folder.models()
        let values = try #require(
            try Self.json(
                #"{"_id": 1, "age": 1, "done": 1, "tags": ["a"], "scores": {"x": 1}, "anything": 1, "nick": null}"#)
                as? [String: Any])
        let person = try realm.write { realm.dynamicCreate("Person", value: values) }
        expectTrue(person["age"] as? Int == 1 && person["done"] as? Bool == true && person["nick"] == nil)
        expectTrue(person["anything"] as? AnyRealmValue == .int(1))
        try realm.write {
            person["anything"] = NSNumber(value: 1.5)
            person["done"] = NSNumber(value: 0)
            person["age"] = NSNumber(value: true)
            person["nick"] = NSString(string: "E")
            person["tags"] = NSArray(array: ["x", NSString(string: "y")])
            person["scores"] = NSNull()
        }
        expectTrue(person["anything"] as? AnyRealmValue == .double(1.5) && person["done"] as? Bool == false)
        expectTrue(person["age"] as? Int == 1 && person["nick"] as? String == "E")
        expectTrue((person["tags"] as? DynamicList)?.count == 2 && (person["scores"] as? DynamicMap)?.count == 0)
    }

    @Test func numbersOfFoundationAreWhatTheyWereMadeOf() throws {
        let cases: [(NSNumber, AnyRealmValue)] = [
            (NSNumber(value: 1), .int(1)), (NSNumber(value: 0), .int(0)), (NSNumber(value: true), .bool(true)),
            (NSNumber(value: 1.0), .double(1)), (NSNumber(value: Float(1.5)), .float(1.5)),
            (NSNumber(value: Int8(1)), .int(1)), (NSNumber(value: UInt64(7)), .int(7)),
            (NSDecimalNumber(string: "1.50"), .decimal128("1.5")),
        ]
        for (number, value) in cases {
            expectTrue(Note(value: ["content": number]).content == value, "\(value)")
            expectTrue(Note(value: ["content": [number]]).content == [value], "\(value)")
        }
        let scalars = Scalars(value: [
            "bool": NSNumber(value: 1), "int8": NSNumber(value: true), "int64": NSNumber(value: 5),
            "float": NSNumber(value: 2.5), "double": NSNumber(value: 3), "decimal": NSNumber(value: 4.25),
            "optionals": [NSNumber(value: 1), NSNull()], "string": NSString(string: "x"), "uuid": NSNull(),
            "date": NSDate(timeIntervalSince1970: 5), "data": NSData(data: Data([1])),
        ])
        expectTrue(scalars.bool && scalars.int8 == 1 && scalars.int64 == 5 && scalars.float == 2.5)
        expectTrue(scalars.double == 3 && scalars.decimal == "4.25" && Array(scalars.optionals) == [1, nil])
        expectTrue(scalars.string == "x" && scalars.date == Date(timeIntervalSince1970: 5) && scalars.data == Data([1]))
    }

    @Test func nothingIsAnEmptyCollection() {
        let person = Person(value: ["tags": ["a"], "scores": ["x": 1], "friends": NSNull(), "dogs": NSNull()])
        person["tags"] = nil
        person["scores"] = NSNull()
        expectTrue(person.tags.isEmpty && person.scores.isEmpty && person.friends.isEmpty && person.dogs.isEmpty)
    }

    // MARK: Dates

    @Test func aDateReadsBackEqual() throws {
        let realm = try folder.models()
        // What `Date` counts by is a double of seconds since 2001.
        let intervals: [TimeInterval] = [
            0, 1, -1, 0.5, -0.5, 801_234_567.123_456_7, 801_234_567.1, -301_234_567.123_456_7, -978_307_200.25,
            -978_307_199.75, -1_978_307_199.123_456, 63_113_904_000, -63_114_076_800,
        ]
        for interval in intervals {
            let date = Date(timeIntervalSinceReferenceDate: interval)
            let scalars = try realm.write {
                realm.create(Scalars.self, value: ["_id": UUID(), "date": date])
            }
            expectTrue(scalars.date == date, "\(interval)")
            expectTrue(realm.objects(Scalars.self).filter("date == %@", date).count == 1, "\(interval)")
        }
        for _ in 0..<100 {
            let now = Date()
            expectEqual(TimestampValue(now).date, now)
        }
    }

    @Test func timesThatAreNoneAreBroughtToOne() {
        func stored(_ interval: TimeInterval) -> TimestampValue {
            TimestampValue(Date(timeIntervalSinceReferenceDate: interval))
        }
        expectEqual(stored(.nan), TimestampValue(seconds: 0, nanoseconds: 0))
        expectEqual(stored(.infinity), TimestampValue(seconds: .max, nanoseconds: 999_999_999))
        expectEqual(stored(-.infinity), TimestampValue(seconds: .min, nanoseconds: -999_999_999))
        expectEqual(stored(1e300), TimestampValue(seconds: .max, nanoseconds: 999_999_999))
        expectEqual(stored(-978_307_199.5), TimestampValue(seconds: 0, nanoseconds: 500_000_000))
        expectEqual(stored(-978_307_200.5), TimestampValue(seconds: 0, nanoseconds: -500_000_000))
        expectTrue([-1e10, -978_307_199.25, -5.5, 0.25, 1e10].allSatisfy { stored($0).isValid })
    }
}

import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Models and collections that are coded by what the compiler makes.
@Suite(.hangGuard)
struct CodableModelTests {
    final class Parcel: TestObject, Codable {
        @Persisted(primaryKey: true) var _id: Int
        @Persisted var name = "name"
        @Persisted var note: String? = "note"
        @Persisted var weight: Double
        @Persisted var price: Decimal128
        @Persisted var sent: Date?
        @Persisted var objectId: ObjectId
        @Persisted var stamps: List<Int?>
        @Persisted var labels: MutableSet<String>
        @Persisted var rates: Map<String, Int>
        @Persisted var box: Box?
        @Persisted var boxes: List<Box>
        @Persisted var parts: List<Part>
    }

    final class Box: TestObject, Codable {
        @Persisted var size: Int
    }

    final class Part: TestPart, Codable {
        @Persisted var size: Int
    }

    private static let json = """
        {"_id":1,"box":{"size":3},"boxes":[{"size":4}],"labels":["a"],"name":"x","note":null,\
        "objectId":"1234567890abcdef12345678","parts":[{"size":5}],"price":"1.5","rates":{"r":1},"sent":2.5,\
        "stamps":[1,null],"weight":2.5}
        """

    private let folder = Folder()

    private func parcel() throws -> Parcel { try JSONDecoder().decode(Parcel.self, from: Data(Self.json.utf8)) }

    private func encoded(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func realm() throws -> Realm {
        try Realm(
            configuration: Realm.Configuration(fileURL: folder.file, objectTypes: [Parcel.self, Box.self, Part.self]))
    }

    @Test func aModelIsDecodedAndEncodedAgain() throws {
        let parcel = try parcel()
        expectTrue(parcel._id == 1 && parcel.name == "x" && parcel.note == nil && parcel.price == 1.5)
        expectTrue(parcel.sent == Date(timeIntervalSinceReferenceDate: 2.5) && Array(parcel.stamps) == [1, nil])
        expectTrue(Array(parcel.labels) == ["a"] && parcel.rates["r"] == 1 && parcel.box?.size == 3)
        expectTrue(parcel.boxes.first?.size == 4 && parcel.parts.first?.size == 5)
        try expectEqual(encoded(parcel), Self.json)
        let realm = try realm()
        try realm.write { realm.add(parcel) }
        let kept = try #require(realm.objects(Parcel.self).first)
        expectTrue(kept.name == "x" && kept.note == nil && kept.parts.first?.size == 5 && kept.boxes.count == 1)
    }

    @Test func decodingKeepsNoDefault() throws {
        let parcel = try parcel()
        expectTrue(Parcel().name == "name" && parcel.name == "x")
        expectTrue(Parcel().note == "note" && parcel.note == nil)
    }

    @Test func whatIsMissingIsNilWhereItMayBe() throws {
        let without = Self.json.replacingOccurrences(of: #""note":null,"#, with: "")
            .replacingOccurrences(of: #""sent":2.5,"#, with: "").replacingOccurrences(
                of: #""box":{"size":3},"#, with: "")
        let parcel = try JSONDecoder().decode(Parcel.self, from: Data(without.utf8))
        expectTrue(parcel.note == nil && parcel.sent == nil && parcel.box == nil)
        for (text, replacement) in [("\"name\":\"x\",", ""), ("\"name\":\"x\"", "\"name\":null"), ("2.5", "\"x\"")] {
            let wrong = Self.json.replacingOccurrences(of: text, with: replacement)
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(Parcel.self, from: Data(wrong.utf8)) }
        }
    }

    @Test func objectsOfARealmAreNotEncodedAsSomethingElse() throws {
        let realm = try realm()
        let added = try parcel()
        try realm.write { realm.add(added) }
        let read = try #require(realm.objects(Parcel.self).first)
        for object in [added, read, read.freeze()] {
            #expect(throws: EncodingError.self) { try encoded(object) }
        }
        expectTrue(read.name == "x" && added.weight == 2.5)
    }

    @Test func collectionsAreCoded() throws {
        let realm = try realm()
        let added = try parcel()
        try realm.write { realm.add(added) }
        let parcel = try #require(realm.objects(Parcel.self).first)
        try expectEqual(encoded(parcel.stamps), "[1,null]")
        try expectTrue(encoded(parcel.labels) == #"["a"]"# && encoded(parcel.rates) == #"{"r":1}"#)
        try expectEqual(encoded(AnyRealmCollection(parcel.stamps)), "[1,null]")
        let rates = try JSONDecoder().decode(Map<String, Int>.self, from: Data(#"{"a":1}"#.utf8))
        let labels = try JSONDecoder().decode(MutableSet<String>.self, from: Data(#"["a","a","b"]"#.utf8))
        expectTrue(rates["a"] == 1 && rates.count == 1 && Set(labels) == ["a", "b"] && labels.count == 2)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Map<String, Int>.self, from: Data(#"{"a.b":1}"#.utf8))
        }
    }
}

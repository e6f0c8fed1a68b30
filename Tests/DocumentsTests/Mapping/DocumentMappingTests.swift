import Changesets
import Documents
import ExtendedJSON
import RealmState
import SeededRandom
import TestSupport
import Testing

@Suite struct DocumentMappingTests {
    @Test(arguments: seedRanges(4, of: 150))
    func documentsBecomeObjectsAndComeBack(seeds: Range<UInt64>) throws {
        let state = try AllTypes.state()
        let mapping = DocumentMapping(schema: state.schema)
        let table = try mapping.table("Thing")
        for seed in seeds {
            var random = RandomDocuments(state.schema, seed: seed)
            let document = random.document("Thing")
            let content = try mapping.content(document, of: table)
            let object = try mapping.object(content, of: table)
            let key = try #require(content.key)
            let back = mapping.document(of: object, key: key, table)
            expectEqual(back.differences(from: document, table), [], "seed \(seed)")
            // And so it does as text.
            let text = ExtendedJSONWriter.bytes(of: .document(document))
            let read = try mapping.content(try ExtendedJSONParser.parseDocument(text), of: table)
            let again = mapping.document(of: try mapping.object(read, of: table), key: key, table)
            expectEqual(again.differences(from: back, table), [], "seed \(seed)")
        }
    }

    @Test func whatIsFinerThanDocumentsIsCutOff() throws {
        let mapping = DocumentMapping(schema: Schema())
        let date = ElementType(type: .timestamp, nullable: false)
        func shown(_ seconds: Int64, _ nanoseconds: Int32) -> BSONValue {
            mapping.value(.timestamp(TimestampValue(seconds: seconds, nanoseconds: nanoseconds)), date)
        }
        expectEqual(shown(1, 1_999_999), .date(1_001))
        expectEqual(shown(-1, -1_999_999), .date(-1_001))
        expectEqual(shown(.max, 0), .date(.max))
        expectEqual(shown(.min, 0), .date(.min))
    }

    static let mistakes: [(String, String)] = [
        (#"{"_id":"x"}"#, "_id: expected int, the primary key of Thing, came string"),
        (#"{"_id":1,"oidO":"66f0a1b2c3d4e5f601020304"}"#, "oidO: expected objectId or null, came string"),
        (#"{"_id":1,"intR":1.0}"#, "intR: expected int, came double"),
        (#"{"_id":1,"intR":null}"#, "intR: expected int, came null"),
        (#"{"_id":1,"doubleR":9007199254740993}"#, "doubleR: expected a number that a double can hold"),
        (#"{"_id":1,"floatR":1e300}"#, "floatR: expected a number that a float can hold"),
        (#"{"_id":1,"intL":5}"#, "intL: expected an array of int, came int"),
        (#"{"_id":1,"intL":[1,"x"]}"#, "intL[1]: expected int, came string"),
        (#"{"_id":1,"stringD":[]}"#, "stringD: expected an object of string or null, came array"),
        (#"{"_id":1,"stringD":{"a.b":"x"}}"#, #"stringD["a.b"]: Dictionary::insert: key must not contain '.': "a.b""#),
        (#"{"_id":1,"address":{"city":5}}"#, "address.city: expected string or null, came int"),
        (#"{"_id":1,"address":{"town":5}}"#, "address.town: the class Address has no property \"town\""),
        (#"{"_id":1,"address":{"point":{}}}"#, "address.point.x: expected double, since Point.x is required"),
        (#"{"_id":1,"address":"x"}"#, "address: expected Address as an object or null, came string"),
        (#"{"_id":1,"addressL":[null]}"#, "addressL[0]: expected Address as an object, came null"),
        (#"{"_id":1,"person":5}"#, "person: expected string, the primary key of Person, came int"),
        (#"{"_id":1,"personL":[null]}"#, "personL[0]: expected the key of a Person (string), came null"),
        (#"{"_id":1,"mixed":{"$ref":"Nobody","$id":1}}"#, "mixed.$ref: expected a class that links may lead to"),
        (
            #"{"_id":1,"mixed":{"$ref":"Person","$id":1}}"#,
            "mixed.$id: expected string, the primary key of Person, came int"
        ),
        (#"{"_id":1,"mixed":{"$minKey":1}}"#, "mixed: no property can hold a value of the type minKey"),
        (#"{"_id":1,"mixedS":[[1]]}"#, "mixedS[0]: expected a value without others in it, as sets hold, came array"),
        (#"{"_id":1,"nothing":1}"#, "nothing: the class Thing has no property \"nothing\""),
        (#"{"_id":1}"#, "intR: expected int, since Thing.intR is required"),
    ]

    @Test(arguments: mistakes)
    func mistakesNameThePlaceAndBothTypes(text: String, message: String) throws {
        let mapping = DocumentMapping(schema: try AllTypes.state().schema)
        let table = try mapping.table("Thing")
        let document = try ExtendedJSONParser.parseDocument(Array(text.utf8))
        do throws(DocumentError) {
            _ = try mapping.object(try mapping.content(document, of: table), of: table)
            expectTrue(false, "no error")
        } catch {
            expectEqual(error.description, message)
        }
    }
}

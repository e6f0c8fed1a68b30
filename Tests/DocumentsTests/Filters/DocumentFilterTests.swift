import Changesets
import Documents
import ExtendedJSON
import RealmState
import SeededRandom
import TestSupport
import Testing

@Suite struct DocumentFilterTests {
    @Test(arguments: seedRanges(8, of: 30))
    func filtersSelectObjectsAsTheySelectDocuments(seeds: Range<UInt64>) throws {
        let schema = try AllTypes.state().schema
        let mapping = DocumentMapping(schema: schema)
        let table = try mapping.table("Thing")
        var selected = 0
        for seed in seeds {
            var random = try RandomWrites(schema, seed: seed)
            var objects: [(document: BSONDocument, object: StoredObject, key: ObjectKey)] = []
            for number in 0..<12 {
                let document = random.documents.document("Thing", key: BSONValue(Int64(number)))
                let object = try mapping.object(try mapping.content(document, of: table), of: table)
                let key = ObjectKey.int(Int64(number))
                objects.append((mapping.document(of: object, key: key, table), object, key))
            }
            for _ in 0..<30 {
                let json = random.filter(depth: 2)
                let filter = try DocumentFilter(json, on: table, schema: schema)
                for (document, object, key) in objects {
                    let expected = PlainFilter.matches(document, json)
                    if expected { selected += 1 }
                    expectEqual(
                        filter.matches(object, key: key), expected,
                        "seed \(seed): \(ExtendedJSONWriter.text(of: .document(json))) on \(shown(document, json))")
                }
            }
        }
        expectTrue(selected > 1_000, "\(selected)")
    }

    /// The fields of a document that a filter may look at.
    private func shown(_ document: BSONDocument, _ filter: BSONDocument) -> String {
        let text = ExtendedJSONWriter.text(of: .document(filter))
        return ExtendedJSONWriter.text(
            of: .document(
                BSONDocument(document.members.filter { text.contains($0.key.string) }.map { ($0.key, $0.value) })))
    }

    static let mistakes: [(String, String)] = [
        (#"{"$where":"x"}"#, "$where: $where is not supported here, expected $and, $or, $nor or a field"),
        (
            #"{"n":{"$type":"int"}}"#,
            "n.$type: $type is not supported here, expected $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists, $not, $all, $size or $regex"
        ),
        (#"{"$or":[]}"#, "$or: expected an array of filters, came an empty one"),
        (#"{"$or":[5]}"#, "$or[0]: expected a filter, came int"),
        (#"{"nothing":1}"#, "nothing: the class Task has no property \"nothing\""),
        (#"{"n":"5"}"#, "n: expected int or null, came string"),
        (#"{"n":{"$gt":"5"}}"#, "n.$gt: expected int or null, came string"),
        (#"{"$and":[{"n":{"$in":[1,"x"]}}]}"#, "$and[0].n.$in[1]: expected int or null, came string"),
        (#"{"n":{"$not":5}}"#, "n.$not: expected operators or a regular expression, came int"),
        (#"{"n":{"$exists":1}}"#, "n.$exists: expected true or false, came int"),
        (#"{"n":{"$size":1}}"#, "n.$size: $size does not go with int or null"),
        (#"{"n":{"$regex":"a"}}"#, "n.$regex: expected a string to search in, the field is int or null"),
        (
            #"{"title":{"$regex":"a.*b"}}"#,
            "title.$regex: expected a text, perhaps between ^ and $, with \\ before special characters; came \"a.*b\""
        ),
        (
            #"{"title":{"$regex":"\\d"}}"#,
            "title.$regex: expected a text, perhaps between ^ and $, with \\ before special characters; came \"\\d\""
        ),
        (#"{"title":{"$regex":"a","$options":"m"}}"#, "title.$regex: expected no option but i, came \"m\""),
        (#"{"title":{"$regex":"é","$options":"i"}}"#, "title.$regex: expected ASCII for a search that ignores case"),
        (#"{"title":{"$options":"i"}}"#, "title.$options: expected $options beside $regex"),
        (
            #"{"parent.title":"x"}"#,
            #"["parent.title"]: "title" follows a link: documents have the primary key of what it leads to"#
        ),
        (
            #"{"meta.@keys":"a"}"#,
            #"["meta.@keys"]: "@keys" means something else in queries than a name"#
        ),
        (#"{"title.x":1}"#, #"["title.x"]: expected the path to end before "x", at string"#),
        (
            #"{"place":{"city":"x"}}"#,
            "place: an embedded object is not compared as a whole: name a property, as in field.name"
        ),
        (#"{"meta":{"a":1}}"#, "meta: a dictionary is not compared as a whole: name a key, as in field.key"),
        (#"{"parent":{"$gt":1}}"#, "parent.$gt: links have no order"),
        (#"{"seen":[1]}"#, "seen: expected int, came array"),
    ]

    @Test(arguments: mistakes)
    func mistakesNameTheOperatorAndThePlace(filter: String, message: String) throws {
        let schema = try TaskRealm.make().schema
        let table = try DocumentMapping(schema: schema).table("Task")
        let json = try ExtendedJSONParser.parseDocument(Array(filter.utf8))
        do throws(DocumentError) {
            _ = try DocumentFilter(json, on: table, schema: schema)
            expectTrue(false, "no error")
        } catch {
            expectEqual(error.description, message)
        }
    }

    @Test func filtersAreBounded() throws {
        let schema = try TaskRealm.make().schema
        let table = try DocumentMapping(schema: schema).table("Task")
        var deep: BSONDocument = ["n": 1]
        for _ in 0..<40 { deep = ["$and": [.document(deep)]] }
        var long: BSONValue = ["$in": .array((0..<20_000).map { BSONValue(Int64($0)) })]
        for json in [deep, ["n": long]] {
            do throws(DocumentError) {
                _ = try DocumentFilter(json, on: table, schema: schema)
                expectTrue(false, "no error")
            } catch {
                expectEqual(error.code, .limit)
            }
        }
        long = ["$in": .array((0..<9_000).map { BSONValue(Int64($0)) })]
        _ = try DocumentFilter(["_id": long], on: table, schema: schema)
    }

    @Test func timesAreComparedAsDocumentsShowThem() throws {
        var state = RealmState()
        let object = ObjectAddress("T", .int(1))
        _ = try state.record { (transaction: inout RecordingTransaction) throws(RecordingError) in
            try transaction.createTable("T", key: KeySchema(name: "_id", type: .int, nullable: false))
            try transaction.addColumn("T", "at", ElementType(type: .timestamp, nullable: true))
            try transaction.createObject(object)
        }
        let table = try DocumentMapping(schema: state.schema).table("T")
        for (seconds, nanoseconds) in [(5, 1_500_000), (-5, -1_500_000), (0, 500_000), (0, -500_000), (0, 1_000_000)] {
            _ = try state.record { (transaction: inout RecordingTransaction) throws(RecordingError) in
                let time = TimestampValue(seconds: Int64(seconds), nanoseconds: Int32(nanoseconds))
                try transaction.set(FieldAddress(object, "at"), to: .timestamp(time))
            }
            let shown = Int64(seconds) * 1_000 + Int64(nanoseconds / 1_000_000)
            let stored = try #require(state.object(object))
            for operand in [shown - 1, shown, shown + 1] {
                let expected: [(ByteString, Bool)] = [
                    ("$eq", shown == operand), ("$ne", shown != operand), ("$lt", shown < operand),
                    ("$lte", shown <= operand), ("$gt", shown > operand), ("$gte", shown >= operand),
                ]
                for (op, isSelected) in expected {
                    let filter = try DocumentFilter(
                        ["at": .document([op: .date(operand)])], on: table, schema: state.schema)
                    expectEqual(filter.matches(stored, key: .int(1)), isSelected, "\(shown) \(op) \(operand)")
                }
            }
        }
    }
}

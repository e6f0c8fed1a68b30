import Changesets
import Documents
import ExtendedJSON
import RealmState
import TestSupport
import Testing

@Suite struct FieldUpdateTests {
    private static let task = #"""
        {"_id":1,"title":"t","n":5,"ratio":0.5,"cost":{"$numberDecimal":"1.50"},"tags":["a","b","a"],"seen":[1,2,3],
        "meta":{"k":1,"list":[1,2]},"any":7,"place":{"city":"Oslo","visits":2},
        "places":[{"city":"A","visits":1},{"city":"B","visits":2}]}
        """#

    /// Operators, the instructions that they become, and the fields that they lead to.
    static let updates: [(String, [String], String)] = [
        (#""$inc":{"n":2}"#, ["AddInteger"], #"{"n":7}"#),
        (#""$inc":{"n":0}"#, [], #"{"n":5}"#),
        (#""$inc":{"any":1}"#, ["AddInteger"], #"{"any":8}"#),
        (#""$inc":{"any":0.5}"#, ["Update"], #"{"any":7.5}"#),
        (#""$inc":{"place.visits":3}"#, ["AddInteger"], #"{"place":{"city":"Oslo","visits":5}}"#),
        (
            #""$inc":{"places.1.visits":3}"#, ["AddInteger"],
            #"{"places":[{"city":"A","visits":1},{"city":"B","visits":5}]}"#
        ),
        (#""$inc":{"meta.k":1}"#, ["Update"], #"{"meta":{"k":2,"list":[1,2]}}"#),
        (#""$inc":{"meta.new":1}"#, ["Update"], #"{"meta":{"k":1,"list":[1,2],"new":1}}"#),
        (#""$inc":{"meta.list.0":1}"#, ["Update"], #"{"meta":{"k":1,"list":[2,2]}}"#),
        (#""$inc":{"ratio":1}"#, ["Update"], #"{"ratio":1.5}"#),
        (#""$inc":{"cost":1}"#, ["Update"], #"{"cost":{"$numberDecimal":"2.50"}}"#),
        (#""$mul":{"n":3}"#, ["Update"], #"{"n":15}"#),
        (#""$mul":{"cost":{"$numberDecimal":"1.1"}}"#, ["Update"], #"{"cost":{"$numberDecimal":"1.650"}}"#),
        (#""$min":{"n":3}"#, ["Update"], #"{"n":3}"#),
        (#""$min":{"n":9}"#, [], #"{"n":5}"#),
        (#""$max":{"title":"z"}"#, ["Update"], #"{"title":"z"}"#),
        (#""$max":{"title":"a"}"#, [], #"{"title":"t"}"#),
        (#""$push":{"tags":"c"}"#, ["ArrayInsert"], #"{"tags":["a","b","a","c"]}"#),
        (
            #""$push":{"tags":{"$each":["c","d"],"$position":1}}"#, ["ArrayInsert", "ArrayInsert"],
            #"{"tags":["a","c","d","b","a"]}"#
        ),
        (
            #""$push":{"places":{"city":"C","visits":0}}"#, ["ArrayInsert", "Update", "Update"],
            #"{"places":[{"city":"A","visits":1},{"city":"B","visits":2},{"city":"C","visits":0}]}"#
        ),
        (#""$push":{"meta.list":3}"#, ["ArrayInsert"], #"{"meta":{"k":1,"list":[1,2,3]}}"#),
        (
            #""$push":{"meta.other":3}"#, ["Update", "Clear", "ArrayInsert"],
            #"{"meta":{"k":1,"list":[1,2],"other":[3]}}"#
        ),
        (#""$addToSet":{"seen":{"$each":[3,4,4]}}"#, ["SetInsert"], #"{"seen":[1,2,3,4]}"#),
        (#""$addToSet":{"tags":{"$each":["b","c","c"]}}"#, ["ArrayInsert"], #"{"tags":["a","b","a","c"]}"#),
        (#""$pull":{"tags":"a"}"#, ["ArrayErase", "ArrayErase"], #"{"tags":["b"]}"#),
        (#""$pull":{"tags":"x"}"#, [], #"{"tags":["a","b","a"]}"#),
        (#""$pull":{"seen":{"$gte":2,"$ne":3}}"#, ["SetErase"], #"{"seen":[1,3]}"#),
        (#""$pull":{"seen":{"$in":[1,9]}}"#, ["SetErase"], #"{"seen":[2,3]}"#),
        (#""$pull":{"places":{"visits":{"$lt":2}}}"#, ["ArrayErase"], #"{"places":[{"city":"B","visits":2}]}"#),
        (#""$pull":{"meta.nothing":1}"#, [], #"{"meta":{"k":1,"list":[1,2]}}"#),
        (#""$unset":{"n":1}"#, ["Update"], #"{"n":null}"#),
        (#""$unset":{"tags":1}"#, ["Clear"], #"{"tags":[]}"#),
        (#""$unset":{"meta.k":1}"#, ["Update"], #"{"meta":{"list":[1,2]}}"#),
        (#""$unset":{"meta.no":1}"#, [], #"{"meta":{"k":1,"list":[1,2]}}"#),
        (#""$unset":{"place":1}"#, ["Update"], #"{"place":null}"#),
        (#""$set":{"place.city":"Rome"}"#, ["Update"], #"{"place":{"city":"Rome","visits":2}}"#),
        (#""$set":{"tags.1":"x"}"#, ["Update"], #"{"tags":["a","x","a"]}"#),
        (#""$set":{"tags.3":"x"}"#, ["ArrayInsert"], #"{"tags":["a","b","a","x"]}"#),
        (#""$set":{"meta.a.b":1}"#, ["Update", "Clear", "Update"], #"{"meta":{"a":{"b":1},"k":1,"list":[1,2]}}"#),
        (#""$set":{"_id":1}"#, [], "{}"),
        (#""$set":{"parent":9}"#, ["Update"], #"{"parent":9}"#),
        (#""$set":{"n":6},"$push":{"tags":"z"}"#, ["Update", "ArrayInsert"], #"{"n":6}"#),
    ]

    @Test(arguments: updates)
    func operatorsBecomeNarrowInstructions(operators: String, names: [String], fields: String) throws {
        var state = try TaskRealm.make()
        try state.write(#"[{"insert":"Task","document":\#(Self.task)}]"#)
        let written = try state.write(#"[{"update":"Task","id":1,"apply":{\#(operators)}}]"#)
        expectEqual(written.changeset.names, names)
        expectEqual(written.results, [WriteResult(matched: 1, modified: names.isEmpty ? 0 : 1)])
        let expected = try ExtendedJSONParser.parseDocument(Array(fields.utf8))
        let mapping = DocumentMapping(schema: state.schema)
        let object = try #require(state.object(ObjectAddress("Task", .int(1))))
        let document = mapping.document(of: object, key: .int(1), try mapping.table("Task"))
        for member in expected {
            expectEqual(
                document[member.key].map { ExtendedJSONWriter.text(of: $0.sorted) },
                ExtendedJSONWriter.text(of: member.value.sorted))
        }
    }

    static let mistakes: [(String, String)] = [
        (#""$inc":{"n":1.5}"#, "$inc.n: expected int or null, came double"),
        (#""$inc":{"n":9223372036854775803}"#, "$inc.n: expected a result of 64 bits"),
        (#""$mul":{"n":9223372036854775803}"#, "$mul.n: expected a result of 64 bits"),
        (#""$inc":{"title":1}"#, "$inc.title: expected string, came int"),
        (#""$inc":{"tags":1}"#, "$inc.tags: $inc does not go with an array of string"),
        (#""$inc":{"meta.list":1}"#, #"$inc["meta.list"]: expected a number to change, it is array"#),
        (#""$push":{"seen":1}"#, "$push.seen: expected $addToSet for a set, whose members have no order"),
        (#""$push":{"n":1}"#, "$push.n: $push does not go with int or null"),
        (#""$push":{"tags":1}"#, "$push.tags: expected string, came int"),
        (#""$push":{"tags":{"$each":["a"],"$slice":5}}"#, "$push.tags: $slice is not supported beside $each in $push"),
        (#""$push":{"tags":{"$each":"a"}}"#, "$push.tags.$each: expected an array, came string"),
        (
            #""$pull":{"tags":{"$regex":"a"}}"#,
            "$pull.tags.$regex: $regex is not supported in $pull, expected one of $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin"
        ),
        (#""$pull":{"places":{"town":1}}"#, "$pull.places.town: the class Place has no property \"town\""),
        (#""$unset":{"title":1}"#, "$unset.title: expected a property that may be null, this one is required: string"),
        (#""$unset":{"tags.0":1}"#, #"$unset["tags.0"]: expected string, came null"#),
        (#""$set":{"_id":2}"#, "$set._id: _id is the primary key of Task, which never changes"),
        (#""$inc":{"_id":1}"#, "$inc._id: _id is the primary key of Task, which never changes"),
        (#""$set":{"title.x":1}"#, #"$set["title.x"]: expected the path to end before "x", at string"#),
        (#""$set":{"tags.9":"x"}"#, #"$set["tags.9"]: expected an index up to 3, came 9"#),
        (#""$set":{"tags.x":"x"}"#, #"$set["tags.x"]: expected an index of the list before it, came "x""#),
        (
            #""$set":{"seen.0":1}"#,
            #"$set["seen.0"]: expected the path to end before "0", at an array without order of int"#
        ),
        (#""$set":{"any.x":1}"#, #"$set["any.x"]: expected the path to end before "x", at mixed"#),
        (#""$set":{"place.town":1}"#, #"$set["place.town"]: the class Place has no property "town""#),
        (#""$set":{"meta.$x":1}"#, #"$set["meta.$x"]: the placeholder $x is not supported in paths"#),
        (#""$min":{"any":"x"}"#, "$min.any: string and int have no order"),
    ]

    @Test(arguments: mistakes)
    func mistakesOfOperatorsNameTheirPlaces(operators: String, message: String) throws {
        var state = try TaskRealm.make()
        try state.write(#"[{"insert":"Task","document":\#(Self.task)}]"#)
        expectEqual(
            state.refusal(#"[{"update":"Task","id":1,"apply":{\#(operators)}}]"#)?.description,
            "writes[0].apply.\(message)")
    }

    @Test func whatIsNotThereIsMadeOnTheWay() throws {
        var state = try TaskRealm.make()
        try state.write(#"[{"insert":"Task","document":{"_id":1,"title":"t"}}]"#)
        expectEqual(
            state.refusal(#"[{"update":"Task","id":1,"set":{"place.city":"Rome"}}]"#)?.description,
            #"writes[0].set["place.city"].visits: expected int, since Place.visits is required"#)
        try state.write(#"[{"update":"Task","id":1,"set":{"place.visits":3,"any.a.b":1}}]"#)
        try state.write(#"[{"update":"Task","id":1,"apply":{"$inc":{"n":4},"$mul":{"ratio":5},"$max":{"cost":2}}}]"#)
        expectEqual(
            try state.json("Task", .int(1), only: "n", "ratio", "cost", "any", "place"),
            #"{"n":4,"ratio":0.0,"cost":{"$numberDecimal":"2"},"any":{"a":{"b":1}},"place":{"city":null,"visits":3}}"#)
    }

    @Test func filtersSayWhatIsWritten() throws {
        var state = try TaskRealm.make()
        try state.write(
            #"[{"insert":"Task","document":{"_id":1,"title":"a","n":1}},{"insert":"Task","document":{"_id":2,"title":"b","n":2}},{"insert":"Task","document":{"_id":3,"title":"c","n":3}}]"#
        )
        let first = try state.write(#"[{"update":"Task","filter":{"n":{"$gt":1}},"set":{"title":"x"}}]"#)
        expectEqual(first.results, [WriteResult(matched: 1, modified: 1)])
        expectEqual(try state.json("Task", .int(2), only: "title"), #"{"title":"x"}"#)
        let all = try state.write(
            #"[{"update":"Task","filter":{"n":{"$gt":1}},"many":true,"apply":{"$inc":{"n":10}}},{"delete":"Task","filter":{"n":{"$gt":10}},"many":true}]"#
        )
        expectEqual(all.results, [WriteResult(matched: 2, modified: 2), WriteResult(matched: 2, modified: 2)])
        expectEqual(state.objectCount(of: "Task"), 1)
        var options = WriteOptions.test
        options.limits.matches = 0
        expectEqual(
            state.refusal(#"[{"delete":"Task","filter":{},"many":true}]"#, options)?.description,
            "writes[0].filter: expected at most 0 objects for one write, the filter selects more")
    }

    @Test func onlyWhatIsAsExpectedIsWritten() throws {
        var state = try TaskRealm.make()
        try state.write(#"[{"insert":"Task","document":{"_id":1,"title":"a","n":1}}]"#)
        for write in [
            #"{"update":"Task","id":1,"set":{"n":2},"onlyIf":{"n":5}}"#, #"{"delete":"Task","id":1,"onlyIf":{"n":5}}"#,
            #"{"upsert":"Task","document":{"_id":1,"n":2},"onlyIf":{"n":5}}"#,
            #"{"replace":"Task","id":1,"document":{"title":"x"},"onlyIf":{"n":5}}"#,
        ] {
            let error = state.refusal("[\(write)]")
            expectEqual(error?.code, .conflict)
            expectEqual(error?.description, "writes[0].onlyIf: the Task is not as it is expected to be")
            expectEqual(state.refusal("[\(write.replacing(#""n":5"#, with: #""n":1"#))]"), nil)
            let absent = write.replacing(#""id":1"#, with: #""id":2"#).replacing(#""_id":1"#, with: #""_id":2"#)
            expectEqual(
                state.refusal("[\(absent)]")?.description,
                "writes[0].onlyIf: expected the Task to be there, but there is none with this primary key")
        }
    }

    @Test func partialStatesAreToldWhatToLoad() throws {
        var state = try TaskRealm.make()
        try state.write(#"[{"insert":"Task","document":{"_id":1,"title":"a","n":1}}]"#)
        let batch = try WriteBatch(
            parsing: Array(
                #"{"writes":[{"update":"Task","id":1,"apply":{"$inc":{"n":1}}},{"delete":"Task","id":2},{"insert":"Note","document":{}}]}"#
                    .utf8))
        let addresses = try batch.addresses(in: state.schema)
        expectEqual(addresses, [ObjectAddress("Task", .int(1)), ObjectAddress("Task", .int(2))])
        var partial = RealmState(schema: state.schema, residency: .partial)
        do throws(DocumentError) {
            _ = try batch.recorded(on: partial, .test)
            expectTrue(false, "no error")
        } catch {
            expectEqual(error.code, .notLoaded)
        }
        let new = ObjectAddress("Note", .objectID(ObjectIDValue(high: 1, low: 2)))
        for address in addresses + [new] { partial.load(address, state.object(address)) }
        expectEqual(try batch.recorded(on: partial, .test).bytes, try batch.recorded(on: state, .test).bytes)
    }
}

extension String {
    fileprivate func replacing(_ part: String, with other: String) -> String {
        guard let range = firstRange(of: part) else { return self }
        return self[..<range.lowerBound] + other + self[range.upperBound...]
    }
}

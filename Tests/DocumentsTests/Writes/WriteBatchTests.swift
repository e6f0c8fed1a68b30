import Changesets
import Documents
import ExtendedJSON
import RealmState
import TestSupport
import Testing

@Suite struct WriteBatchTests {
    @Test func insertionsMakeObjects() throws {
        var state = try TaskRealm.make()
        let written = try state.write(
            """
            [{"insert":"Task","document":{"_id":7,"title":"buy milk","n":0,"tags":["a"],"place":{"city":"Oslo","visits":1},"parent":8}},
             {"insert":"Note","document":{"text":"x"}}]
            """)
        expectEqual(
            written.changeset.names,
            [
                "CreateObject", "Update", "Update", "ArrayInsert", "Update", "Update", "Update", "Update",
                "CreateObject", "Update",
            ])
        expectEqual(
            try state.json("Task", .int(7)),
            #"{"_id":7,"title":"buy milk","n":0,"cost":null,"ratio":null,"tags":["a"],"seen":[],"meta":{},"any":null,"#
                + #""place":{"city":"Oslo","visits":1},"places":[],"parent":8}"#)
        expectEqual(written.results.map(\.inserted), [7, .objectID(ObjectIDValue(high: 1, low: 2))])
        let error = state.refusal(#"[{"insert":"Task","document":{"_id":7,"title":"again"}}]"#)
        expectEqual(error?.code, .objectExists)
        expectEqual(
            error?.description, "writes[0].document._id: a Task with this primary key is there already")
    }

    @Test func theBytesMakeTheSameElsewhere() throws {
        var state = try TaskRealm.make()
        var copy = state
        let written = try state.write(
            #"[{"insert":"Task","document":{"_id":1,"title":"t","meta":{"a":[1,{"b":2}]},"any":{"x":[]}}},{"delete":"Task","id":1},{"upsert":"Task","document":{"_id":1,"title":"u"}}]"#
        )
        try copy.apply(try Changeset(parsing: written.bytes))
        expectEqual(StateDump.canonical(of: copy), StateDump.canonical(of: state))
    }

    @Test func aBatchIsAllOrNothing() throws {
        var state = try TaskRealm.make()
        let before = StateDump.canonical(of: state)
        let batch = try WriteBatch(
            parsing: Array(
                #"{"writes":[{"insert":"Task","document":{"_id":1,"title":"t"}},{"insert":"Task","document":{"_id":2}}]}"#
                    .utf8))
        do throws(DocumentError) {
            _ = try batch.record(on: &state, .test)
            expectTrue(false, "no error")
        } catch {
            expectEqual(error.description, "writes[1].document.title: expected string, since Task.title is required")
            expectEqual(error.write, 1)
        }
        expectEqual(StateDump.canonical(of: state), before)
    }

    @Test func onlyTheRightVersionIsWritten() throws {
        var state = try TaskRealm.make()
        let batch = try WriteBatch(
            parsing: Array(#"{"writes":[{"delete":"Task","id":1}],"onlyIf":{"version":5}}"#.utf8))
        expectEqual(batch.onlyIfVersion, 5)
        _ = try batch.record(on: &state, version: 5, .test)
        do throws(DocumentError) {
            _ = try batch.record(on: &state, version: 6, .test)
            expectTrue(false, "no error")
        } catch {
            expectEqual(error.code, .conflict)
            expectEqual(error.description, "onlyIf.version: expected the realm at version 5, it is at 6")
        }
    }

    @Test func whatReadsSoAlreadyIsNotWritten() throws {
        var state = try TaskRealm.make()
        try state.write(
            #"[{"insert":"Task","document":{"_id":1,"title":"t","n":1,"tags":["a","b","c","d"],"seen":[1,2],"meta":{"a":1,"b":{"c":2}},"places":[{"city":"A","visits":1},{"city":"B","visits":2}]}}]"#
        )
        func narrow(_ writes: String) throws -> [String] { try state.write(writes).changeset.names }
        expectEqual(
            try narrow(#"[{"upsert":"Task","document":{"_id":1,"title":"t","n":1,"tags":["a","b","c","d"]}}]"#), [])
        expectEqual(try narrow(#"[{"update":"Task","id":1,"set":{"tags":["a","c","d"]}}]"#), ["ArrayErase"])
        expectEqual(try narrow(#"[{"update":"Task","id":1,"set":{"tags":["a","x","c","d"]}}]"#), ["ArrayInsert"])
        expectEqual(try narrow(#"[{"update":"Task","id":1,"set":{"tags":["a","y","c","d"]}}]"#), ["Update"])
        expectEqual(try narrow(#"[{"update":"Task","id":1,"set":{"seen":[2,3]}}]"#), ["SetErase", "SetInsert"])
        expectEqual(try narrow(#"[{"update":"Task","id":1,"set":{"meta":{"b":{"c":3}}}}]"#), ["Update", "Update"])
        expectEqual(
            try narrow(
                #"[{"update":"Task","id":1,"set":{"places":[{"city":"A","visits":1},{"city":"C","visits":2}]}}]"#),
            ["Update"])
        expectEqual(
            try narrow(
                #"[{"replace":"Task","id":1,"document":{"_id":1,"title":"t","tags":["a","y","c","d"],"seen":[2,3],"meta":{"b":{"c":3}},"places":[{"city":"A","visits":1},{"city":"C","visits":2}]}}]"#
            ),
            ["Update"])
        expectEqual(try state.json("Task", .int(1), only: "n", "meta"), #"{"n":null,"meta":{"b":{"c":3}}}"#)
    }

    @Test func timesThatAreFinerStayAsLongAsTheyReadSo() throws {
        var state = RealmState()
        _ = try state.record { (transaction: inout RecordingTransaction) throws(RecordingError) in
            try transaction.createTable("T", key: KeySchema(name: "_id", type: .int, nullable: false))
            try transaction.addColumn("T", "at", ElementType(type: .timestamp, nullable: true))
            try transaction.addColumn("T", "any", .mixed)
            let object = ObjectAddress("T", .int(1))
            try transaction.createObject(object)
            try transaction.set(FieldAddress(object, "at"), to: .timestamp(.init(seconds: 1, nanoseconds: 5)))
            try transaction.set(FieldAddress(object, "any"), to: .float(bits: Float(1.5).bitPattern))
        }
        let document = try #require(try state.json("T", .int(1)))
        let written = try state.write(#"[{"replace":"T","id":1,"document":\#(document)}]"#)
        expectTrue(written.bytes.isEmpty)
    }

    @Test func deletionsLeaveLinksThatLeadNowhere() throws {
        var state = try TaskRealm.make()
        try state.write(
            #"[{"insert":"Task","document":{"_id":1,"title":"a"}},{"insert":"Task","document":{"_id":2,"title":"b","parent":1}}]"#
        )
        let written = try state.write(#"[{"delete":"Task","id":1},{"delete":"Task","id":3}]"#)
        expectEqual(written.changeset.names, ["EraseObject"])
        expectEqual(written.results.map(\.matched), [1, 0])
        expectEqual(try state.json("Task", .int(1)), nil)
        expectEqual(try state.json("Task", .int(2), only: "parent"), #"{"parent":1}"#)
    }

    static let mistakes: [(String, String)] = [
        ("{}", "writes[0]: expected one of the members insert, upsert, replace, update, delete"),
        ("5", "writes[0]: expected a write as an object, came int"),
        (#"{"insert":"Task"}"#, "writes[0]: expected the member document"),
        (#"{"insert":"Task","document":{},"if":1}"#, "writes[0].if: insert has no such member"),
        (
            #"{"insert":"Task","document":{"_id":1,"title":"t"},"onlyIf":{}}"#,
            "writes[0].onlyIf: expected no onlyIf beside insert"
        ),
        (#"{"insert":"Nothing","document":{}}"#, "writes[0]: expected a class of the realm, came \"Nothing\""),
        (
            #"{"insert":"Place","document":{}}"#,
            "writes[0]: Place is an embedded class: its objects are parts of others"
        ),
        (
            #"{"insert":"Task","document":{"title":"t"}}"#,
            "writes[0].document._id: expected int, the primary key of Task"
        ),
        (#"{"update":"Task","id":1}"#, "writes[0]: expected either set or apply beside update"),
        (#"{"update":"Task","id":1,"set":{},"apply":{}}"#, "writes[0]: expected either set or apply beside update"),
        (
            #"{"update":"Task","id":1,"apply":{"$rename":{"a":"b"}}}"#,
            "writes[0].apply.$rename: $rename is not supported, expected one of $set, $unset, $inc, $mul, $min, $max, $push, $addToSet, $pull"
        ),
        (
            #"{"update":"Task","id":1,"set":{"a..b":1}}"#,
            #"writes[0].set["a..b"]: expected names between the dots of a path"#
        ),
        (
            #"{"update":"Task","id":1,"set":{"tags.$[]":1}}"#,
            #"writes[0].set["tags.$[]"]: the placeholder $[] is not supported in paths"#
        ),
        (
            #"{"update":"Task","id":1,"apply":{"$set":{"place":null},"$inc":{"place.visits":1}}}"#,
            #"writes[0].apply.$inc["place.visits"]: expected changes apart from each other, came place and place.visits"#
        ),
        (#"{"update":"Task","set":{}}"#, "writes[0]: expected id or filter"),
        (#"{"update":"Task","id":1,"filter":{},"set":{}}"#, "writes[0]: expected id or filter, came both"),
        (#"{"update":"Task","filter":{},"many":1,"set":{}}"#, "writes[0].many: expected true or false, came int"),
        (#"{"delete":"Task","id":"x"}"#, "writes[0].id: expected int, the primary key of Task, came string"),
        (
            #"{"replace":"Task","id":1,"document":{"_id":2,"title":"t"}}"#,
            "writes[0].document._id: expected the primary key of the object that is replaced, or none"
        ),
    ]

    @Test(arguments: mistakes)
    func mistakesOfFormNameTheirPlaces(write: String, message: String) throws {
        expectEqual(try TaskRealm.make().refusal("[\(write)]")?.description, message)
    }

    @Test func batchesAreBounded() throws {
        let state = try TaskRealm.make()
        let writes = Array(repeating: #"{"delete":"Task","id":1}"#, count: 1_001).joined(separator: ",")
        expectEqual(state.refusal("[\(writes)]")?.description, "writes: expected at most 1000 writes, came 1001")
        let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
        expectEqual(state.refusal(#"[{"update":"Task","id":1,"set":{"any":\#(deep)}}]"#)?.code, .limit)
        var many = try TaskRealm.make()
        let nested = String(repeating: "[", count: 101) + String(repeating: "]", count: 101)
        try many.write(#"[{"insert":"Task","document":{"_id":1,"title":"t"}}]"#)
        expectTrue(
            many.refusal(#"[{"update":"Task","id":1,"set":{"any":\#(nested)}}]"#)?.description
                .hasSuffix("expected arrays and objects nested at most 100 deep in a property") == true)
    }
}

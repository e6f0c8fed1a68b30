import Changesets
import Documents
import ExtendedJSON
import RealmState
import TestSupport
import Testing

@Suite struct SchemaInferenceTests {
    private func options() -> WriteOptions {
        var options = WriteOptions.test
        options.infersSchema = true
        return options
    }

    @Test func classesAreMadeOfDocuments() throws {
        var state = RealmState()
        let writes = #"""
            [{"insert":"Shop","document":{"_id":"s1","n":1,"x":1,"open":true,"since":{"$date":0},"ref":{"$oid":"000000000000000100000002"},
              "tags":["a","b"],"mixed":["a",1],"empty":[],"more":{"a":{"b":1}},"later":null,"price":{"$numberDecimal":"1.5"}}},
             {"insert":"Shop","document":{"_id":"s2","x":1.5,"later":"now","n":2}},
             {"insert":"Visit","document":{"shop":"s1"}}]
            """#
        expectEqual(state.refusal(writes)?.description, "writes[0]: expected a class of the realm, came \"Shop\"")
        let written = try state.write(writes, options())
        let shop = try #require(state.schema.table("Shop"))
        expectEqual(shop.key, KeySchema(name: "_id", type: .string, nullable: false))
        let columns = shop.columns.map { "\($0.name) \($0.element.type) \($0.collection)" }
        expectEqual(
            columns,
            [
                "n int single", "x double single", "open bool single", "since timestamp single", "ref objectID single",
                "tags string list", "mixed null list", "empty null list", "more null dictionary", "later string single",
                "price decimal single",
            ])
        expectEqual(state.schema.table("Visit")?.key?.type, .objectID)
        expectEqual(written.additions.count, 14)
        expectEqual(
            try state.json("Shop", .string("s1")),
            #"{"_id":"s1","n":1,"x":1.0,"open":true,"since":{"$date":"1970-01-01T00:00:00Z"},"ref":{"$oid":"000000000000000100000002"},"#
                + #""tags":["a","b"],"mixed":["a",1],"empty":[],"more":{"a":{"b":1}},"later":null,"price":{"$numberDecimal":"1.5"}}"#
        )
        // A second batch needs nothing that is there.
        let again = try state.write(#"[{"upsert":"Shop","document":{"_id":"s1","n":3,"new":5}}]"#, options())
        expectEqual(again.additions, [.column("Shop", "new", ElementType(type: .int, nullable: true), .single)])
        let set = try state.write(#"[{"update":"Shop","id":"s1","set":{"other":"x","more.c":1}}]"#, options())
        expectEqual(set.additions.count, 1)
        // The bytes declare the classes elsewhere, too.
        var copy = RealmState()
        for bytes in [written.bytes, again.bytes, set.bytes] { try copy.apply(try Changeset(parsing: bytes)) }
        expectEqual(StateDump.canonical(of: copy), StateDump.canonical(of: state))
    }

    @Test func mistakesAreNamed() throws {
        let state = RealmState()
        let cases: [(String, String)] = [
            (
                #"[{"insert":"A","document":{"_id":1.5}}]"#,
                "writes[0].document._id: expected an int, string, objectId or uuid as primary key, came double"
            ),
            (
                #"[{"insert":"A","document":{"_id":1}},{"insert":"A","document":{"_id":"x"}}]"#,
                "writes[1].document._id: expected int, as in a write before, came string"
            ),
            (
                #"[{"insert":"A","document":{"_id":1,"$x":1}}]"#,
                "writes[0].document.$x: expected a name of 1 to 63 bytes for a property, without dots and without $ at its beginning"
            ),
            (
                #"[{"insert":"\#(String(repeating: "A", count: 58))","document":{}}]"#,
                "writes[0].document: expected a name of 1 to 57 bytes for a class, without dots and without $ at its beginning"
            ),
            (#"[{"update":"A","id":1,"set":{"x":1}}]"#, "writes[0]: expected a class of the realm, came \"A\""),
        ]
        for (writes, message) in cases { expectEqual(state.refusal(writes, options())?.description, message) }
        let wide = (0..<1_001).map { #""p\#($0)":1"# }.joined(separator: ",")
        expectEqual(
            state.refusal(#"[{"insert":"A","document":{"_id":1,\#(wide)}}]"#, options())?.description,
            "writes[0].document.p1000: expected at most 1000 new properties of a class")
    }
}

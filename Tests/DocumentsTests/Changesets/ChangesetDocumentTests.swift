import Changesets
import ExtendedJSON
import SyncModel
import TestSupport
import Testing

@testable import Documents

@Suite struct ChangesetDocumentTests {
    private func read(_ text: String) throws -> Changeset {
        try ChangesetDocument.changeset(try ExtendedJSONParser.parse(Array(text.utf8)).array ?? [])
    }

    private func text(_ changeset: Changeset) throws -> String {
        let documents = try ChangesetDocument.instructions(of: changeset)
        return ExtendedJSONWriter.text(of: .array(documents.map { .document($0) }))
    }

    static let texts = [
        #"[{"op":"AddTable","class":"Dog","key":{"name":"_id","type":"objectId","nullable":true}}]"#,
        #"[{"op":"AddTable","class":"Dog","key":{"name":"_id","type":"globalKey"},"asymmetric":true}]"#,
        #"[{"op":"AddTable","class":"Place","embedded":true},{"op":"EraseTable","class":"Place"}]"#,
        #"[{"op":"AddColumn","class":"Dog","field":"name","type":"string","nullable":true}]"#,
        #"[{"op":"AddColumn","class":"Dog","field":"any","type":"mixed","nullable":true,"collection":"dictionary","keyType":"string"}]"#,
        #"[{"op":"AddColumn","class":"Dog","field":"owners","type":"link","nullable":false,"collection":"list","target":"Person"}]"#,
        #"[{"op":"EraseColumn","class":"Dog","field":"name"},{"op":"CreateObject","class":"Dog","key":7}]"#,
        #"[{"op":"CreateObject","class":"Dog","key":"rex"},{"op":"EraseObject","class":"Dog","key":null}]"#,
        #"[{"op":"CreateObject","class":"Dog","key":{"$oid":"000000000000000000000001"}}]"#,
        #"[{"op":"CreateObject","class":"Dog","key":{"$globalKey":"000000000000000200000000000000ff"}}]"#,
        #"[{"op":"Update","class":"Dog","key":7,"path":["name"],"value":"Rex"}]"#,
        #"[{"op":"Update","class":"Dog","key":7,"path":["name"],"value":null,"default":true}]"#,
        #"[{"op":"Update","class":"Dog","key":7,"path":["meta","x",3],"value":5,"priorSize":9}]"#,
        #"[{"op":"Update","class":"Dog","key":7,"path":["list",3,"meta","x"],"value":5}]"#,
        #"[{"op":"AddInteger","class":"Dog","key":7,"path":["age"],"delta":-1}]"#,
        #"[{"op":"ArrayInsert","class":"Dog","key":7,"path":["tags",0],"value":"x","priorSize":0}]"#,
        #"[{"op":"ArrayMove","class":"Dog","key":7,"path":["tags",0],"to":2,"priorSize":3}]"#,
        #"[{"op":"ArrayErase","class":"Dog","key":7,"path":["tags",0],"priorSize":1}]"#,
        #"[{"op":"Clear","class":"Dog","key":7,"path":["tags"],"collection":"list"}]"#,
        #"[{"op":"SetInsert","class":"Dog","key":7,"path":["seen"],"value":{"$numberDecimal":"1.50"}}]"#,
        #"[{"op":"SetErase","class":"Dog","key":7,"path":["seen"],"value":{"$ref":"Dog","$id":"rex"}}]"#,
    ]

    @Test(arguments: texts)
    func instructionsAreWrittenAsTheyWereRead(text: String) throws {
        let changeset = try read(text)
        expectEqual(try self.text(changeset), text)
        // The bytes say the same.
        let again = try Changeset(parsing: changeset.encoded())
        expectEqual(again, changeset)
    }

    @Test func valuesKeepTheirTypesAndBits() throws {
        var changeset = Changeset()
        let table = changeset.strings.intern("Dog")
        let payloads: [Payload] = [
            .null, .bool(true), .int(.max), .int(-1), .double(bits: 5.0.bitPattern), .double(bits: (-0.0).bitPattern),
            .double(bits: Double.infinity.bitPattern), .double(bits: 0x7ff8_0000_0000_0001), .float(bits: 0x7fc0_0001),
            .float(bits: Float(1.1).bitPattern), .decimal(Decimal128Value(7)),
            .decimal(Decimal128Value(high: 0x7c00_0000_0000_0000, low: 1)), .string(""), .string("é"),
            .binary([0, 255]),
            .timestamp(TimestampValue(seconds: 1, nanoseconds: 5)),
            .timestamp(TimestampValue(seconds: -1, nanoseconds: -1_000_000)),
            .timestamp(TimestampValue(seconds: .max, nanoseconds: 0)), .objectID(ObjectIDValue(high: 1, low: 2)),
            .uuid(UUIDValue(high: 1, low: 2)), .link(table: table, key: .globalKey(high: 1, low: .max)), .list, .set,
            .dictionary, .objectValue, .erased,
        ]
        let field = changeset.strings.intern("any")
        changeset.instructions = payloads.map { payload in
            .update(
                .init(
                    target: FieldPath(table: table, object: .int(1), field: field), value: payload,
                    qualifier: .isDefault(false)))
        }
        let text = try text(changeset)
        expectEqual(try read(text), changeset, "\(text)")
    }

    @Test func aFloatMayBeWrittenAsANumber() throws {
        let changeset = try read(#"[{"op":"Update","class":"D","key":1,"path":["f"],"value":{"$float":1.5}}]"#)
        expectEqual(changeset.instructions.first?.payload, .float(bits: Float(1.5).bitPattern))
    }

    /// The example of docs/messages.md.
    @Test func theExampleOfTheMessagesIsADog() throws {
        let bytes = try #require(HexBytes(hex: "3f0003446f673f01035f696400000001010002000107")).bytes
        let text =
            #"[{"op":"AddTable","class":"Dog","key":{"name":"_id","type":"int"}},{"op":"CreateObject","class":"Dog","key":7}]"#
        expectEqual(try self.text(Changeset(parsing: bytes)), text)
        expectEqual(try read(text).encoded(), bytes)
    }

    static let mistakes: [(String, String)] = [
        (#"[1]"#, "[0]: expected an instruction, came int"),
        (#"[{"class":"Dog"}]"#, "[0]: expected op"),
        (#"[{"op":"Bark","class":"Dog"}]"#, #"[0].op: there is no instruction "Bark" (docs/changesets.md)"#),
        (#"[{"op":"CreateObject","class":"Dog"}]"#, "[0]: expected key"),
        (
            #"[{"op":"CreateObject","class":"Dog","key":1.5}]"#,
            "[0].key: expected a primary key: an integer, a string, $oid, $uuid, null or $globalKey"
        ),
        (#"[{"op":"EraseTable","class":"Dog","key":1}]"#, #"[0]: the key "key" means nothing here"#),
        (
            #"[{"op":"Update","class":"Dog","key":1,"path":[1],"value":1}]"#,
            "[0].path: expected an array that begins with a field's name"
        ),
        (
            #"[{"op":"Update","class":"Dog","key":1,"path":["a"],"value":[1]}]"#,
            "[0].value: expected one value, which is no array and no object, or $ref, $make, $erased, $time, $floatBits; came array"
        ),
        (
            #"[{"op":"ArrayInsert","class":"Dog","key":1,"path":["a",0],"value":1}]"#, "[0]: expected priorSize"
        ),
        (
            #"[{"op":"AddTable","class":"Dog","key":{"name":"_id","type":"number"}}]"#,
            #"[0].key.type: expected one of binData, bool, date, decimal, double, float, globalKey, int, link, mixed, objectId, string, uuid, came "number""#
        ),
    ]

    @Test(arguments: mistakes)
    func mistakesNameTheInstruction(text: String, message: String) {
        do {
            _ = try read(text)
            expectTrue(false, "no error")
        } catch {
            expectEqual((error as? DocumentError)?.description, message)
        }
    }
}

import Changesets
import Documents
import ExtendedJSON
import SeededRandom
import TestSupport
import Testing

@Suite struct DocumentSourceTests {
    /// What a source finds in bytes that come in pieces of one size: documents as text, and reasons.
    private func all(_ source: any DocumentSource, in bytes: [UInt8], pieces: Int) throws -> [String] {
        var source = source
        var found: [String] = []
        func add(_ document: SourceDocument) {
            let collection = document.collection.map { "\($0) " } ?? ""
            switch document.content {
            case .success(let content):
                found.append("\(collection)\(document.place): \(ExtendedJSONWriter.text(of: .document(content)))")
            case .failure(let problem): found.append("\(collection)\(document.place)! \(problem.reason)")
            }
        }
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            source.add(Array(bytes[start..<min(bytes.count, start + pieces)]))
            while let document = try source.next() { add(document) }
        }
        while let document = try source.last() { add(document) }
        return found
    }

    /// The same, however the bytes come in.
    private func all(_ source: any DocumentSource, in bytes: [UInt8]) throws -> [String] {
        let whole = try all(source, in: bytes, pieces: max(1, bytes.count))
        for pieces in [1, 2, 3, 7, 64] { expectEqual(try all(source, in: bytes, pieces: pieces), whole) }
        return whole
    }

    private func refusal(_ source: any DocumentSource, in bytes: [UInt8]) -> String {
        do { return "read as \(try all(source, in: bytes))" } catch { return "\(error)" }
    }

    // MARK: JSON

    @Test(arguments: [
        "{\"a\":1}\n{\"a\":\"} {\"}\n", "\n {\"a\":1}\n\n{\"a\": \"} {\"}", "[{\"a\":1},\n{\"a\":\"} {\"}]\n",
        "\u{FEFF}{\"a\":1}{\"a\":\"} {\"}", "[ {\"a\":1} , {\"a\":\"} {\"} ]",
    ])
    func documentsComeOneALineOrInAnArray(text: String) throws {
        let found = try all(JSONSource(), in: Array(text.utf8))
        expectEqual(found.map { $0.drop { $0 != "{" } }, ["{\"a\":1}", "{\"a\":\"} {\"}"])
    }

    @Test func documentsMayTakeSeveralLines() throws {
        let text = "{\n\t\"a\": [\n{\"b\": \"x\\\"\"}\n]\n}\n{\n\t\"a\": 2\n}\n"
        expectEqual(
            try all(JSONSource(), in: Array(text.utf8)), [#"line 1: {"a":[{"b":"x\""}]}"#, #"line 6: {"a":2}"#])
    }

    @Test func aLineThatIsNoDocumentCostsItselfAlone() throws {
        let text = "{\"a\":1}\n{\"a\": tru\n{\"a\":2}\nnothing\n{\"a\":3}\n{\"a\":\"cut\n{\"a\":4}\n{\"a\":"
        let found = try all(JSONSource(), in: Array(text.utf8))
        expectEqual(
            found.filter { !$0.contains("!") }.map { $0.drop { $0 != "{" } },
            ["{\"a\":1}", "{\"a\":2}", "{\"a\":3}", "{\"a\":4}"])
        expectEqual(
            found.filter { $0.contains("!") }.map { $0.prefix(7) }, ["line 2!", "line 4!", "line 6!", "line 8!"])
    }

    @Test func anArrayThatIsNoneEndsWithItsLine() {
        expectEqual(
            refusal(JSONSource(), in: Array("[{\"a\":1}\n, x]".utf8)), "line 2: expected a document or ], came \"x\"")
        expectEqual(refusal(JSONSource(), in: Array("[{\"a\":1}".utf8)), "line 1: expected ], came the end of the file")
    }

    // MARK: BSON

    @Test func documentsInBSONComeOneBehindTheOther() throws {
        let one = try BSONWriter.bytes(of: ["a": 1])
        // What its length says is there, and it is no document.
        let broken: [UInt8] = [8, 0, 0, 0, 0x0D, UInt8(ascii: "a"), 0, 0]
        expectEqual(
            try all(BSONSource(), in: one + broken + one),
            [
                "document 1: {\"a\":1}", "document 2! a: expected a value of a realm, came JavaScript code at byte 7",
                "document 3: {\"a\":1}",
            ])
        expectEqual(
            refusal(BSONSource(), in: one + one.dropLast()),
            "byte 12: expected the rest of a document, came the end of the file after 11 bytes")
        expectEqual(
            refusal(BSONSource(), in: one + [0xFF, 0xFF, 0xFF, 0x7F]),
            "byte 12: expected a BSON document of 5 to 16777216 bytes, came a length of 2147483647")
    }

    @Test func anArchiveHasTheDocumentsOfItsCollections() throws {
        let end: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]
        func heading(_ collection: BSONValue, of database: BSONValue = "live", eof: BSONValue = false) throws -> [UInt8]
        {
            try BSONWriter.bytes(of: ["db": database, "collection": collection, "EOF": eof, "CRC": 0])
        }
        let (dog, cat) = (try BSONWriter.bytes(of: ["_id": 1]), try BSONWriter.bytes(of: ["_id": 2]))
        var bytes = ArchiveSource.magic
        bytes += try BSONWriter.bytes(of: ["concurrent_collections": 4, "version": "0.1"])
        bytes += try BSONWriter.bytes(of: ["db": "live", "collection": "Dog", "metadata": "{}"]) + end
        bytes += try heading("Dog") + dog + end
        bytes += try heading("Cat") + cat + cat + end
        bytes += try heading("system.users", of: "admin") + cat + end
        bytes += try heading("Dog") + dog + end
        bytes += try heading("Dog", eof: true) + end + heading("Cat", eof: true) + end
        expectEqual(
            try all(ArchiveSource(), in: bytes),
            [
                "Dog Dog, document 1: {\"_id\":1}", "Cat Cat, document 1: {\"_id\":2}",
                "Cat Cat, document 2: {\"_id\":2}",
                "Dog Dog, document 2: {\"_id\":1}",
            ])
        expectTrue(refusal(ArchiveSource(), in: bytes.dropLast(4)).contains("came the end of the file"))
        expectTrue(refusal(ArchiveSource(), in: dog + dog).contains("expected an archive of mongodump"))
    }

    // MARK: Rows

    @Test func rowsHaveTheTypesOfTheirHeadingsAndProperties() throws {
        let text = """
            _id,name,zip,address.city,born.date(),tags
            1,"Ann ""A"", esq.",007,Rome,2024-02-29T12:00:00Z,x\r
            \n2,,"",
            3,"two
            lines",008,,not a date,y
            4,5,9,,,7.5
            """
        expectEqual(
            try all(CSVSource(types: ["_id": .int64, "zip": .string]), in: Array(text.utf8)),
            [
                #"line 2: {"_id":1,"name":"Ann \"A\", esq.","zip":"007","address":{"city":"Rome"},"born":{"$date":"2024-02-29T12:00:00Z"},"tags":"x"}"#,
                "line 4! expected 6 cells, came 4",
                "line 5! born: expected a value of type date, came \"not a date\"",
                #"line 7: {"_id":4,"name":5,"zip":"9","tags":7.5}"#,
            ])
    }

    @Test func headingsThatCannotBeMeantAreRefused() {
        expectTrue(refusal(CSVSource(), in: Array("a,a\n1,2\n".utf8)).contains("the property a stands twice"))
        expectTrue(refusal(CSVSource(), in: Array("a.tree()\n1\n".utf8)).contains("came tree()"))
        expectTrue(refusal(CSVSource(), in: Array("a\n\"b".utf8)).contains("expected a closing quotation mark"))
    }

    @Test func everyTypeOfAColumnIsRead() throws {
        let text = """
            a.int32(),b.int64(),c.double(),d.decimal(),e.boolean(),f.objectid(),g.uuid(),h.binary(base64),i.string()
            1,2,3,4.50,true,0000000000000001000000ab,00000000-0000-0000-0000-000000000001,AQI=,5
            """
        let found = try all(CSVSource(), in: Array(text.utf8))
        expectEqual(
            found,
            [
                #"line 2: {"a":1,"b":2,"c":3.0,"d":{"$numberDecimal":"4.50"},"e":true,"f":{"$oid":"0000000000000001000000ab"},"#
                    + #""g":{"$uuid":"00000000-0000-0000-0000-000000000001"},"h":{"$binary":{"base64":"AQI=","subType":"00"}},"i":"5"}"#
            ])
    }

    // MARK: Files

    @Test(arguments: ["Dog", "../../x", "Zoë.b", "a%2Fb", ".", "", "a b\u{0}"])
    func everyClassHasAFileThatNamesTheClassAlone(className: String) {
        let name = ClassFile.name(ofClass: className)
        expectTrue(name.utf8.allSatisfy { $0 != 0x2F && $0 != 0x2E && $0 > 0x20 && $0 < 0x7F }, "\(name)")
        expectEqual(ClassFile.className(ofFile: name), className)
    }

    @Test func aSignThatBeginsNoCodeStandsForItself() {
        expectEqual(ClassFile.className(ofFile: "50%"), "50%")
        expectEqual(ClassFile.className(ofFile: "%zz%2"), "%zz%2")
    }

    // MARK: Surveys

    @Test func aSurveySaysWhatTypesThereAre() {
        var survey = FieldSurvey()
        survey.add(["_id": 1, "tags": ["a", "b"]])
        survey.add(["_id": "x", "tags": ["a", 1]])
        survey.add(["_id": "y"])
        expectEqual(
            survey.fields.map { $0.text(of: survey.documents) },
            ["_id: string (2), int (1)", "tags: array of mixed (1), array of string (1)"])
        for number in 0..<1_100 { survey.add([ByteString("f\(number)"): 1]) }
        expectTrue(survey.isCut && survey.fields.count == 1_000)
    }
}

import Changesets
import Documents
import ExtendedJSON
import TestSupport
import Testing

/// Files that are no documents, or not all of them: what is whole comes, what is not is named with its place and what was expected, and nothing traps
/// or goes on for ever.
@Suite(.hangGuard) struct BrokenFileTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var format: Format
        var bytes: [UInt8]
        /// How many documents come.
        var documents: Int
        /// The beginnings, or parts, of what is said of the others, in their order.
        var rejects: [String]
        /// Why the file ends early; nil: it does not.
        var end: String?
        var testDescription: String { "\(format): \(name)" }

        init(
            _ format: Format, _ name: String, _ bytes: [UInt8], documents: Int = 0, rejects: [String] = [],
            end: String? = nil
        ) {
            self.name = name
            self.format = format
            self.bytes = bytes
            self.documents = documents
            self.rejects = rejects
            self.end = end
        }
    }

    enum Format: Sendable { case bson, archive, json, csv }

    // MARK: Bytes

    private static func int32(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: UInt32(truncatingIfNeeded: value) >> (8 * UInt32($0))) }
    }

    /// A document of elements, whose length is true unless it is given.
    private static func document(_ elements: [UInt8], length: Int? = nil, end: UInt8 = 0) -> [UInt8] {
        int32(length ?? elements.count + 5) + elements + [end]
    }

    private static func element(_ type: UInt8, _ name: String = "a", _ value: [UInt8]) -> [UInt8] {
        [type] + Array(name.utf8) + [0] + value
    }

    private static let good = document(element(0x10, "_id", int32(1)))

    private static func nested(_ type: UInt8, _ depth: Int) -> [UInt8] {
        (0..<depth).reduce(document([])) { inner, _ in document(element(type, "0", inner)) }
    }

    private static func heading(_ collection: String, _ more: [UInt8] = []) -> [UInt8] {
        func string(_ text: String) -> [UInt8] { int32(text.utf8.count + 1) + Array(text.utf8) + [0] }
        return document(element(0x02, "db", string("live")) + element(0x02, "collection", string(collection)) + more)
    }

    private static let end: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]

    /// Archive of the parts that are given.
    private static func archive(_ parts: [UInt8]...) -> [UInt8] {
        ArchiveSource.magic + document([]) + end + parts.flatMap { $0 }
    }

    // MARK: Cases

    static let bson: [Case] = [
        Case(.bson, "nothing", []),
        Case(.bson, "the beginning of a length", [22, 0, 0], end: "byte 0: expected the rest of a document"),
        Case(
            .bson, "a length of 4", int32(4),
            end: "byte 0: expected a BSON document of 5 to 16777216 bytes, came a length of 4"),
        Case(.bson, "a length below nothing", good + int32(-5), documents: 1, end: "byte 14: expected a BSON document"),
        Case(
            .bson, "a length beyond all files", good + int32(Int(Int32.max)), documents: 1,
            end: "came a length of 2147483647"),
        Case(
            .bson, "a document that is cut off", good + good.dropLast(3), documents: 1,
            end: "byte 14: expected the rest of a document, came the end of the file after 11 bytes"),
        Case(
            .bson, "an inner length beyond the outer",
            good + document(element(0x03, "a", document([], length: 99))) + good,
            documents: 2, rejects: ["document 2: a: expected a document of 5 to"]),
        Case(
            .bson, "an inner length that leaves bytes over", document(element(0x03, "a", document([]) + [0x10, 0x20])),
            rejects: ["document 1: "]),
        Case(
            .bson, "a string longer than its document", document(element(0x02, "a", int32(99) + [0])),
            rejects: ["document 1: a: expected a string of at most"]),
        Case(
            .bson, "a string of a length below nothing", document(element(0x02, "a", int32(-1) + [0])),
            rejects: ["document 1: a: expected a string of at most"]),
        Case(
            .bson, "a string without its end", document(element(0x02, "a", int32(2) + [0x61, 0x62])),
            rejects: ["document 1: a: expected a zero byte at the end of a string"]),
        Case(
            .bson, "a string that is no text", document(element(0x02, "a", int32(2) + [0xFF, 0])),
            rejects: ["document 1: a: expected text in UTF-8"]),
        Case(
            .bson, "a name without an end", document([0x10, 0x61, 0x61, 0x61]),
            rejects: ["document 1: expected a zero byte at the end of a name"]),
        Case(
            .bson, "a document without its end", document(element(0x10, "a", int32(1)), end: 7),
            rejects: ["document 1: expected a zero byte at the end of a document"]),
        Case(
            .bson, "a key that stands twice", document(element(0x10, "a", int32(1)) + element(0x10, "a", int32(2))),
            rejects: ["document 1: a: the key stands twice"]),
        Case(
            .bson, "a type that there is not", document(element(0x20, "a", int32(1))),
            rejects: ["document 1: a: expected a type of BSON, came the byte 32"]),
        Case(
            .bson, "code", document(element(0x0D, "a", int32(1) + [0])),
            rejects: ["document 1: a: expected a value of a realm, came JavaScript code"]),
        Case(
            .bson, "a pointer", document(element(0x0C, "a", int32(1) + [0] + [UInt8](repeating: 0, count: 12))),
            rejects: ["document 1: a: expected a value of a realm, came a DBPointer"]),
        Case(
            .bson, "a bool of 2", document(element(0x08, "a", [2])),
            rejects: ["document 1: a: expected a bool, 0 or 1"]),
        Case(
            .bson, "binary longer than its document", document(element(0x05, "a", int32(64) + [0, 1])),
            rejects: ["document 1: a: expected a binary value of at most"]),
        Case(
            .bson, "binary of the old form without a length", document(element(0x05, "a", int32(2) + [2, 1, 1])),
            rejects: ["document 1: a: expected a second length"]),
        Case(
            .bson, "an object id that is cut off", document(element(0x07, "a", [1, 2, 3])),
            rejects: ["document 1: a: expected 12 bytes"]),
        Case(
            .bson, "documents 10,000 deep", good + nested(0x03, 10_000) + good, documents: 2,
            rejects: ["expected documents and arrays nested at most 128 deep"]),
        Case(
            .bson, "arrays 10,000 deep", nested(0x04, 10_000),
            rejects: ["expected documents and arrays nested at most 128 deep"]),
        Case(
            .bson, "more values than memory is for",
            document(element(0x04, "a", document(Array(repeating: [0x0A, 0], count: 2_000_000).flatMap { $0 }))),
            rejects: ["expected at most 1000000 values"]),
    ]

    static let archives: [Case] = [
        Case(.archive, "another file", good + good, end: "byte 0: expected an archive of mongodump"),
        Case(.archive, "nothing but its first bytes", ArchiveSource.magic, end: "came the end of the file"),
        Case(.archive, "a prelude without an end", ArchiveSource.magic + document([]), end: "came the end of the file"),
        Case(
            .archive, "a part that is cut off", archive(heading("Dog") + good + good.dropLast()), documents: 1,
            end: "expected the rest of a document, came the end of the file after 13 bytes"),
        Case(
            .archive, "a part without an end", archive(heading("Dog") + good), documents: 1,
            end: "came the end of the file"),
        Case(
            .archive, "a part without a heading", archive(good + end),
            end: "expected the heading of a part, with db and collection"),
        Case(
            .archive, "a heading that is no document", archive(document(element(0x20, "a", int32(1)))),
            end: "expected a type of BSON, came the byte 32"),
        Case(.archive, "nothing but ends", ArchiveSource.magic + Array(repeating: end, count: 100_000).flatMap { $0 }),
        Case(
            .archive, "parts that come again and again",
            archive(Array(repeating: heading("Dog") + good + end + heading("Cat") + end, count: 1_000).flatMap { $0 }),
            documents: 1_000),
        Case(
            .archive, "an archive within an archive",
            archive(heading("Dog") + good + end) + archive(heading("Dog") + good + end),
            documents: 1, end: "expected a BSON document of 5 to 16777216 bytes"),
        Case(
            .archive, "a document that is none, among others",
            archive(heading("Dog") + good + document(element(0x0D, "a", int32(1) + [0])) + good + end), documents: 2,
            rejects: ["Dog, document 2: a: expected a value of a realm, came JavaScript code"]),
    ]

    static let json: [Case] = [
        Case(.json, "nothing", []),
        Case(.json, "an object that is cut off", Array("{\"a\":1}\n{\"a\":".utf8), documents: 1, rejects: ["line 2: "]),
        Case(
            .json, "an array that is cut off", Array("[{\"a\":1},".utf8), documents: 1,
            end: "expected ], came the end of the file"),
        Case(
            .json, "arrays a million deep", Array(("{\"a\":" + String(repeating: "[", count: 1_000_000)).utf8),
            rejects: ["expected objects and arrays nested at most 128 deep"]),
        Case(
            .json, "objects 100,000 deep, closed",
            Array((String(repeating: "{\"a\":", count: 100_000) + "1" + String(repeating: "}", count: 100_000)).utf8),
            rejects: ["expected objects and arrays nested at most 128 deep"]),
        Case(
            .json, "bytes that are no text", [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D],
            rejects: ["line 1: expected valid UTF-8"]),
        Case(.json, "zeros", [UInt8](repeating: 0, count: 4_096), rejects: ["line 1: "]),
        Case(
            .json, "a key that stands twice", Array("{\"a\":1,\"a\":2}".utf8),
            rejects: ["line 1: a: expected every key once"]),
        Case(
            .json, "an object id that is none", Array("{\"a\":{\"$oid\":\"7\"}}".utf8),
            rejects: ["line 1: a.$oid: expected $oid with 24"]),
        Case(
            .json, "a number that is none", Array("{\"a\":1e999}".utf8),
            rejects: ["line 1: a: expected a number that a double can hold"]),
        Case(
            .json, "more values than memory is for",
            Array(("{\"a\":[" + String(repeating: "0,", count: 1_200_000) + "0]}").utf8), rejects: ["values"]),
    ]

    static let rows: [Case] = [
        Case(.csv, "nothing", []),
        Case(
            .csv, "a quotation mark that stays open", Array("a,b\n1,2\n3,\"4\n".utf8), documents: 1,
            end: "line 3: expected a closing quotation mark"),
        Case(
            .csv, "rows of other lengths", Array("a,b\n1\n1,2\n1,2,3\n".utf8), documents: 1,
            rejects: ["line 2: expected 2 cells, came 1", "line 4: expected 2 cells, came 3"]),
        Case(.csv, "a type that there is not", Array("a.float128()\n1\n".utf8), end: "line 1: "),
        Case(
            .csv, "cells that are not of their type",
            Array("a.int32(),b.date()\nx,2024-01-01T00:00:00Z\n1,yesterday\n".utf8),
            rejects: ["line 2: a: expected a value of type int32", "line 3: b: expected a value of type date"]),
    ]

    // MARK: Reading

    private func source(_ format: Format) -> any DocumentSource {
        switch format {
        case .bson: BSONSource()
        case .archive: ArchiveSource()
        case .json: JSONSource()
        case .csv: CSVSource()
        }
    }

    @Test(arguments: bson + archives + json + rows) func whatIsBrokenIsNamed(_ given: Case) {
        // In pieces of other sizes the same, as far as that does not take long.
        let sizes = given.bytes.count > 4_096 ? [65_536] : [1, 7, 65_536]
        for size in sizes {
            var source = source(given.format)
            var documents = 0
            var rejects: [String] = []
            var end: String?
            func take(_ found: SourceDocument) {
                switch found.content {
                case .success: documents += 1
                case .failure(let problem): rejects.append("\(found.place): \(problem.reason)")
                }
            }
            do {
                for start in stride(from: 0, to: given.bytes.count, by: size) {
                    source.add(Array(given.bytes[start..<min(start + size, given.bytes.count)]))
                    while let found = try source.next() { take(found) }
                }
                while let found = try source.last() { take(found) }
            } catch {
                end = "\(error)"
            }
            expectEqual(documents, given.documents, "in pieces of \(size)")
            expectTrue(
                rejects.count == given.rejects.count && zip(rejects, given.rejects).allSatisfy { $0.contains($1) },
                "\(rejects)")
            expectTrue(given.end.map { end?.contains($0) == true } ?? (end == nil), "\(end ?? "no error")")
        }
    }
}

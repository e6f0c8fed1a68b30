import Changesets
import ExtendedJSON
import RealmState
import SeededRandom
import SyncModel
import TestSupport
import Testing

@testable import Documents

/// What comes of documents of several realms: values, groups and sorts meet as if all were of one.
@Suite struct SeveralRealmsTests {
    private static func documents(_ random: inout SeededGenerator, _ count: Int) -> [BSONDocument] {
        (0..<count).map { key in
            [
                "_id": BSONValue(Int64(key)), "kind": BSONValue("k\(random.below(5))"),
                "n": random.below(3) == 0 ? .double(Double(random.below(9)) / 2) : BSONValue(Int64(random.below(9))),
            ]
        }
    }

    /// Groups that are made of one half of the documents and then of the other are those of a plain interpreter on all of them.
    @Test(arguments: 0..<8 as Range<UInt64>) func groupsOfSeveralRealmsMeet(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let realms = (0..<4).map { _ in Self.documents(&random, 1 + random.below(30)) }
        var run = PipelineRun(
            try Pipeline([
                [
                    "$group": [
                        "_id": "$kind", "count": ["$sum": 1], "sum": ["$sum": "$n"], "mean": ["$avg": "$n"],
                        "least": ["$min": "$n"], "most": ["$max": "$n"], "first": ["$first": "$_id"],
                        "ids": ["$push": "$_id"],
                    ]
                ], ["$sort": ["_id": 1]],
            ]))
        for document in realms.joined() { try run.take(document) }
        let found = try run.finish()
        let byKind = Dictionary(grouping: realms.joined()) { $0["kind"]?.string ?? "" }.sorted { $0.key < $1.key }
        expectEqual(found.map { $0["_id"]?.string }, byKind.map(\.key))
        for (group, (_, documents)) in zip(found, byKind) {
            let numbers = documents.map { document in
                if case .double(let number)? = document["n"] { number } else { Double(document["n"]?.integer ?? 0) }
            }
            func number(_ name: ByteString) -> Double? {
                switch group[name] {
                case .double(let number)?: number
                case let value: value?.integer.map { Double($0) }
                }
            }
            let sum = numbers.reduce(0, +)
            expectEqual(group["count"]?.integer, Int64(documents.count))
            expectTrue(number("sum") == sum && number("mean") == sum / Double(documents.count), "\(group)")
            expectTrue(number("least") == numbers.min() && number("most") == numbers.max(), "\(group)")
            expectEqual(group["first"], documents.first?["_id"])
            expectEqual(group["ids"], .array(documents.compactMap { $0["_id"] }))
        }
    }

    /// The bounds are those of all realms together.
    @Test func boundsAreOfAllRealmsTogether() throws {
        var values = try DistinctValues(of: "kind", maxBytes: 200)
        try values.take(["kind": "a"])
        try values.take(["kind": "a"])
        #expect(throws: DocumentError.self) {
            for number in 0..<10 { try values.take(["kind": BSONValue("k\(number)")]) }
        }
    }

    @Test func aFieldIsCheckedInEachRealm() throws {
        var state = RealmState()
        _ = try state.record { (transaction: inout RecordingTransaction) throws(RecordingError) in
            try transaction.createTable("Note", key: KeySchema(name: "_id", type: .int, nullable: false))
        }
        let declared = DeclaredSchema([
            SchemaElement(className: "Note", type: "object(_id: int)"),
            SchemaElement(className: "Note", property: "place", type: "link Place"),
            SchemaElement(className: "Place", type: "embedded"),
            SchemaElement(className: "Place", property: "city", type: "string"),
        ])
        let values = try DistinctValues(of: "place.city")
        let own = try DocumentMapping(schema: state.schema).table("Note")
        #expect(throws: DocumentError.self) { try values.check(in: own, schema: state.schema) }
        let whole = declared.schema(declaring: "Note", in: state.schema)
        try values.check(in: DocumentMapping(schema: whole).table("Note"), schema: whole)
        expectTrue(declared.hasDocuments(of: "Note") && !declared.hasDocuments(of: "Place"))
    }
}

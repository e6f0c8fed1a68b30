import Changesets
import Documents
import ExtendedJSON
import MergeConformance
import RealmState
import SeededRandom
import TestSupport
import Testing

/// The changes of a realm's versions, replayed from nothing by somebody who has only their JSON.
@Suite struct ChangeReplayTests {
    @Test(arguments: seedRanges(6, of: 8), [false, true])
    func changesLeadFromNothingToEveryState(seeds: Range<UInt64>, withDocuments: Bool) throws {
        for seed in seeds {
            var state = try AllTypes.state()
            var random = SeededGenerator(seed: seed &+ 77)
            var writes = try RandomWrites(state.schema, seed: seed)
            var plain = PlainDocuments(schema: state.schema)
            var replayed = ReplayedDocuments()
            for step in 0..<16 {
                let comment = "seed \(seed) step \(step)"
                let before = state
                let changeset: Changeset
                if random.below(8) == 0, let table = state.schema.table("Thing"), table.columns.count > 20 {
                    let column = table.columns[random.below(table.columns.count)]
                    let (_, bytes) = try state.record {
                        (transaction: inout RecordingTransaction) throws(RecordingError) in
                        try transaction.eraseColumn("Thing", column.name)
                    }
                    changeset = try Changeset(parsing: bytes)
                    writes = try RandomWrites(state.schema, seed: seed &+ UInt64(step) &* 1_000)
                    plain = Self.plain(state)
                } else {
                    var batch = WriteBatch([])
                    var after = plain
                    for _ in 0...random.below(4) {
                        let write = writes.write(after)
                        guard after.perform(write) else { break }
                        batch.writes.append(write)
                    }
                    guard let written = try? batch.record(on: &state, .test) else { continue }
                    changeset = written.changeset
                    plain = after
                }
                let changes = DocumentChanges.of(
                    changeset, before: before, after: state, withDocuments: withDocuments)
                expectEqual(changes.map(\.index), Array(changes.indices), Comment(rawValue: comment))
                for change in changes {
                    let text = ExtendedJSONWriter.bytes(of: .document(change.body))
                    let body = try #require(try ExtendedJSONParser.parse(text).document)
                    expectTrue(replayed.apply(body), "\(comment): \(String(decoding: text, as: UTF8.self))")
                    if withDocuments, let told = change.document, let now = replayed.documents["Thing"]?[change.key],
                        let table = state.schema.table("Thing")
                    {
                        expectEqual(now.differences(from: told, table), [], "the document of \(comment)")
                    }
                }
                expectEqual(Self.differences(state, replayed), [], Comment(rawValue: comment))
            }
        }
    }

    @Test func aClassAndAFieldThatGoAreTold() throws {
        var state = try TaskRealm.make()
        var replayed = ReplayedDocuments()
        func tell(_ changeset: Changeset, _ before: RealmState) throws -> [String] {
            try DocumentChanges.of(changeset, before: before, after: state).map { change in
                let text = ExtendedJSONWriter.bytes(of: .document(change.body))
                expectTrue(replayed.apply(try ExtendedJSONParser.parse(text).document ?? [:]))
                return change.operation == .insert ? "insert" : String(decoding: text, as: UTF8.self)
            }
        }
        var before = state
        let written = try state.write(#"[{"insert":"Task","document":{"_id":1,"title":"t","n":1}}]"#)
        try expectEqual(tell(written.changeset, before), ["insert"])
        before = state
        let (_, bytes) = try state.record { (transaction: inout RecordingTransaction) throws(RecordingError) in
            try transaction.eraseColumn("Task", "n")
            try transaction.eraseTable("Note")
        }
        try expectEqual(
            tell(Changeset(parsing: bytes), before),
            [
                #"{"class":"Task","operation":"dropFields","removed":["n"]}"#, #"{"class":"Note","operation":"drop"}"#,
            ])
        expectTrue(replayed.documents["Task"]?[BSONValue(Int64(1))]?["n"] == nil)
        expectEqual(Self.differences(state, replayed, of: "Task"), [])
    }

    @Test func keysWithPointsAreToldWithTheWholeDictionary() throws {
        var state = try TaskRealm.make()
        try state.write(#"[{"insert":"Task","document":{"_id":1,"title":"t"}}]"#)
        let mapping = DocumentMapping(schema: state.schema)
        let table = try mapping.table("Task")
        let column = try #require(table.column("meta"))
        let address = ObjectAddress("Task", .int(1))
        let before = state
        let changeset = try state.write(#"[{"update":"Task","id":1,"set":{"meta":{"k":1}}}]"#).changeset
        var (old, new) = (try #require(before.object(address)), try #require(state.object(address)))
        old[column.id] = .dictionary(["a.b": .int(1), "k": .int(2)])
        new[column.id] = .dictionary(["a.b": .int(2), "k": .int(2)])
        let changes = DocumentChanges.of(
            changeset, before: Objects(schema: before.schema, objects: [address: old]),
            after: Objects(schema: state.schema, objects: [address: new]))
        expectEqual(changes.first?.set, ["meta": ["a.b": BSONValue(Int64(2)), "k": BSONValue(Int64(2))]])
        expectEqual(changes.first?.removed, [])
    }

    private struct Objects: DocumentObjects {
        var schema: Schema
        var objects: [ObjectAddress: StoredObject]
        func object(_ address: ObjectAddress) -> StoredObject? { objects[address] }
    }

    /// The state as documents that writes can be made for.
    private static func plain(_ state: RealmState) -> PlainDocuments {
        var plain = PlainDocuments(schema: state.schema)
        guard let table = state.schema.table("Thing") else { return plain }
        let mapping = DocumentMapping(schema: state.schema)
        for (key, object) in state.objects(of: "Thing") {
            plain["Thing", DocumentMapping.value(of: key)] = mapping.document(of: object, key: key, table)
        }
        return plain
    }

    private static func differences(
        _ state: RealmState, _ replayed: ReplayedDocuments, of name: ByteString = "Thing"
    ) -> [String] {
        guard let table = state.schema.table(name) else { return ["no class"] }
        let mapping = DocumentMapping(schema: state.schema)
        var left = replayed.documents[name] ?? [:]
        var found: [String] = []
        for (key, object) in state.objects(of: name) {
            let document = mapping.document(of: object, key: key, table)
            guard let told = left.removeValue(forKey: DocumentMapping.value(of: key)) else {
                found.append("\(key) is not there")
                continue
            }
            found += document.differences(from: told, table)
        }
        return found + left.keys.map { "\($0) is there" }
    }
}

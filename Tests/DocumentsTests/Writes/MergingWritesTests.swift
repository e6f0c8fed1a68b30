import Changesets
import Documents
import ExtendedJSON
import Merge
import RealmState
import TestSupport
import Testing

/// Writes of documents meet what a device has done offline.
@Suite struct MergingWritesTests {
    /// Merges a batch with another one, of a device that knew nothing of it, in both orders of time.
    ///
    /// - Returns: the fields that both sides end with.
    private func merged(
        _ operators: String, with device: String, _ fields: ByteString...
    ) throws -> [String] {
        var base = try TaskRealm.make()
        try base.write(
            #"[{"insert":"Task","document":{"_id":1,"title":"t","n":10,"tags":["a","b","c"],"seen":[1,2],"meta":{"k":1},"place":{"city":"Oslo","visits":2}}}]"#
        )
        return try [(UInt64(1), UInt64(2)), (2, 1)].map { times in
            var (server, client) = (base, base)
            let written = try server.write(#"[{"update":"Task","id":1,"apply":{\#(operators)}}]"#)
            let offline = try client.write(#"[{"update":"Task","id":1,"apply":{\#(device)}}]"#)
            let result = try MergeEngine().transform(
                incoming: [
                    IncomingChangeset(
                        version: 2, lastIntegratedLocalVersion: 1, originTimestamp: times.1, originFileIdent: 2,
                        changeset: offline.changeset)
                ],
                over: [
                    LocalChangeset(
                        version: 2, originTimestamp: times.0, originFileIdent: 1, changeset: written.changeset)
                ], currentLocalVersion: 2)
            for changeset in result.incoming { try server.apply(changeset) }
            try client.apply(result.modifiedLocal.first { $0.version == 2 }?.changeset ?? written.changeset)
            expectEqual(StateDump.canonical(of: server), StateDump.canonical(of: client))
            let mapping = DocumentMapping(schema: server.schema)
            let object = try #require(server.object(ObjectAddress("Task", .int(1))))
            let document = mapping.document(of: object, key: .int(1), try mapping.table("Task"))
            return fields.map { document[$0].map { ExtendedJSONWriter.text(of: $0) } ?? "-" }.joined(separator: " ")
        }
    }

    @Test func incrementsAddUp() throws {
        expectEqual(try merged(#""$inc":{"n":5}"#, with: #""$inc":{"n":7}"#, "n"), ["22", "22"])
        expectEqual(
            try merged(#""$inc":{"place.visits":5}"#, with: #""$inc":{"place.visits":7}"#, "place"),
            Array(repeating: #"{"city":"Oslo","visits":14}"#, count: 2))
    }

    @Test func whatIsPushedOnBothSidesStays() throws {
        let lists = try merged(#""$push":{"tags":"x"}"#, with: #""$push":{"tags":"y"}"#, "tags")
        expectEqual(Set(lists), [#"["a","b","c","x","y"]"#, #"["a","b","c","y","x"]"#])
        // A list that is set as a whole merges, too: only what differs is written.
        let whole = try merged(
            #""$set":{"tags":["a","b","c","x"]}"#, with: #""$push":{"tags":{"$each":["y"],"$position":0}}"#, "tags")
        expectEqual(whole, Array(repeating: #"["y","a","b","c","x"]"#, count: 2))
        expectEqual(
            try merged(#""$pull":{"tags":"b"}"#, with: #""$push":{"tags":"y"}"#, "tags"),
            Array(repeating: #"["a","c","y"]"#, count: 2))
        expectEqual(
            try merged(#""$addToSet":{"seen":3}"#, with: #""$addToSet":{"seen":4}"#, "seen"),
            Array(repeating: "[1,2,3,4]", count: 2))
    }

    @Test func fieldsApartFromEachOtherBothCount() throws {
        expectEqual(
            try merged(#""$set":{"place.city":"Rome"}"#, with: #""$inc":{"place.visits":1}"#, "place"),
            Array(repeating: #"{"city":"Rome","visits":3}"#, count: 2))
        expectEqual(
            try merged(#""$set":{"meta.a":1}"#, with: #""$set":{"meta.b":2}"#, "meta"),
            Array(repeating: #"{"a":1,"b":2,"k":1}"#, count: 2))
        // An object that is set as a whole writes only the field that differs.
        expectEqual(
            try merged(#""$set":{"place":{"city":"Rome","visits":2}}"#, with: #""$inc":{"place.visits":1}"#, "place"),
            Array(repeating: #"{"city":"Rome","visits":3}"#, count: 2))
    }
}

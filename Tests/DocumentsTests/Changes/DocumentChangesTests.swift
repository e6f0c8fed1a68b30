import Changesets
import Documents
import ExtendedJSON
import RealmState
import TestSupport
import Testing

@Suite struct DocumentChangesTests {
    /// What changes look like as text: the operation, the key, what is set and what is removed.
    private func changes(
        _ before: RealmState, _ after: RealmState, _ changeset: Changeset, withDocuments: Bool = false
    ) -> [String] {
        DocumentChanges.of(changeset, before: before, after: after, withDocuments: withDocuments).map { change in
            var text = "\(change.index) \(change.className) \(change.operation.rawValue)"
            text += " \(ExtendedJSONWriter.text(of: change.key))"
            if !change.set.isEmpty { text += " \(ExtendedJSONWriter.text(of: .document(change.set)))" }
            if !change.removed.isEmpty { text += " -\(change.removed)" }
            if let document = change.document { text += " \(document.count) fields" }
            return text
        }
    }

    private func task() throws -> RealmState {
        var state = try TaskRealm.make()
        try state.write(
            #"[{"insert":"Task","document":{"_id":1,"title":"t","n":1,"tags":["a"],"meta":{"k":1,"in":{"a":1,"b":2}},"place":{"city":"Oslo","visits":1}}}]"#
        )
        return state
    }

    @Test func everyKindOfChangeIsTold() throws {
        let before = try task()
        var after = before
        let written = try after.write(
            #"""
            [{"update":"Task","id":1,"apply":{"$inc":{"n":1,"place.visits":1},"$push":{"tags":"b"},"$set":{"meta.new":5,"meta.in.a":3},"$unset":{"meta.k":1}}},
             {"insert":"Task","document":{"_id":2,"title":"u"}},{"insert":"Task","document":{"_id":3,"title":"v"}},{"delete":"Task","id":3}]
            """#)
        let update = #"0 Task update 1 {"n":2,"tags":["a","b"],"meta.in.a":3,"meta.new":5,"place.visits":2} -[meta.k]"#
        expectEqual(changes(before, after, written.changeset), [update, "1 Task insert 2 12 fields"])
        expectEqual(
            changes(before, after, written.changeset, withDocuments: true),
            ["\(update) 12 fields", "1 Task insert 2 12 fields"])
    }

    @Test func whatCancelsOutIsNoChange() throws {
        let before = try task()
        var after = before
        let written = try after.write(
            #"[{"update":"Task","id":1,"apply":{"$inc":{"n":1}}},{"update":"Task","id":1,"apply":{"$inc":{"n":-1}}}]"#)
        expectEqual(written.changeset.instructions.count, 2)
        expectEqual(changes(before, after, written.changeset), [])
    }

    @Test func aDocumentThatIsMadeAnewIsReplaced() throws {
        let before = try task()
        var after = before
        let written = try after.write(
            #"[{"delete":"Task","id":1},{"insert":"Task","document":{"_id":1,"title":"t"}}]"#)
        expectEqual(changes(before, after, written.changeset), ["0 Task replace 1 12 fields"])
        var gone = before
        let deleted = try gone.write(#"[{"update":"Task","id":1,"set":{"n":9}},{"delete":"Task","id":1}]"#)
        expectEqual(changes(before, gone, deleted.changeset), ["0 Task delete 1"])
    }

    @Test func aClassThatGoesIsDropped() throws {
        let before = try task()
        var after = before
        _ = try after.write(#"[{"insert":"Note","document":{}}]"#)
        let withNote = after
        let (_, bytes) = try after.record { (transaction: inout RecordingTransaction) throws(RecordingError) in
            try transaction.eraseTable("Note")
            try transaction.createTable("Note", key: KeySchema(name: "_id", type: .int, nullable: false))
            try transaction.createObject(ObjectAddress("Note", .int(1)))
        }
        expectEqual(
            changes(withNote, after, try Changeset(parsing: bytes)), ["0 Note drop null", "1 Note insert 1 1 fields"])
    }
}

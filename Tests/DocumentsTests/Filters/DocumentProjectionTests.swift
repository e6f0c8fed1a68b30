import Changesets
import Documents
import ExtendedJSON
import Query
import RealmState
import TestSupport
import Testing

@Suite struct DocumentProjectionTests {
    private static let task = #"""
        {"_id":1,"title":"t","n":5,"place":{"city":"Oslo","visits":2},"places":[{"city":"A","visits":1},{"city":"B","visits":2}],"meta":{"a":1,"b":2}}
        """#

    private func shown(_ projection: String) throws -> String {
        let schema = try TaskRealm.make().schema
        let table = try DocumentMapping(schema: schema).table("Task")
        let document = try ExtendedJSONParser.parseDocument(Array(Self.task.utf8))
        let json = try ExtendedJSONParser.parseDocument(Array(projection.utf8))
        let projection = try DocumentProjection(json, of: table, schema: schema)
        let hidden = projection.hidden(of: table)
        let result = projection.applied(to: document)
        // A reader that leaves hidden columns out sees the same.
        let read = BSONDocument(
            document.members.filter { member in !(table.column(member.key).map { hidden.contains($0.id) } ?? false) }
                .map { ($0.key, $0.value) })
        expectEqual(projection.applied(to: read), result)
        return ExtendedJSONWriter.text(of: .document(result))
    }

    static let projections: [(String, String)] = [
        (#"{"title":1}"#, #"{"_id":1,"title":"t"}"#),
        (#"{"title":1,"_id":0}"#, #"{"title":"t"}"#),
        (#"{"_id":1}"#, #"{"_id":1}"#),
        (
            #"{"_id":0}"#,
            #"{"title":"t","n":5,"place":{"city":"Oslo","visits":2},"places":[{"city":"A","visits":1},{"city":"B","visits":2}],"meta":{"a":1,"b":2}}"#
        ),
        (
            #"{"place.city":1,"places.visits":true,"meta.a":1}"#,
            #"{"_id":1,"place":{"city":"Oslo"},"places":[{"visits":1},{"visits":2}],"meta":{"a":1}}"#
        ),
        (
            #"{"place":0,"places.city":false,"meta.a":0,"n":0}"#,
            #"{"_id":1,"title":"t","places":[{"visits":1},{"visits":2}],"meta":{"b":2}}"#
        ),
    ]

    @Test(arguments: projections)
    func projectionsShowWhatTheyName(projection: String, text: String) throws {
        expectEqual(try shown(projection), text)
    }

    static let mistakes: [(String, String)] = [
        (#"{"title":1,"n":0}"#, "n: expected all fields to be shown, or all to be left out"),
        (#"{"nothing":1}"#, "nothing: the class Task has no property \"nothing\""),
        (#"{"title":"x"}"#, "title: expected 1 to show a field or 0 to leave it out, came string"),
        (#"{"tags":{"$slice":1}}"#, "tags: expected 1 to show a field or 0 to leave it out, came object"),
        (#"{"place":1,"place.city":1}"#, #"["place.city"]: expected fields apart from each other"#),
        (#"{"place.city":1,"place":1}"#, "place: expected fields apart from each other"),
    ]

    @Test(arguments: mistakes)
    func mistakesNameTheField(projection: String, message: String) {
        do {
            _ = try shown(projection)
            expectTrue(false, "no error")
        } catch {
            expectEqual((error as? DocumentError)?.description, message)
        }
    }
}

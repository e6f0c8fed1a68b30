import ExtendedJSON
import SyncModel
import TestSupport
import Testing

@testable import Messages

struct PartitionOfWritesTests {
    private func realm(_ writes: String) throws -> RealmName {
        try WriteMessage(
            jsonBody: Array(
                #"{"type": "write", "realm": {"app": "tasks", "partitionKey": "store"}, "writes": \#(writes)}"#.utf8)
        ).realm
    }

    @Test(arguments: [
        (#""nw""#, #""nw""#), (#""ü""#, #""\u00fc""#), ("null", "null"), ("7", #"{"$numberLong":"7"}"#),
        (#"{"$numberInt": "7"}"#, #"{"$numberLong":"7"}"#), (#"{"$numberLong": "7"}"#, #"{"$numberLong":"7"}"#),
        (#"{"$oid": "5f0e1d2c3b4a59687766554f"}"#, #"{"$oid":"5f0e1d2c3b4a59687766554f"}"#),
    ])
    func documentsSayTheirPartition(value: String, partition: String) throws {
        let writes =
            #"[{"insert": "Task", "document": {"_id": 1, "store": \#(value)}}, {"upsert": "Task", "document": {"_id": 2, "store": \#(value)}}]"#
        try expectEqual(realm(writes), RealmName(app: "tasks", partition: partition))
    }

    @Test(arguments: [
        ("[]", "expected writes"), ("7", "expected writes"),
        (#"[{"delete": "Task", "id": 7}]"#, "writes[0] has no document"),
        (#"[{"insert": "Task", "document": {"_id": 1}}]"#, "writes[0] has no store"),
        (#"[{"insert": "Task", "document": {"store": 1.5}}]"#, "writes[0] has a double in store"),
        (
            #"[{"insert": "Task", "document": {"store": "a"}}, {"insert": "Task", "document": {"store": "b"}}]"#,
            #"writes[1] is of partition "b", those before it of "a""#
        ),
    ])
    func whatSaysNoPartitionIsRefused(writes: String, reason: String) throws {
        let error = #expect(throws: MessageError.self) { try realm(writes) }
        expectTrue(error?.reason.hasPrefix(reason) == true, "\(String(describing: error))")
    }

    @Test func aKeyStandsInThePartitionsPlace() {
        for realm in [
            #"{"app": "tasks", "partitionKey": "store", "partition": "nw"}"#, #"{"app": "tasks", "partitionKey": 7}"#,
            #"{"partitionKey": "store"}"#,
        ] {
            #expect(throws: MessageError.self, "\(realm)") {
                try WriteMessage(
                    jsonBody: Array(#"{"realm": \#(realm), "writes": [{"document": {"store": "a"}}]}"#.utf8))
            }
        }
    }
}

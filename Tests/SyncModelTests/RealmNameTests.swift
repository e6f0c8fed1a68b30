import Foundation
import SyncModel
import TestSupport
import Testing

@Suite struct RealmNameTests {
    @Test(arguments: [
        ("store-nw", "\"store-nw\""), ("\"store-nw\"", "\"store-nw\""), ("null", "null"),
        ("{\"$oid\":\"66f0a1b2c3d4e5f601020304\"}", "{\"$oid\":\"66f0a1b2c3d4e5f601020304\"}"),
        ("a\"b", "\"a\\\"b\""), ("caf\u{e9}", "\"caf\\u00e9\""), ("", "\"\""),
    ])
    func aBareWordIsAStringPartition(text: String, partition: String) {
        expectEqual(RealmName.partition(fromText: text), partition)
    }

    @Test func aRealmDecodedFromABareWordIsTheOneThatClientsBind() throws {
        let realm = try JSONDecoder().decode(
            RealmName.self, from: Data(#"{"app": "tasks", "partition": "store-nw"}"#.utf8))
        expectEqual(realm, RealmName(app: "tasks", partition: "\"store-nw\""))
        expectEqual(realm.key, "tasks/partition/\"store-nw\"")
    }

    @Test func topicKeysHaveTwoWordsWhateverTheAppIsCalled() {
        let key = RealmName(app: "com.example.tasks", partition: "null").topicKey
        expectEqual(key.split(separator: ".").count, 2)
        expectTrue(key.hasPrefix("com_example_tasks."))
    }

    @Test func slicesAreStable() {
        // A change here would send every realm of every cluster to another slice.
        let count = SliceCount(8)
        expectEqual(count.map { RealmName(app: "tasks", partition: "\"a\"").slice(of: $0).value }, 5)
    }
}

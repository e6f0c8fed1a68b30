import AMQP
import Changesets
import ExtendedJSON
import SyncModel
import TestSupport
import Testing

@testable import Messages

struct ChangeMessageTests {
    private static let realm = RealmName(app: "tasks", partition: "\"store\"")

    @Test func aChangeIsReadAsItWasWritten() throws {
        let change: BSONDocument = [
            "class": "Task", "operation": "update", "key": 7, "set": ["title": "milk"], "removed": ["meta.k"],
        ]
        let place = ChangePlace(generation: 2, version: 17, index: 3)
        let message = ChangeMessage(
            realm: Self.realm, history: "9c2f01ab", place: place, writtenAt: 77, change: change)
        let text =
            #"{"realm":{"app":"tasks","partition":"\"store\""},"history":"9c2f01ab","generation":2,"version":17,"index":3,"writtenAt":77,"#
            + #""class":"Task","operation":"update","key":7,"set":{"title":"milk"},"removed":["meta.k"]}"#
        expectEqual(String(decoding: message.jsonBody(), as: UTF8.self), text)
        expectEqual(try AMQPMessage(message).decode(ChangeMessage.self), message)
        #expect(throws: (any Error).self) { try ChangeMessage(jsonBody: Array(#"{"class":"Task"}"#.utf8)) }
    }

    @Test func placesAreInTheOrderOfVersions() {
        let texts = ["1.2.0", "1.2.1", "1.2", "1.10.0", "2.1.0"]
        let places = texts.compactMap { ChangePlace($0) }
        expectEqual(places.map(\.description), texts)
        expectEqual(places.sorted(), places)
        for wrong in ["", "1", "1.2.3.4", "1.-2", "1.x.0", "1..0", "1.2.-1", "1.18446744073709551615"] {
            expectTrue(ChangePlace(wrong) == nil, "\(wrong)")
        }
    }

    @Test func aPlaceMaySayItsHistory() throws {
        for text in ["1.2.0", "1.2", "1.2.0@9c2f01ab", "1.2@a"] {
            expectEqual(FeedPlace(text)?.description, text)
        }
        expectEqual(FeedPlace("1.2.0@9c2f01ab")?.history, "9c2f01ab")
        let long = "1.2.0@" + String(repeating: "a", count: 65)
        for wrong in ["", "@a", "1.2.0@", "1.2.0@A", "1.2.0@a@b", "1.x@a", long] {
            expectTrue(FeedPlace(wrong) == nil, "\(wrong)")
        }
    }

    @Test func namesOfClassesMeanNothingInRoutingKeys() {
        func key(_ name: ByteString?) -> String { Topology.changeKey(app: "a", class: name, operation: "insert") }
        expectEqual(key("Task"), "a.Task.insert")
        expectEqual(key("a.b*#"), "a.a%2Eb%2A%23.insert")
        expectEqual(key(nil), "a.%.insert")
        expectTrue(key("%") != key(nil))
        let long = key(ByteString(String(repeating: "é", count: 100)))
        expectTrue(long.utf8.count < 60 && long.hasPrefix("a.%%"))
        expectEqual(Topology.changeKeys(app: "a", class: nil), ["a.#"])
        expectEqual(Topology.changeKeys(app: "a", class: "Task"), ["a.Task.*", "a.%.*"])
    }
}

import AMQP
import Changesets
import ExtendedJSON
import SyncModel
import TestSupport
import Testing

@testable import Messages

struct ChangesMessageTests {
    private static let realm = RealmName(app: "tasks", partition: "\"store\"")

    @Test func changesAreReadAsTheyWereWritten() throws {
        let change: BSONDocument = [
            "class": "Task", "operation": "update", "key": 7, "set": ["title": "milk"], "removed": ["meta.k"],
        ]
        let follows = ChangePredecessors(
            inRealm: ChangePlace(generation: 2, version: 17, index: 2),
            inClass: ChangePlace(generation: 1, version: 9, index: 0))
        func made(_ index: Int, _ follows: ChangePredecessors) -> FeedChange {
            FeedChange(
                realm: Self.realm, history: "9c2f01ab", place: ChangePlace(generation: 2, version: 17, index: index),
                follows: follows, writtenAt: 77, change: change)
        }
        let message = ChangesMessage(
            realm: Self.realm, history: "9c2f01ab", changes: [made(3, follows), made(4, ChangePredecessors())])
        let head = #""realm":{"app":"tasks","partition":"\"store\""},"history":"9c2f01ab","#
        let rest =
            #""writtenAt":77,"class":"Task","operation":"update","key":7,"set":{"title":"milk"},"removed":["meta.k"]}"#
        let first = #""generation":2,"version":17,"index":3,"follows":[2,17,2],"followsInClass":[1,9,0],"# + rest
        let second = #"{"generation":2,"version":17,"index":4,"# + rest
        expectEqual(
            String(decoding: message.jsonBody(), as: UTF8.self), "{\(head)\"changes\":[{\(first),\(second)]}")
        expectEqual(try AMQPMessage(message).decode(ChangesMessage.self), message)
        // A single change, as followers over HTTP are told it.
        expectEqual(String(decoding: message.changes[0].jsonBody(), as: UTF8.self), "{\(head)\(first)")
    }

    @Test(arguments: [
        #"{"class":"Task"}"#, #"{"realm":{"app":"a","partition":"p"},"changes":[]}"#,
        #"{"realm":{"app":"a","partition":"p"},"changes":[7]}"#,
        #"{"realm":{"app":"a","partition":"p"},"changes":[{"generation":1,"version":2,"index":0,"writtenAt":1}]}"#,
    ])
    func whatIsNoChangeIsRefused(body: String) {
        #expect(throws: MessageError.self) { try ChangesMessage(jsonBody: Array(body.utf8)) }
    }

    @Test(arguments: ["7", "[1,2]", "[1,2,3,4]", #"[1,2,"3"]"#, "[1,2,-3]"])
    func whatIsNoPlaceIsRefused(place: String) {
        let change =
            #"{"generation":1,"version":2,"index":0,"follows":\#(place),"writtenAt":1,"operation":"x"}"#
        #expect(throws: MessageError.self) {
            try ChangesMessage(jsonBody: Array(#"{"realm":{"app":"a","partition":"p"},"changes":[\#(change)]}"#.utf8))
        }
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

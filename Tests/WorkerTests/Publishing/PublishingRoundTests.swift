import Messages
import TestSupport
import Testing

@testable import AMQP
@testable import Worker

/// What is published again where the broker has not taken everything.
struct PublishingRoundTests {
    private func publication(_ target: Publication.Target, _ id: String) -> Publication {
        var message = AMQPMessage(body: [])
        message.properties.messageID = id
        return Publication(target, message)
    }

    private func ids(_ publications: [Publication]) -> [String] {
        publications.compactMap(\.message.properties.messageID)
    }

    private let lost = AMQPError(.timeout, "as the test wants it")

    @Test func everyChangeBehindALostOneIsRepeatedAndNothingElse() {
        let publications = [
            publication(.changes(key: "a.B.insert"), "c1"), publication(.outcomes, "o1"),
            publication(.changes(key: "a.B.update"), "c2"), publication(.realms(key: "r"), "r1"),
            publication(.changes(key: "a.C.update"), "c3"), publication(.outcomes, "o2"),
            publication(.changes(key: "a.B.delete"), "c4"), publication(.queue("g"), "q1"),
        ]
        func left(_ failed: Set<String>, attempt: Int = 1) -> [String] {
            ids(
                PublishingRound(
                    publications, publications.map { failed.contains(ids([$0])[0]) ? lost : nil }, attempt: attempt
                ).left)
        }
        expectEqual(left([]), [])
        // Changes arrive in order also where one of them has to come again.
        expectEqual(left(["c2"]), ["c2", "c3", "c4"])
        expectEqual(left(["c1"]), ["c1", "c2", "c3", "c4"])
        expectEqual(left(["c4"]), ["c4"])
        expectEqual(left(["c3", "o1", "o2"]), ["o1", "c3", "o2", "c4"])
        // What is lost of another kind repeats no change.
        expectEqual(left(["o1", "r1"]), ["o1", "r1"])
        // An answer that a gateway asks for again is not repeated.
        let round = PublishingRound([publication(.queue("g"), "q1")], [lost], attempt: 0)
        expectTrue(round.left.isEmpty && round.failures.map(\.isExpendable) == [true])
    }
}

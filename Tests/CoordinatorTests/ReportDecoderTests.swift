import AMQP
import Foundation
import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

@Suite struct ReportDecoderTests {
    private func decode(_ body: String, type: String? = nil) -> OutcomeQueueMessage {
        var message = AMQPMessage(body: Array(body.utf8))
        message.properties.type = type
        return OutcomeQueueMessage(message)
    }

    @Test func aReportFromAShellNamesItsTypeInTheBody() throws {
        let decoded = decode(
            #"{"type":"notified","campaign":"c","realm":{"app":"a","partition":"nw"},"clientFile":4,"at":5}"#)
        guard case .report(.notified(let report), let type) = decoded else {
            Issue.record("found \(decoded)")
            return
        }
        expectTrue(type == "notified" && report.clientFile == 4 && report.realm.partition == "\"nw\"")
    }

    @Test(
        arguments: [
            ("{", nil), ("{}", nil), ("[1]", "found"), ("{}", "changeset"), ("{\"at\":-1}", "tick"),
            ("\u{0}\u{ff}", "outcome"),
            ("{\"campaign\":1}", "notified"),
        ] as [(String, String?)])
    func undecodableReportsArePoisonWithAReason(body: String, type: String?) {
        guard case .poison(let reason) = decode(body, type: type) else {
            // A tick's time is not looked at: it says nothing but that it came.
            expectEqual(type, "tick")
            return
        }
        expectTrue(!reason.isEmpty)
    }

    @Test func anotherContentTypeIsPoison() {
        var message = AMQPMessage(body: [1, 2, 3])
        message.properties.type = "found"
        message.properties.contentType = "application/vnd.sluice"
        guard case .poison = OutcomeQueueMessage(message) else {
            Issue.record("taken")
            return
        }
    }
}

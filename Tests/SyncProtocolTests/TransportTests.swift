import SyncModel
import TestSupport
import Testing

@testable import SyncProtocol

@Suite struct TransportTests {
    private let flexible = "com.mongodb.realm-query-sync#"
    private let partition = "com.mongodb.realm-sync#"

    @Test(arguments: [(2...14, 14), (2...13, 13), (10...10, 10), (14...20, 14), (2...20, 14)])
    func theHighestCommonVersionIsChosen(_ offered: ClosedRange<Int>, _ expected: Int) throws {
        let header = offered.reversed().map { "\(flexible)\($0)" }.joined(separator: ", ")
        let negotiated = try SubprotocolNegotiation.choose(from: [header])
        expectEqual(negotiated.mode, .flexible)
        expectEqual(negotiated.version, ProtocolVersion(expected))
        expectEqual(negotiated.highestOffered, ProtocolVersion(offered.upperBound))
        expectEqual(negotiated.token, "\(flexible)\(expected)")
    }

    @Test func rangesAndForeignTokensAreUnderstood() throws {
        let negotiated = try SubprotocolNegotiation.choose(from: ["chat, \(partition)2-12", "\(partition)9"])
        expectEqual(negotiated.mode, .partition)
        expectEqual(negotiated.version, ProtocolVersion(12))
    }

    @Test(arguments: [
        ([], NegotiationRefusal.missing), ([""], .missing), (["chat"], .missing),
        (["com.mongodb.realm-sync#"], .malformed), (["com.mongodb.realm-sync#x"], .malformed),
        (["com.mongodb.realm-sync#14x"], .malformed), (["com.mongodb.realm-sync#+14"], .malformed),
        (["com.mongodb.realm-sync#014"], .malformed), (["com.mongodb.realm-sync#1"], .malformed),
        (["com.mongodb.realm-sync#12-10"], .malformed), (["com.mongodb.realm-sync#10-"], .malformed),
        (["com.mongodb.realm-sync#10-11-12"], .malformed),
        (["com.mongodb.realm-sync#99999999999999999999"], .malformed),
        (["com.mongodb.realm-sync#9"], .noCommonVersion(highestOffered: ProtocolVersion(9))),
        (["com.mongodb.realm-sync#15"], .noCommonVersion(highestOffered: ProtocolVersion(15))),
        (["com.mongodb.realm-sync#14, com.mongodb.realm-query-sync#14"], .mixedModes),
    ])
    func otherHeadersAreRefusedWithAStatus(_ header: [String], _ expected: NegotiationRefusal) {
        #expect(throws: expected) { try SubprotocolNegotiation.choose(from: header) }
    }

    @Test func anEndlessHeaderIsRefused() {
        let header = String(repeating: "a,", count: 100_000)
        #expect(throws: NegotiationRefusal.tooMany) { try SubprotocolNegotiation.choose(from: [header]) }
    }

    @Test func offeredSubprotocolIsChosenAndRead() throws {
        for mode in SyncMode.allCases {
            let offer = SubprotocolNegotiation.offer(mode: mode)
            expectEqual(offer.count, 5)
            let negotiated = try SubprotocolNegotiation.choose(from: offer)
            expectEqual(negotiated.mode, mode)
            try expectEqual(SubprotocolNegotiation.parseAnswer(negotiated.token, mode: mode), .maximum)
        }
    }

    @Test(arguments: [
        nil, "", "com.mongodb.realm-query-sync#14", "com.mongodb.realm-sync#14 ", "com.mongodb.realm-sync#15",
        "com.mongodb.realm-sync#9", "com.mongodb.realm-sync#14, com.mongodb.realm-sync#13",
    ])
    func otherAnswersAreRefused(_ answer: String?) {
        #expect(throws: NegotiationRefusal.self) {
            try SubprotocolNegotiation.parseAnswer(answer, mode: .partition)
        }
    }

    @Test(arguments: [
        (ConnectionEnd.closeFrame(.normal), ConnectionReaction.Action.wait, ConnectionReaction.Report.silent),
        (.closeFrame(CloseCode(rawValue: 1001)), .reconnect, .nonFatal),
        (.closeFrame(CloseCode(rawValue: 1006)), .refreshUser, .silent),
        (.closeFrame(.messageTooBig), .stopUpload, .nonFatal), (.closeFrame(.internalError), .reconnect, .nonFatal),
        (.closeFrame(CloseCode(rawValue: 4999)), .reconnect, .nonFatal),
        (.closeFrame(.unauthorized), .refreshUser, .silent), (.closeFrame(.forbidden), .logOutUser, .fatal),
        (.closeFrame(.movedPermanently), .refreshLocation, .silent), (.httpStatus(401), .refreshUser, .silent),
        (.httpStatus(403), .logOutUser, .fatal), (.httpStatus(301), .refreshLocation, .silent),
        (.httpStatus(308), .refreshLocation, .silent), (.httpStatus(302), .reconnect, .nonFatal),
        (.httpStatus(503), .reconnect, .nonFatal), (.httpStatus(404), .reconnect, .fatal),
        (.httpStatus(200), .reconnect, .fatal), (.malformedResponse, .reconnect, .fatal),
        (.tlsFailure, .reconnect, .nonFatal), (.lost, .reconnect, .silent), (.unreachable, .reconnect, .silent),
    ])
    func everyEndOfAConnectionHasItsReaction(
        _ end: ConnectionEnd, _ action: ConnectionReaction.Action, _ report: ConnectionReaction.Report
    ) {
        expectEqual(end.reaction(routeIsVerified: true), ConnectionReaction(action, report))
    }

    @Test func anUnprovenRouteIsAskedForAgain() {
        expectEqual(ConnectionEnd.httpStatus(404).reaction(routeIsVerified: false).action, .refreshLocation)
        expectEqual(ConnectionEnd.malformedResponse.reaction(routeIsVerified: false).action, .refreshLocation)
        let unreachable = ConnectionEnd.unreachable.reaction(routeIsVerified: false)
        expectTrue(unreachable.action == .reconnect && unreachable.alsoRefreshesLocation)
    }
}

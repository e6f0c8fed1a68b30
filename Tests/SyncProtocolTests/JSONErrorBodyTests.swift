import SyncModel
import TestSupport
import Testing

@testable import SyncProtocol

@Suite struct JSONErrorBodyTests {
    private static let required =
        #""action":"Warning","isRecoveryModeDisabled":false,"logURL":"","message":"m","shouldClientReset":false,"#
        + #""tryAgain":true"#

    private static func parse(_ json: String, code: ErrorCode = .otherSessionError) throws -> JSONErrorBody {
        try JSONErrorBody(parsing: Array(json.utf8), code: code)
    }

    @Test func unknownKeysAreSkippedAndUnknownActionsAreTheAppsFault() throws {
        let json = "{\(Self.required.replacing("Warning", with: "Dance")),\"later\":{\"x\":[1,2.5,null]}}"
        let body = try Self.parse(json)
        expectEqual(body.action, .unknown("Dance"))
        expectEqual(body.action.effective, .applicationBug)
    }

    @Test(arguments: ["action", "isRecoveryModeDisabled", "logURL", "message", "shouldClientReset", "tryAgain"])
    func everyRequiredKeyIsRequired(_ key: String) {
        let json = "{\(Self.required.replacing("\"\(key)\"", with: "\"other\""))}"
        #expect(throws: SyncProtocolError.self) { try Self.parse(json) }
    }

    @Test(arguments: [
        #""backoffIntervalSec":1"#, #""backoffIntervalSec":1,"backoffMaxDelaySec":2"#, #""backoffIntervalSec":"1""#,
        #""rejectedUpdates":[]"#, #""rejectedUpdates":{},"rejectedClientVersion":1"#,
        #""rejectedUpdates":[{"table":"T","pk":"!!","reason":""}],"rejectedClientVersion":1"#,
        #""rejectedUpdates":[{"table":"T","pk":"AQ==","reason":""}],"rejectedClientVersion":1"#,
        #""rejectedClientVersion":-1"#, #""previousSchemaVersion":1.5"#, #""partitionQuery":7"#,
        #""message":"twice""#,
    ])
    func wrongOptionalKeysAreRefused(_ extra: String) {
        #expect(throws: SyncProtocolError.self) { try Self.parse("{\(Self.required),\(extra)}") }
    }

    @Test func howFarUploadsWereIntegratedComesBack() throws {
        var body = JSONErrorBody(code: .badClientFileIdent, message: "sync was terminated", action: .clientReset)
        expectTrue(!JSONWriter.text(of: body.json).contains("integrated"))
        body.integratedClientVersion = 17
        try expectEqual(Self.parse(JSONWriter.text(of: body.json), code: .badClientFileIdent), body)
    }

    @Test(arguments: ["", "{", "[]", "null", "{}{}", "{\"a\":}", "{\"a\":01}", "{\"a\":\"\\ud800\"}"])
    func brokenJSONIsRefused(_ json: String) {
        #expect(throws: SyncProtocolError.self) { try Self.parse(json) }
    }

    @Test func deepNestingIsRefused() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: SyncProtocolError.self) { try Self.parse("{\"a\":\(deep)") }
    }

    @Test(arguments: [
        RejectedUpdate.PrimaryKey.null, .int(0), .int(9), .int(-300), .int(.max), .int(.min), .int(64), .string(""),
        .string("wörld"), .objectId([UInt8](0..<12)), .uuid([UInt8](0..<16)),
    ])
    func primaryKeysComeBack(_ key: RejectedUpdate.PrimaryKey) {
        expectEqual(RejectedUpdate.PrimaryKey(payload: key.payload), key)
    }

    @Test func primaryKeysAreWrittenAsInChangesets() {
        expectEqual(RejectedUpdate.PrimaryKey.int(9).payload, [1, 9])
        expectEqual(RejectedUpdate.PrimaryKey.int(64).payload, [1, 0xC0, 0])
        expectEqual(RejectedUpdate.PrimaryKey.int(-300).payload, [1, 0xAB, 0x42])
        expectEqual(RejectedUpdate.PrimaryKey.string("lost").payload, [3, 4] + Array("lost".utf8))
    }

    @Test(
        arguments: [
            [], [1], [1, 0x80], [1, 9, 9], [2, 1], [3, 5, 0x61], [3, 1, 0xFF], [10, 0], [11, 0], [0, 0],
            [1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0],
            [1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], [3, 0x41, 0x61],
        ] as [[UInt8]])
    func brokenPrimaryKeysAreRefused(_ payload: [UInt8]) {
        expectTrue(RejectedUpdate.PrimaryKey(payload: payload) == nil)
    }

    @Test func recoveryFlagsFollowTheAction() {
        let reset = JSONErrorBody(code: .badClientFileIdent, message: "m", action: .clientResetNoRecovery)
        expectTrue(reset.shouldClientReset && reset.isRecoveryModeDisabled)
        let warning = JSONErrorBody(message: "m", action: .warning, tryAgain: true)
        expectTrue(!warning.shouldClientReset && !warning.isRecoveryModeDisabled)
    }

    @Test func jsonIsWrittenSortedByBytesWithNothingEscapedNeedlessly() throws {
        let value = JSONValue.object([
            "b": .string("a/b\"\\\n\u{1}é😀"), "B": .bool(true), "é": .null, "a": .array([.integer(-1), .number(0.5)]),
        ])
        expectEqual(
            JSONWriter.text(of: value), "{\"B\":true,\"a\":[-1,0.5],\"b\":\"a/b\\\"\\\\\\n\\u0001é😀\",\"é\":null}")
        expectEqual(JSONWriter.text(of: .string("é😀"), asciiOnly: true), "\"\\u00e9\\ud83d\\ude00\"")
        try expectEqual(JSONParser.parse("\"\\u00e9\\ud83d\\ude00\\/\""), .string("é😀/"))
    }
}

import SyncModel
import TestSupport
import Testing

@testable import SyncProtocol

@Suite struct ValueTests {
    @Test(arguments: [
        (#""store-nw""#, PartitionValue.string("store-nw")), ("null", .null), (#"{"$numberLong":"7"}"#, .int(7)),
        (#"{"$numberInt":"7"}"#, .int(7)), (#"{"$numberLong":"-9223372036854775808"}"#, .int(.min)),
        (
            #"{"$oid":"6560C0FFEE6560c0ffee6560"}"#,
            .objectId([0x65, 0x60, 0xC0, 0xFF, 0xEE, 0x65, 0x60, 0xC0, 0xFF, 0xEE, 0x65, 0x60])
        ),
        (#"{"$binary":{"base64":"AAECAwQFBgcICQoLDA0ODw==","subType":"04"}}"#, .uuid([UInt8](0..<16))),
        (#"{"$uuid":"00010203-0405-0607-0809-0a0b0c0d0e0f"}"#, .uuid([UInt8](0..<16))), (#""""#, .string("")),
    ])
    func partitionsAreRead(_ path: String, _ expected: PartitionValue) throws {
        let value = try PartitionValue.parse(path: path)
        expectEqual(value, expected)
        // The canonical spelling reads back as the same, and so does what a client sends.
        try expectEqual(PartitionValue.parse(path: value.canonicalText), value)
        try expectEqual(PartitionValue.parse(path: value.path), value)
    }

    @Test func stockClientsSpellingIsKept() {
        expectEqual(PartitionValue.string("é/x").path, "\"é/x\"")
        expectEqual(PartitionValue.string("é/x").canonicalText, "\"\\u00e9/x\"")
        expectEqual(PartitionValue.int(7).path, #"{"$numberLong":"7"}"#)
        expectEqual(
            PartitionValue.uuid([UInt8](0..<16)).path,
            #"{"$binary":{"base64":"AAECAwQFBgcICQoLDA0ODw==","subType":"04"}}"#)
    }

    @Test func partitionsDifferWhenTheirBytesDo() throws {
        let composed = try PartitionValue.parse(path: "\"\u{E9}\"")
        let decomposed = try PartitionValue.parse(path: "\"e\u{301}\"")
        expectTrue(composed != decomposed)
        expectTrue(composed.canonicalText != decomposed.canonicalText)
        try expectEqual(PartitionValue.parse(path: "\"\\u00E9\""), composed)
    }

    @Test(
        arguments: [
            "", "store", "/shared", "7", "true", "[]", "{}", "1.5", #"{"$oid":"65"}"#, #"{"$oid":7}"#,
            #"{"$oid":"zz60c0ffee6560c0ffee6560"}"#, #"{"$numberLong":"x"}"#, #"{"$numberLong":"+7"}"#,
            #"{"$numberLong":"9223372036854775808"}"#, #"{"$numberInt":"2147483648"}"#, #"{"$numberLong":"7","x":1}"#,
            #"{"$binary":{"base64":"AA==","subType":"04"}}"#, #"{"$uuid":"x"}"#, #"{"$date":"x"}"#,
            #"{"$binary":{"base64":"AAECAwQFBgcICQoLDA0ODw==","subType":"00"}}"#,
        ])
    func otherPathsAre204(_ path: String) {
        let bind = Bind(session: 3, target: path, needsIdent: true)
        #expect { try bind.partition() } throws: { error in
            guard let error = error as? SyncProtocolError else { return false }
            return error.code == .illegalRealmPath && error.answeredSession == 3 && error.scope == .session
                && error.message.hasPrefix("Illegal Realm path (BIND): serialized partition '\(path)' is invalid: ")
        }
    }

    @Test func pathsAreBounded() throws {
        let longest = "\"" + String(repeating: "x", count: 1022) + "\""
        #expect(throws: Never.self) { try Bind(session: 1, target: longest, needsIdent: true).partition() }
        #expect(throws: SyncProtocolError.self) {
            try Bind(session: 1, target: longest + " ", needsIdent: true).partition()
        }
    }

    @Test func flexibleBindsTolerateWhatTheyDoNotKnow() throws {
        func target(_ text: String) throws -> FlexibleTarget {
            try Bind(session: 1, target: text, needsIdent: true).flexible()
        }
        try expectEqual(target("{}"), FlexibleTarget())
        try expectEqual(
            target(#"{"migratedPartition":"\"tasks\"","schemaVersion":3,"sessionReason":1,"x":{}}"#),
            FlexibleTarget(reason: .clientReset, schemaVersion: 3, migratedPartition: "\"tasks\""))
        try expectEqual(target(#"{"sessionReason":9}"#).reason, .normal)
        for text in ["", "[]", #"{"schemaVersion":-1}"#, #"{"sessionReason":"1"}"#, #"{"migratedPartition":1}"#] {
            #expect { try target(text) } throws: { ($0 as? SyncProtocolError)?.code == .illegalRealmPath }
        }
    }

    @Test func queriesAreWrittenByClass() {
        let set = QuerySet(version: 1, queries: ["Person": "(TRUEPREDICATE)", "Dog": "(age > 3)"])
        expectEqual(set, QuerySet(version: 1, text: #"{"Dog":"(age > 3)","Person":"(TRUEPREDICATE)"}"#))
    }

    @Test func timestampsCountFrom2015() {
        expectEqual(SyncTimestamp(unixMilliseconds: 1_420_070_400_000), 0)
        expectEqual(SyncTimestamp(unixMilliseconds: 1_420_070_400_001), 1)
        expectEqual(SyncTimestamp(unixMilliseconds: 0), 0)
        expectEqual(SyncTimestamp(unixMilliseconds: .min), 0)
        expectEqual(SyncTimestamp(5).unixMilliseconds, 1_420_070_400_005)
        expectEqual(SyncTimestamp(.max).unixMilliseconds, .max)
    }

    @Test func everyErrorCodeHasOneRow() {
        let codes = ErrorCodeTable.entries.map(\.code)
        expectEqual(Set(codes).count, codes.count)
        expectEqual(codes, codes.sorted())
        expectEqual(codes.map(\.rawValue), Array(100...114) + (200...236).filter { $0 != 213 })
        for entry in ErrorCodeTable.entries { expectEqual(entry.scope, entry.code.scope) }
        expectEqual(ErrorCodeTable.entries.filter(\.sessionContinues).map(\.code.rawValue), [231, 236])
    }

    @Test func actionNamesComeBack() {
        for action in ErrorAction.known { expectEqual(ErrorAction(wireName: action.wireName), action) }
    }
}

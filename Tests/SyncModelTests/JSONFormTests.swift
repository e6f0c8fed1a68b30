import Foundation
import SyncModel
import TestSupport
import Testing

/// What stands in queues and stores as JSON: a rolling upgrade reads it.
@Suite struct JSONFormTests {
    private func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test func aHistoryEntryIsFourNumbersAndHexadecimalDigits() throws {
        let entry = HistoryEntry(serverVersion: 5, clientVersion: 12, originFile: 3, timestamp: 1, changeset: [9, 171])
        let form = #"{"changeset":"09ab","clientVersion":12,"originFile":3,"serverVersion":5,"timestamp":1}"#
        try expectEqual(text(entry), form)
        try expectEqual(JSONDecoder().decode(HistoryEntry.self, from: Data(form.utf8)), entry)
    }

    @Test func anUploadedChangesetIsThreeNumbersAndHexadecimalDigits() throws {
        let entry = UploadedChangeset(clientVersion: 12, serverVersion: 9, timestamp: 7, changeset: [])
        let form = #"{"changeset":"","clientVersion":12,"serverVersion":9,"timestamp":7}"#
        try expectEqual(text(entry), form)
        try expectEqual(JSONDecoder().decode(UploadedChangeset.self, from: Data(form.utf8)), entry)
    }

    @Test func cursorsCodesAndActionsAreBareNumbersAndWords() throws {
        try expectEqual(text(ClientFileIdent(ident: 3, salt: 9)), #"{"ident":3,"salt":9}"#)
        try expectEqual(text(SaltedServerVersion(version: 4, salt: 8)), #"{"salt":8,"version":4}"#)
        try expectEqual(
            text(UploadCursor(clientVersion: 1, serverVersion: 2)), #"{"clientVersion":1,"serverVersion":2}"#)
        try expectEqual(
            text(DownloadCursor(serverVersion: 2, clientVersion: 1)), #"{"clientVersion":1,"serverVersion":2}"#)
        try expectEqual(text([ErrorCode.badClientFileIdent]), "[208]")
        try expectEqual(text([ErrorAction.clientReset, .unknown("New")]), #"["ClientReset","New"]"#)
        try expectEqual(JSONDecoder().decode([ErrorAction].self, from: Data(#"["Transient"]"#.utf8)), [.transient])
    }

    /// Characters are escaped as JSONEncoder writes them, then in ASCII: a realm's key, and so its slice, hangs on
    /// every byte.
    @Test func everyCharacterOfAPartitionIsEscapedAsBefore() throws {
        for value in (0x00 as UInt32)...0x2FF {
            guard let scalar = Unicode.Scalar(value), !["\"", "{"].contains(Character(scalar)) else { continue }
            let literal = try text(String(scalar)).unicodeScalars.map { scalar in
                scalar.value <= 0x7e
                    ? String(scalar) : "\\u" + String(0x1_0000 + scalar.value, radix: 16).dropFirst()
            }
            expectEqual(RealmName.partition(fromText: String(scalar)), literal.joined())
        }
    }
}

import Changesets
import ExtendedJSON
import Foundation
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// The scalars of the API: their texts, and their forms in the file and on the wire.
struct ScalarTests {
    @Test(arguments: [
        ("0", "0"), ("+007", "7"), ("1.0", "1.0"), (".5", "0.5"), ("5.", "5"), ("-12.50E3", "-1.250E+4"),
        ("1e-7", "1E-7"), ("0.010", "0.010"), ("-inf", "-Infinity"), ("Infinity", "Infinity"), ("nan", "NaN"),
        ("1234567890123456789012345678901234", "1234567890123456789012345678901234"),
    ])
    func decimalIsReadAndWritten(text: String, canonical: String) throws {
        try expectEqual(Decimal128(string: text).value.text, canonical)
    }

    @Test(arguments: [
        "", ".", "e5", "1e", "1.2.3", "--1", "1 ", "12345678901234567890123456789012345", "1E7000", "٣",
        "1E-9223372036854775808",
    ])
    func textsThatAreNoDecimalAreRefused(text: String) {
        #expect(throws: Realm.Error.self) { try Decimal128(string: text) }
    }

    @Test func objectIdHas24HexadecimalDigits() throws {
        let text = "0a1b2c3d4e5f60718293a4b5"
        let id = try ObjectId(string: text)
        expectEqual(id.stringValue, text)
        expectEqual(PartitionValue(AnyBSON.objectId(id))?.fileName, "o_" + text)
        for wrong in ["", "0a1b", "+a1b2c3d4e5f60718293a4b5", "0a1b2c3d4e5f60718293a4bx", text + "0"] {
            #expect(throws: Realm.Error.self) { try ObjectId(string: wrong) }
        }
    }

    @Test func uuidKeepsItsBytes() throws {
        let uuid = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
        let value = UUIDValue(uuid)
        expectEqual(value, UUIDValue(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF))
        expectEqual(value.uuid, uuid)
        expectEqual(PartitionValue(AnyBSON.uuid(uuid))?.fileName, "u_00112233445566778899aabbccddeeff")
    }

    @Test func fileNamesEncodeWhatIsNotPlain() {
        expectEqual(FileLayout.percentEncoded("a-B_9.z"), "a-B_9.z")
        expectEqual(FileLayout.percentEncoded("ä/ ~"), "%C3%A4%2F%20%7E")
        expectEqual(FileLayout.percentEncoded(".."), "%2E%2E")
        expectEqual(FileLayout.percentEncoded("."), "%2E")
    }

    @Test func longFileNamesAreReplacedByTheirHash() {
        let layout = FileLayout(base: URL(fileURLWithPath: "/base"), appID: "app")
        let file = layout.realmFile(userID: "u", target: .partition(.string(String(repeating: "a", count: 300))))
        // SHA-256 of "s_" and 300 times "a".
        expectEqual(file.lastPathComponent, "9732b7b16fc66b7edccb33c5a25f3db7e5eb691651be30bc66ed0c8daab6597e.realm")
    }
}

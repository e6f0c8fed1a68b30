import Changesets
import TestSupport
import Testing

@Suite struct VarintTests {
    /// The table of section 2.1.
    static let signed: [(Int64, String)] = [
        (0, "00"), (1, "01"), (63, "3F"), (64, "C0 00"), (123, "FB 00"), (127, "FF 00"), (128, "80 01"), (500, "F4 03"),
        (8191, "FF 3F"), (8192, "80 C0 00"), (0xFFFF_FFFF, "FF FF FF FF 0F"), (.max, "FF FF FF FF FF FF FF FF FF 00"),
        (-1, "40"), (-2, "41"), (-64, "7F"), (-65, "C0 40"), (-128, "FF 40"), (-129, "80 41"), (-8192, "FF 7F"),
        (-8193, "80 C0 40"), (.min, "FF FF FF FF FF FF FF FF FF 40"),
    ]

    @Test(arguments: signed)
    func signedNumbersHaveTheseBytes(value: Int64, bytes: String) throws {
        var writer = VarintWriter()
        writer.write(value)
        expectEqual(writer.bytes, hex(bytes))
        var reader = VarintReader(hex(bytes))
        try expectEqual(reader.readInt64(), value)
        expectTrue(reader.isAtEnd)
    }

    @Test func theGreatestUnsignedNumberTakesTenBytes() throws {
        var writer = VarintWriter()
        writer.write(UInt64.max)
        expectEqual(writer.bytes, hex("FF FF FF FF FF FF FF FF FF 01"))
        var reader = VarintReader(writer.bytes)
        try expectEqual(reader.readUInt64(), .max)
    }

    @Test func overlongNumbersAreAccepted() throws {
        var reader = VarintReader(hex("80 00"))
        try expectEqual(reader.readInt64(), 0)
    }

    @Test(arguments: ["", "80", "40", "41", "FF FF FF FF FF FF FF FF FF 02", "FF FF FF FF FF FF FF FF FF FF 00"])
    func badUnsignedNumbersAreRefused(bytes: String) {
        var reader = VarintReader(hex(bytes))
        #expect(throws: ChangesetError.self) { try reader.readUInt64() }
        expectEqual(reader.position, 0)
    }

    @Test func numbersTooWideForTheirFieldAreRefused() throws {
        var reader = VarintReader(hex("FF FF FF FF 10"))
        #expect(throws: ChangesetError.self) { try reader.readUInt32() }
        reader = VarintReader(hex("FF FF FF FF 0F"))
        try expectEqual(reader.readUInt32(), .max)
        reader = VarintReader(hex("80 02"))
        #expect(throws: ChangesetError.self) { try reader.readUInt8() }
        reader = VarintReader(hex("FF FF FF FF 08"))
        #expect(throws: ChangesetError.self) { try reader.readInt32() }
        reader = VarintReader(hex("FF FF FF FF 47"))
        try expectEqual(reader.readInt32(), .min)
        reader = VarintReader(hex("FF FF FF FF FF FF FF FF FF 41"))
        #expect(throws: ChangesetError.self) { try reader.readInt64() }
    }

    @Test func coefficientsOfDecimalsRoundTripAtEveryWidth() throws {
        for bit in 0..<113 {
            let value = UInt128(1) << UInt128(bit) | 0x55
            let (high, low) = (UInt64(truncatingIfNeeded: value >> 64), UInt64(truncatingIfNeeded: value))
            var writer = VarintWriter()
            writer.write(high: high, low: low)
            var reader = VarintReader(writer.bytes)
            let read = try reader.readUInt128()
            expectTrue(read.high == high && read.low == low)
            expectTrue(reader.isAtEnd)
        }
    }
}

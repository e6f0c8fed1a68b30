/// Base64 as RFC 4648 has it, with padding.
package enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")
    /// The number of a digit, and 64 for any other byte.
    private static let numbers: [UInt8] = {
        var numbers = [UInt8](repeating: 64, count: 256)
        for (number, digit) in digits.enumerated() { numbers[Int(digit)] = UInt8(number) }
        return numbers
    }()

    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var bits: UInt32 = 0
            for position in 0..<3 { bits = bits << 8 | (position < count ? UInt32(bytes[start + position]) : 0) }
            for position in 0..<4 {
                text.append(position <= count ? digits[Int(bits >> UInt32(18 - 6 * position) & 63)] : padding)
            }
        }
        return text
    }

    /// Nil for what is no such text: other characters, blanks, missing padding. Bits behind the last byte do not count.
    package static func decode(_ text: [UInt8]) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        let padded = text.last == padding ? (text.dropLast().last == padding ? 2 : 1) : 0
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var bits: UInt32 = 0
        for (position, byte) in text.dropLast(padded).enumerated() {
            let number = numbers[Int(byte)]
            guard number < 64 else { return nil }
            bits = bits << 6 | UInt32(number)
            if position % 4 == 3 {
                for shift in [16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(shift))) }
                bits = 0
            }
        }
        switch padded {
        case 1:
            bytes.append(UInt8(truncatingIfNeeded: bits >> 10))
            bytes.append(UInt8(truncatingIfNeeded: bits >> 2))
        case 2:
            bytes.append(UInt8(truncatingIfNeeded: bits >> 4))
        default: break
        }
        return bytes
    }
}

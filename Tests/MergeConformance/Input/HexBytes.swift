/// Bytes that a recording writes in hexadecimal digits.
package struct HexBytes: Decodable, Hashable, Sendable {
    package var bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        var text = try container.decode(String.self)
        guard let bytes = text.withUTF8(Self.bytes) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected pairs of hexadecimal digits, found something else")
        }
        self.bytes = bytes
    }

    private static func bytes(of digits: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var isValid = true
        let bytes = [UInt8](unsafeUninitializedCapacity: digits.count / 2) { output, count in
            for position in 0..<digits.count / 2 {
                guard let high = value(digits[2 * position]), let low = value(digits[2 * position + 1]) else {
                    isValid = false
                    return
                }
                output[position] = high << 4 | low
                count += 1
            }
        }
        return isValid ? bytes : nil
    }

    @inline(__always)
    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

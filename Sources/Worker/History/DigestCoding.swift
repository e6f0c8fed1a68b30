import Merge
import SyncModel

/// How a digest's body says what each of its versions touches: per version the author and twice the number of keys, plus 1
/// if schema is erased, as variable-length numbers; then the keys, four bytes each, the lowest first.
enum DigestCoding {
    static func append(origin: FileIdent, _ touches: Touches, to body: inout [UInt8]) {
        append(origin.rawValue, to: &body)
        append(UInt64(touches.keys.count) << 1 | (touches.isDestructive ? 1 : 0), to: &body)
        for key in touches.keys {
            withUnsafeBytes(of: key.littleEndian) { body.append(contentsOf: $0) }
        }
    }

    /// The versions in order; nil if the body is damaged.
    static func decode(_ body: [UInt8]) -> [(origin: FileIdent, touches: Touches)]? {
        var versions: [(origin: FileIdent, touches: Touches)] = []
        var position = 0
        while position < body.count {
            guard let origin = number(body, &position), let heading = number(body, &position) else { return nil }
            let (count, isDestructive) = (heading >> 1, heading & 1 == 1)
            guard count <= UInt64((body.count - position) / 4) else { return nil }
            var keys: [UInt32] = []
            keys.reserveCapacity(Int(count))
            for _ in 0..<count {
                keys.append(
                    UInt32(body[position]) | UInt32(body[position + 1]) << 8 | UInt32(body[position + 2]) << 16
                        | UInt32(body[position + 3]) << 24)
                position += 4
            }
            versions.append((FileIdent(origin), Touches(keys: keys, isDestructive: isDestructive)))
        }
        return versions
    }

    private static func append(_ number: UInt64, to body: inout [UInt8]) {
        var number = number
        while number >= 0x80 {
            body.append(UInt8(truncatingIfNeeded: number) | 0x80)
            number >>= 7
        }
        body.append(UInt8(truncatingIfNeeded: number))
    }

    private static func number(_ body: [UInt8], _ position: inout Int) -> UInt64? {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while position < body.count, shift < 64 {
            let byte = body[position]
            position += 1
            result |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return result }
            shift += 7
        }
        return nil
    }
}

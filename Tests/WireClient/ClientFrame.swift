/// A client's WebSocket frames as bytes, good ones and others.
package enum ClientFrame {
    /// One frame that is a whole message.
    ///
    /// - Parameter mask: drawn anew for each frame if nil.
    package static func bytes(
        _ payload: [UInt8], opcode: UInt8 = 2, reserved: UInt8 = 0, isMasked: Bool = true, mask: [UInt8]? = nil
    ) -> [UInt8] {
        var frame: [UInt8] = [0x80 | reserved | opcode]
        let maskBit: UInt8 = isMasked ? 0x80 : 0
        switch payload.count {
        case 0...125: frame.append(maskBit | UInt8(payload.count))
        case 126...0xFFFF: frame += [maskBit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default:
            frame.append(maskBit | 127)
            frame += (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
        }
        guard isMasked else { return frame + payload }
        let mask = mask ?? (0..<4).map { _ in UInt8.random(in: 0 ... .max) }
        frame += mask
        let start = frame.count
        frame += payload
        frame.withUnsafeMutableBytes { apply(mask, to: UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
        return frame
    }

    /// Masks eight bytes at once: tests send megabytes, in builds in which each step of a loop is dear.
    private static func apply(_ mask: [UInt8], to bytes: UnsafeMutableRawBufferPointer) {
        let words = (mask + mask).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        var index = 0
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            bytes.storeBytes(of: word ^ words, toByteOffset: index, as: UInt64.self)
            index += 8
        }
        while index < bytes.count {
            bytes[index] ^= mask[index & 3]
            index += 1
        }
    }
}

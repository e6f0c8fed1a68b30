import SyncModel
import SyncProtocol

/// A client's WebSocket frame.
enum ClientFrame {
    private static let key: [UInt8] = [0x5a, 0xc3, 0x17, 0x88]

    /// One binary message, masked as clients must.
    static func masked(_ payload: [UInt8]) -> [UInt8] {
        var frame: [UInt8] = [0x82]
        frame.reserveCapacity(payload.count + 14)
        switch payload.count {
        case 0...125: frame.append(0x80 | UInt8(payload.count))
        case 126...0xFFFF:
            frame.append(0x80 | 126)
            frame += [UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default:
            frame.append(0x80 | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                frame.append(UInt8(truncatingIfNeeded: payload.count >> shift))
            }
        }
        frame += key
        for (index, byte) in payload.enumerated() { frame.append(byte ^ key[index & 3]) }
        return frame
    }
}

/// A server's WebSocket frame: never masked, never fragmented by a gateway.
struct ServerFrame {
    var opcode: UInt8
    var payload: Range<Int>

    /// Nil if it is not whole yet.
    init?(in bytes: [UInt8], at start: Int) {
        guard bytes.count - start >= 2 else { return nil }
        opcode = bytes[start] & 0x0F
        let short = Int(bytes[start + 1] & 0x7F)
        let extra = short == 126 ? 2 : short == 127 ? 8 : 0
        guard bytes.count - start >= 2 + extra else { return nil }
        var length = short
        if extra > 0 { length = bytes[(start + 2)..<(start + 2 + extra)].reduce(0) { $0 << 8 | Int($1) } }
        let from = start + 2 + extra
        guard bytes.count - from >= length else { return nil }
        payload = from..<(from + length)
    }

    func closeCode(in bytes: [UInt8]) -> UInt16 {
        payload.count < 2 ? 1005 : UInt16(bytes[payload.lowerBound]) << 8 | UInt16(bytes[payload.lowerBound + 1])
    }
}

/// The numbers at the head of a DOWNLOAD; reading them is all that it costs to receive one.
struct DownloadHead {
    var serverVersion: UInt64 = 0
    var clientVersion: UInt64 = 0
    var latestVersion: UInt64 = 0
    var latestSalt: UInt64 = 0
    var uploadedClientVersion: UInt64 = 0
    var plainBytes: UInt64 = 0
    /// The subscription set whose data a DOWNLOAD in flexible mode has, and which part of that data.
    var batch: (set: UInt64, state: UInt64)?

    init() {}

    init(_ payload: ArraySlice<UInt8>, mode: SyncMode) throws {
        var numbers: [UInt64] = []
        numbers.reserveCapacity(14)
        var value: UInt64 = 0
        var isFraction = false
        reading: for byte in payload.dropFirst("download ".utf8.count) {
            switch byte {
            case 0x30...0x39 where isFraction: break
            case 0x30...0x39: value = value &* 10 &+ UInt64(byte - 0x30)
            case 0x20:
                numbers.append(value)
                (value, isFraction) = (0, false)
            case 0x0a:
                numbers.append(value)
                break reading
            // A bootstrap's progress.
            default: isFraction = true
            }
        }
        guard numbers.count == (mode == .flexible ? 13 : 11) else {
            throw BenchFailure("a DOWNLOAD with \(numbers.count) numbers in its head")
        }
        if mode == .flexible { batch = (numbers[7], numbers[8]) }
        serverVersion = numbers[1]
        clientVersion = numbers[2]
        latestVersion = numbers[3]
        latestSalt = numbers[4]
        uploadedClientVersion = numbers[5]
        plainBytes = numbers[mode == .flexible ? 11 : 9]
    }
}

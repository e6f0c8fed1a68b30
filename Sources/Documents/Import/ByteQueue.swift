/// Bytes that come in at one end and are taken from the other.
struct ByteQueue: Sendable {
    private var bytes: [UInt8] = []
    private var start = 0
    /// How many bytes have been taken.
    private(set) var taken = 0

    var count: Int { bytes.count - start }

    /// A byte by its place behind what has been taken; nil if it has not come yet.
    subscript(_ offset: Int) -> UInt8? { offset < count ? bytes[start + offset] : nil }

    mutating func add(_ more: [UInt8]) {
        if start > 0 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes += more
    }

    mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        defer { drop(count) }
        return bytes[start..<start + count]
    }

    mutating func drop(_ count: Int) {
        start += count
        taken += count
    }

    /// The integer that BSON begins with; nil until its four bytes are there.
    var int32: Int32? {
        guard count >= 4 else { return nil }
        return Int32(bitPattern: bytes[start..<start + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }
}

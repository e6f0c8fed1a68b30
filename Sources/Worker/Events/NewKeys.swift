import Changesets

// Primary keys of objects that are made without one.

extension ObjectIDValue {
    /// A new object id: seconds of Unix time, then random bytes.
    static func made(at unixMilliseconds: UInt64) -> ObjectIDValue {
        let seconds = UInt64(UInt32(truncatingIfNeeded: unixMilliseconds / 1_000))
        return ObjectIDValue(
            high: seconds << 32 | UInt64(UInt32.random(in: .min ... .max)), low: UInt32.random(in: .min ... .max))
    }
}

extension UUIDValue {
    /// A random UUID (RFC 9562, version 4).
    static func made() -> UUIDValue {
        let high = UInt64.random(in: .min ... .max) & ~0xf000 | 0x4000
        let low = UInt64.random(in: .min ... .max) & ~(0b11 << 62) | 0b10 << 62
        return UUIDValue(high: high, low: low)
    }
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo): small, stable, and the same in every process of a cluster.
package enum FNV1a {
    package static func hash64(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes {
            hash ^= UInt64(byte)
            hash = hash &* 0x0000_0100_0000_01b3
        }
        return hash
    }
}

/// Jump consistent hash (Lamping and Veach, 2014): a key's bucket among `buckets`.
package enum JumpHash {
    package static func bucket(of key: UInt64, buckets: Int) -> Int {
        var key = key
        var bucket = -1
        var next = 0
        while next < buckets {
            bucket = next
            key = key &* 2_862_933_555_777_941_757 &+ 1
            next = Int(Double(bucket + 1) * (Double(Int64(1) << 31) / Double((key >> 33) &+ 1)))
        }
        return max(bucket, 0)
    }
}

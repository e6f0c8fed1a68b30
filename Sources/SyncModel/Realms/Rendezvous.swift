/// Rendezvous (highest random weight) hashing: which workers come first, second, ... for a slice.
package enum Rendezvous {
    package static func ranking(of workers: some Sequence<String>, for slice: SliceNumber) -> [String] {
        workers.map { (weight(of: $0, for: slice), $0) }.sorted(by: >).map(\.1)
    }

    private static func weight(of worker: String, for slice: SliceNumber) -> UInt64 {
        // FNV alone mixes the last byte badly; the finaliser is MurmurHash3's.
        var hash = FNV1a.hash64("\(worker)/\(slice.value)".utf8)
        hash ^= hash >> 33
        hash = hash &* 0xff51_afd7_ed55_8ccd
        hash ^= hash >> 33
        hash = hash &* 0xc4ce_b9fe_1a85_ec53
        return hash ^ (hash >> 33)
    }
}

/// The keys that a search through many changesets' touches is for.
package struct KeyFilter: Sendable {
    private var bits = [UInt64](repeating: 0, count: 1 << 10)
    private let keys: Set<UInt32>

    package init(_ keys: [UInt32]) {
        self.keys = Set(keys)
        for key in keys { bits[Int(key >> 22)] |= 1 << UInt64(key >> 16 & 63) }
    }

    package func meets(_ others: [UInt32]) -> Bool {
        others.contains { bits[Int($0 >> 22)] & 1 << UInt64($0 >> 16 & 63) != 0 && keys.contains($0) }
    }
}

package import SyncModel

// The databases' integers are signed. What slices keep in them stands there by its bits.

extension UInt64 {
    /// The same bits as a signed integer.
    package var stored: Int64 { Int64(bitPattern: self) }
    package init(stored value: Int64) { self.init(bitPattern: value) }
}

extension WireInteger {
    package var stored: Int64 { rawValue.stored }
    package init(stored value: Int64) { self.init(rawValue: UInt64(stored: value)) }
}

extension HistoryKey {
    /// The number that tells a realm's histories apart in the store: the generation, or for a base its version, negative.
    package var series: Int64 { base == 0 ? generation.stored : 0 &- base.stored }
}

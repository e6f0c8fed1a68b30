/// Milliseconds since 2015-01-01T00:00:00Z, leap seconds not counted: the time stamp of changesets.
package struct SyncTimestamp: WireInteger {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// 2015-01-01T00:00:00Z in Unix milliseconds (docs/protocol.md, "Lexical rules").
    package static let epochInUnixMilliseconds: Int64 = 1_420_070_400_000

    /// Times before 2015 become 0: the wire has no negative time stamps.
    package init(unixMilliseconds: Int64) {
        let (value, overflow) = unixMilliseconds.subtractingReportingOverflow(Self.epochInUnixMilliseconds)
        self.init(rawValue: overflow || value < 0 ? 0 : UInt64(value))
    }

    /// Saturates at the end of time instead of overflowing.
    package var unixMilliseconds: Int64 {
        let value = Int64(clamping: rawValue)
        let (sum, overflow) = value.addingReportingOverflow(Self.epochInUnixMilliseconds)
        return overflow ? .max : sum
    }
}

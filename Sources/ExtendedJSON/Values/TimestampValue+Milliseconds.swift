package import Changesets

extension TimestampValue {
    /// Milliseconds of Unix time, as BSON has them: what is finer is cut off, and times that are further away are the furthest there are.
    package var milliseconds: Int64 {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, isBeyond) = product.addingReportingOverflow(Int64(nanoseconds) / 1_000_000)
        return isBeyond ? (seconds < 0 ? .min : .max) : sum
    }

    package init(milliseconds: Int64) {
        self.init(seconds: milliseconds / 1_000, nanoseconds: Int32(milliseconds % 1_000) * 1_000_000)
    }
}

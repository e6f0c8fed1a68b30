/// Seeds from 0 on in parts of equal size, so that the cases of one test run side by side.
///
/// - Parameter count: how many parts there are.
/// - Parameter size: how many seeds each has.
package func seedRanges(_ count: Int, of size: UInt64) -> [Range<UInt64>] {
    var ranges: [Range<UInt64>] = []
    for number in 0..<UInt64(count) {
        let start: UInt64 = number * size
        ranges.append(start..<(start + size))
    }
    return ranges
}

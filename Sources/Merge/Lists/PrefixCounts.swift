/// Counts by place, and how many there are before a place, both in logarithmic time: a Fenwick tree.
struct PrefixCounts {
    private var sums: [Int32]

    init(count: Int) { sums = Array(repeating: 0, count: count + 1) }

    mutating func add(_ amount: Int32, at place: Int) {
        var index = place + 1
        while index < sums.count {
            sums[index] += amount
            index += index & -index
        }
    }

    func sum(before place: Int) -> UInt32 {
        var sum: Int32 = 0
        var index = place
        while index > 0 {
            sum += sums[index]
            index -= index & -index
        }
        return UInt32(truncatingIfNeeded: sum)
    }
}

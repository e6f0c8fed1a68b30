/// A set of small numbers that knows the next member on either side of a number: a bit each, and above each 64 of them
/// one that tells whether there are any.
struct RankSet {
    private var levels: [[UInt64]]

    /// Makes an empty set for numbers below the capacity. The capacity itself and the number behind it may be asked
    /// about, so there is a word for them too, on every level.
    init(capacity: Int) {
        var words = (capacity + 1) / 64 + 1
        levels = [Array(repeating: 0, count: words)]
        while words > 1 {
            words = words / 64 + 1
            levels.append(Array(repeating: 0, count: words))
        }
    }

    func contains(_ number: Int) -> Bool { levels[0][number >> 6] >> UInt64(number & 63) & 1 == 1 }

    mutating func insert(_ number: Int) {
        var number = number
        for level in levels.indices {
            let word = number >> 6
            let was = levels[level][word]
            levels[level][word] = was | 1 << UInt64(number & 63)
            if was != 0 { return }
            number = word
        }
    }

    mutating func remove(_ number: Int) {
        var number = number
        for level in levels.indices {
            let word = number >> 6
            levels[level][word] &= ~(1 << UInt64(number & 63))
            if levels[level][word] != 0 { return }
            number = word
        }
    }

    /// The greatest member that is less than the number.
    func last(before number: Int) -> Int? {
        var number = number
        for level in levels.indices {
            guard number > 0 else { return nil }
            let word = number >> 6
            if word < levels[level].count {
                let below = levels[level][word] & ((1 << UInt64(number & 63)) &- 1)
                if below != 0 { return descend(level, word << 6 | (63 - below.leadingZeroBitCount), toLast: true) }
            }
            number = word
        }
        return nil
    }

    /// The smallest member that is greater than the number, which may be -1.
    func first(after number: Int) -> Int? {
        var number = number + 1
        for level in levels.indices {
            let word = number >> 6
            guard word < levels[level].count else { return nil }
            let above = levels[level][word] & ~((1 << UInt64(number & 63)) &- 1)
            if above != 0 { return descend(level, word << 6 | above.trailingZeroBitCount, toLast: false) }
            number = word + 1
        }
        return nil
    }

    private func descend(_ level: Int, _ number: Int, toLast: Bool) -> Int {
        var number = number
        for below in levels[..<level].reversed() {
            let word = below[number]
            number = number << 6 | (toLast ? 63 - word.leadingZeroBitCount : word.trailingZeroBitCount)
        }
        return number
    }
}

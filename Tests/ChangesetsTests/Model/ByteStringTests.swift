import Changesets
import SeededRandom
import TestSupport
import Testing

/// A string is its bytes, whether they are kept in place or not.
@Suite struct ByteStringTests {
    @Test(arguments: 0...32)
    func aStringOfAnyLengthGivesItsBytesBack(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: 0x80 + 7 * $0) }
        let string = ByteString(bytes)
        expectEqual(string.bytes, bytes)
        expectEqual(string.count, count)
        expectEqual(string.isEmpty, count == 0)
        expectEqual(string.first, bytes.first)
        expectEqual(string.withUnsafeBytes { Array($0) }, bytes)
        expectEqual(ByteString(([1] + bytes + [2])[1..<count + 1]), string)
    }

    @Test func textsComeBackAndWhatIsNoTextIsRepaired() {
        for text in ["", "a", "fourteen bytes", "fifteen bytes!!", "Prógram", "Pro\u{301}gram of some length"] {
            expectEqual(ByteString(text).string, text)
            expectEqual(ByteString(text).bytes, Array(text.utf8))
        }
        expectEqual(ByteString([0x61, 0xFF]).string, "a\u{FFFD}")
        // Equal to Swift, and two strings here.
        expectTrue(ByteString("Pr\u{F3}gram") != ByteString("Pro\u{301}gram"))
    }

    @Test func zerosAtTheEndCount() {
        let strings = [[], [0], [0, 0], [0, 0, 0], [1], [1, 0]].map { ByteString($0 as [UInt8]) }
        expectEqual(Set(strings).count, strings.count)
        expectEqual(strings.shuffled().sorted(), strings)
    }

    @Test(arguments: seedRanges(2, of: 40))
    func equalityOrderAndHashesAreThoseOfTheBytes(seeds: Range<UInt64>) {
        for seed in seeds {
            var random = SeededGenerator(seed: seed)
            // Few different bytes, and lengths around what fits in place, so that many beginnings are the same.
            let arrays: [[UInt8]] = (0..<60).map { _ in
                (0..<random.below(20)).map { _ in [0, 1, 0x7F, 0x80, 0xFF][random.below(5)] }
            }
            for left in arrays {
                for right in arrays {
                    let (first, second) = (ByteString(left), ByteString(right))
                    expectEqual(first == second, left == right)
                    expectEqual(first < second, left.lexicographicallyPrecedes(right))
                    expectEqual(first.starts(with: second), left.starts(with: right))
                    if left == right { expectEqual(first.hashValue, second.hashValue) }
                }
            }
        }
    }
}

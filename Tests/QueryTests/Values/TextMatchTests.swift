import Changesets
import SeededRandom
import TestSupport
import Testing

@testable import Query

/// The operators on texts against what they mean.
@Suite struct TextMatchTests {
    /// Letters of one to four bytes, of both cases, and what looks like them.
    private static let letters: [Unicode.Scalar] = [
        "a", "b", "A", "é", "É", "×", "÷", "ß", "ÿ", "Ÿ", "Þ", "þ", "Ж", "ж", "日", "😀", "\u{301}", "\u{0}", "İ", "K",
    ]

    private func text(_ random: inout SeededGenerator, upTo count: Int, of letters: [Unicode.Scalar]) -> String {
        var result = String.UnicodeScalarView()
        for _ in 0..<random.below(count + 1) { result.append(letters[random.below(letters.count)]) }
        return String(result)
    }

    private func check(
        _ seed: UInt64, _ text: [UInt8], _ pattern: [UInt8], _ counts: inout [Bool: Int]
    ) -> Bool {
        let expected = NaiveText.like(text[...], pattern[...])
        counts[expected, default: 0] += 1
        guard TextMatch.like(text, pattern) != expected else { return true }
        Issue.record("seed \(seed): \(text) LIKE \(pattern) is not \(expected)")
        return false
    }

    @Test func likeMeansWhatTryingEverythingFinds() {
        var counts: [Bool: Int] = [:]
        for seed in UInt64(1)...6_000 {
            var random = SeededGenerator(seed: seed)
            // Few letters, so that much matches; now and then bytes that are no UTF-8.
            let letters = Array(Self.letters.shuffled(using: &random).prefix(2))
            var (text, pattern) = (
                Array(text(&random, upTo: 7, of: letters).utf8),
                Array(text(&random, upTo: 6, of: letters + ["*", "*", "?"]).utf8)
            )
            if random.below(4) == 0 {
                let odd: [UInt8] = [0x61, 0x80, 0xC3, 0xA9, 0xF0, 0xFF]
                text = (0..<random.below(7)).map { _ in odd[random.below(6)] }
                pattern = (0..<random.below(6)).map { _ in (odd + [0x2A, 0x2A, 0x3F, 0x3F])[random.below(10)] }
            }
            guard check(seed, text, pattern, &counts) else { return }
        }
        expectTrue(counts.values.allSatisfy { $0 > 500 }, "\(counts)")
    }

    @Test func caseIsFoldedWhereClientsFoldIt() {
        for seed in UInt64(10_001)...12_000 {
            var random = SeededGenerator(seed: seed)
            let text = text(&random, upTo: 9, of: Self.letters)
            let found = TextMatch.folded(Array(text.utf8))
            guard found == Array(NaiveText.folded(text).utf8) else {
                Issue.record("seed \(seed): \(text) is folded to \(String(decoding: found, as: UTF8.self))")
                return
            }
        }
        for value in (0x20 as UInt32)...0x2000 {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = String(Character(scalar))
            expectEqual(TextMatch.folded(Array(text.utf8)), Array(NaiveText.folded(text).utf8), "\(value)")
        }
    }

    @Test func needlesAreFoundWhereTheyAre() {
        for seed in UInt64(20_001)...22_000 {
            var random = SeededGenerator(seed: seed)
            let letters = Array(Self.letters.shuffled(using: &random).prefix(2))
            let text = Array(text(&random, upTo: 7, of: letters).utf8)
            let needle = Array(self.text(&random, upTo: 3, of: letters).utf8)
            let places = [
                TextMatch.contains(text, needle), TextMatch.begins(text, with: needle),
                TextMatch.ends(text, with: needle),
            ]
            let expected = [
                NaiveText.contains(text, needle), Array(text.prefix(needle.count)) == needle,
                Array(text.suffix(needle.count)) == needle,
            ]
            guard places == expected else {
                Issue.record("seed \(seed): \(needle) in \(text): \(places), expected \(expected)")
                return
            }
        }
    }

    @Test func fullTextLooksForWords() throws {
        var counts: [Bool: Int] = [:]
        for seed in UInt64(30_001)...32_000 {
            var random = SeededGenerator(seed: seed)
            let letters: [Unicode.Scalar] = ["a", "B", "1", "é", "É", "ß", "å", "Å", "ø"]
            let text = text(&random, upTo: 14, of: letters + [" ", "-", "×", "÷", "ÿ", "日", "\u{0}"])
            let words = NaiveText.words(text)
            var (parts, isFound): ([String], Bool) = ([], true)
            for _ in 0...random.below(2) {
                var word = self.text(&random, upTo: 2, of: letters)
                if word.isEmpty || random.below(2) == 0 { word = words.randomElement(using: &random) ?? "b" }
                let plain = NaiveText.words(word)[0]
                switch random.below(3) {
                case 0:
                    parts.append("-" + word)
                    isFound = isFound && !words.contains(plain)
                case 1:
                    parts.append(word + "*")
                    isFound = isFound && words.contains { $0.utf8.starts(with: plain.utf8) }
                default:
                    parts.append(word)
                    isFound = isFound && words.contains(plain)
                }
            }
            let wanted = parts.joined(separator: [" ", "\t ", "\n"][random.below(3)])
            let pattern = try FullTextPattern(ByteString(wanted), at: 0)
            counts[isFound, default: 0] += 1
            guard pattern.matches(Array(text.utf8)) == isFound else {
                Issue.record("seed \(seed): \(text) TEXT \(wanted) is not \(isFound)")
                return
            }
        }
        expectTrue(counts.values.allSatisfy { $0 > 200 }, "\(counts)")
    }
}

import Changesets

/// The string operators, on bytes. What they take grows with the text and not with the pattern, but for patterns with `?`.
enum TextMatch {
    /// Lower case as clients have it: ASCII letters and the Latin-1 capitals, nothing else. Lengths stay.
    static func folded(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBufferPointer { bytes in bytes.indices.map { FoldedBytes.byte(bytes, $0) } }
    }

    /// - Parameter meter: stops the search of a text that takes too much; what is returned then does not count.
    static func holds(
        _ op: ComparisonOperator, _ text: [UInt8], _ pattern: [UInt8], ignoresCase: Bool,
        _ meter: EvaluationMeter? = nil
    ) -> Bool {
        text.withUnsafeBufferPointer { text in
            pattern.withUnsafeBufferPointer { holds(op, text, $0, ignoresCase: ignoresCase, meter) }
        }
    }

    static func holds(
        _ op: ComparisonOperator, _ text: ByteString, _ pattern: ByteString, ignoresCase: Bool,
        _ meter: EvaluationMeter?
    ) -> Bool {
        text.withUnsafeBytes { text in
            pattern.withUnsafeBytes { pattern in
                holds(
                    op, text.assumingMemoryBound(to: UInt8.self), pattern.assumingMemoryBound(to: UInt8.self),
                    ignoresCase: ignoresCase, meter)
            }
        }
    }

    private static func holds(
        _ op: ComparisonOperator, _ text: UnsafeBufferPointer<UInt8>, _ pattern: UnsafeBufferPointer<UInt8>,
        ignoresCase: Bool, _ meter: EvaluationMeter?
    ) -> Bool {
        if let meter, meter.isSpent { return false }
        var search = TextSearch(text: text, pattern: pattern, budget: meter?.rest ?? .max)
        let result =
            ignoresCase ? search.holds(op, as: FoldedBytes.self) : search.holds(op, as: PlainBytes.self)
        meter?.take(search.steps)
        return result
    }

    /// Whether two texts are equal but for case.
    static func equal(_ left: [UInt8], _ right: [UInt8], _ meter: EvaluationMeter? = nil) -> Bool {
        left.count == right.count && holds(.beginsWith, left, right, ignoresCase: true, meter)
    }

    static func equal(_ left: ByteString, _ right: ByteString, _ meter: EvaluationMeter? = nil) -> Bool {
        left.count == right.count && holds(.beginsWith, left, right, ignoresCase: true, meter)
    }

    static func contains(_ text: [UInt8], _ needle: [UInt8]) -> Bool {
        holds(.contains, text, needle, ignoresCase: false)
    }

    static func begins(_ text: [UInt8], with needle: [UInt8]) -> Bool {
        holds(.beginsWith, text, needle, ignoresCase: false)
    }

    static func ends(_ text: [UInt8], with needle: [UInt8]) -> Bool {
        holds(.endsWith, text, needle, ignoresCase: false)
    }

    /// `*` is any run of bytes, `?` one character. At the end of the text exactly one `*` may be left of the pattern.
    static func like(_ text: [UInt8], _ pattern: [UInt8]) -> Bool { holds(.like, text, pattern, ignoresCase: false) }
}

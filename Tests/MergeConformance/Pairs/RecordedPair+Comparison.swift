extension RecordedPair {
    enum Comparison {
        case equal
        /// The same instructions over another table of strings.
        case equalInstructions
        case different
    }

    func compare(_ outcome: PairOutcome) -> Comparison {
        switch (recorded, outcome) {
        case (.refused, .refused): return .equal
        case (.merged(let ours, let theirs), .merged(let ourOurs, let ourTheirs)):
            if ours == ourOurs, theirs == ourTheirs { return .equal }
            let isEqual = zip(ours + theirs, ourOurs + ourTheirs).allSatisfy { recorded, made in
                recorded == made || Self.comparison(recorded, made).firstDifference == nil
            }
            return isEqual ? .equalInstructions : .different
        case (.refused, .merged), (.merged, .refused): return .different
        }
    }

    private static func comparison(_ recorded: [UInt8], _ made: [UInt8]) -> InstructionComparison {
        InstructionComparison(expected: InstructionList(recorded: recorded), ours: InstructionList(recorded: made))
    }

    /// What differs first, for people.
    func difference(_ outcome: PairOutcome, line: Int) -> Difference {
        let event = kind.map { "\($0) pair" } ?? "pair"
        switch (recorded, outcome) {
        case (.refused(let text), .merged(let ours, let theirs)):
            let words = "the reference refuses the pair: \(text ?? "it stopped without a word")"
            return Difference(
                .refusal, line: line, event: event, message: "expected an error, came a result",
                comparison: InstructionComparison(
                    expected: InstructionList(words: words),
                    ours: InstructionList(recorded: (ours + theirs).flatMap(\.self))
                ))
        case (.merged(let ours, let theirs), .refused(let refusal)):
            return Difference(
                .refusal, line: line, event: event, message: "expected a result, came an error",
                comparison: InstructionComparison(
                    expected: InstructionList(recorded: (ours + theirs).flatMap(\.self)),
                    ours: InstructionList(words: "refused: \(refusal)")))
        case (.merged(let ours, let theirs), .merged(let ourOurs, let ourTheirs)):
            let sides = [("ours_after", ours, ourOurs), ("theirs_after", theirs, ourTheirs)]
            for (name, recorded, made) in sides {
                for (position, (recorded, made)) in zip(recorded, made).enumerated() where recorded != made {
                    let comparison = Self.comparison(recorded, made)
                    guard let first = comparison.firstDifference else { continue }
                    return Difference(
                        .instructions, line: line, event: event,
                        message: "\(name)[\(position)] differs in instruction \(first + 1)", comparison: comparison)
                }
            }
        case (.refused, .refused): break
        }
        return Difference(.instructions, line: line, event: event, message: "the two sides do not differ")
    }
}

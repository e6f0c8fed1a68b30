import Query
import SeededRandom
import Testing

/// How a query is written makes no difference.
@Suite struct SpellingLawTests {
    @Test(arguments: UInt64(1)...3)
    func blanksParenthesesAndTheCaseOfKeywordsDoNotMatter(seed: UInt64) throws {
        try LawTrial.each(seed, count: 100) { trial in
            let predicate = trial.generator.predicate()
            let odd = QueryText(predicate, oddities: trial.generator.random.fork(1)).text
            let plain = QueryText.plain(predicate)
            trial.expect(try trial.selection(odd), try trial.selection(plain), "\(plain) and \(odd)")
            let (left, right) = (try TaskRealm.query(plain), try TaskRealm.query(odd))
            if left.canonicalText != right.canonicalText { Issue.record("seed \(seed): \(plain) and \(odd)") }
        }
    }

    @Test(arguments: UInt64(11)...13)
    func argumentsStandForLiterals(seed: UInt64) throws {
        try LawTrial.each(seed, count: 100) { trial in
            let predicate = trial.generator.predicate()
            let plain = QueryText.plain(predicate)
            let other = QueryText(predicate, takesArguments: true)
            let text = "\(plain) and \(other.text) with \(other.arguments)"
            trial.expect(try trial.selection(other.text, other.arguments), try trial.selection(plain), text)
            // The constants need not be the same bytes: 2.0 is another decimal than 2.
            let left = NormalizedQuery(try TaskRealm.query(plain))
            let right = NormalizedQuery(try TaskRealm.query(other.text, other.arguments))
            if left.template != right.template { Issue.record("seed \(seed): \(text)") }
        }
    }
}

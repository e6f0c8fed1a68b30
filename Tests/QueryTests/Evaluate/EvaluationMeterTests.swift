import Changesets
import RealmState
import SeededRandom
import TestSupport
import Testing

@testable import Query

/// What trying an object on a query takes, in steps: no more than the text, the object and the query call for, and never more than is allowed.
@Suite struct EvaluationMeterTests {
    private static let perObject = EvaluationLimits().stepsPerObject

    /// - Returns: nil if the object takes more than one may.
    private func trial(
        _ query: ObjectQuery, _ object: StoredObject, perObject: Int = perObject
    ) -> (holds: Bool?, meter: EvaluationMeter) {
        let meter = EvaluationMeter(perObject: perObject)
        let holds = meter.trial(
            { query.matches(object, key: .int(1), meter: meter) },
            explain: { query.explanation(of: object, key: .int(1), perObject: meter.perObject) ?? "" })
        return (holds, meter)
    }

    // MARK: Texts

    private func steps(_ op: ComparisonOperator, _ text: [UInt8], _ pattern: [UInt8], ignoresCase: Bool) -> Int {
        text.withUnsafeBufferPointer { text in
            pattern.withUnsafeBufferPointer { pattern in
                var search = TextSearch(text: text, pattern: pattern)
                _ =
                    ignoresCase
                    ? search.holds(op, as: FoldedBytes.self) : search.holds(op, as: PlainBytes.self)
                return search.steps
            }
        }
    }

    /// Two steps for each byte of text and pattern, whatever the two are, and a few where both are short. With `?` it is their product, which is counted.
    @Test(arguments: [ComparisonOperator.contains, .beginsWith, .endsWith, .like], [false, true])
    func searchingTakesWhatTheTextIsLong(_ op: ComparisonOperator, ignoresCase: Bool) {
        for seed in UInt64(1)...2_000 {
            var random = SeededGenerator(seed: seed)
            let letters = Array([UInt8(0x61), 0x61, 0x62, 0x41].prefix(1 + random.below(4)))
            func text(_ count: Int) -> [UInt8] {
                let unit = (0..<1 + random.below(7)).map { _ in letters[random.below(letters.count)] }
                return (0..<count).map { random.below(200) == 0 ? letters[0] : unit[$0 % unit.count] }
            }
            let whole = text(random.below(3_000))
            var pattern = text(random.below(400))
            if op == .like {
                for _ in 0..<random.below(60) { pattern.insert(0x2A, at: random.below(pattern.count + 1)) }
            }
            if random.below(2) == 0, !pattern.isEmpty { pattern[pattern.count - 1] = 0x63 }
            let steps = steps(op, whole, pattern, ignoresCase: ignoresCase)
            guard steps > 2 * (whole.count + pattern.count) + 600 else { continue }
            Issue.record(
                "seed \(seed): \(op.rawValue) takes \(steps) steps on \(whole.count) bytes, of \(pattern.count)")
            return
        }
    }

    @Test func aPatternWithMarksIsCutOff() throws {
        let object = TaskRealm.object(["owner": .string(ByteString([UInt8](repeating: 0x61, count: 1_000_000)))])
        let query = try TaskRealm.query("owner LIKE '*\(String(repeating: "a?", count: 3_000))b*'")
        let (holds, meter) = trial(query, object)
        expectTrue(holds == nil && meter.overrun == .object)
        // The evaluation ends where nothing is left, and not a text later.
        expectTrue(meter.steps < Self.perObject + 10_000, "\(meter.steps)")
        expectTrue(meter.explanation?.contains("owner LIKE") == true, "\(meter.explanation ?? "")")
    }

    // MARK: Attacks

    private static let letters = TaskRealm.object([
        "owner": .string(ByteString([UInt8](repeating: 0x61, count: 2_000_000))),
        "tags": .list((0..<3_000).map { .string(ByteString([UInt8](repeating: 0x61, count: 300 + $0 % 7))) }),
        "scores": .list((0..<20_000).map { .int(2 * $0) }),
    ])

    private static func many(_ count: Int, _ condition: (Int) -> String) -> String {
        (0..<count).map(condition).joined(separator: " OR ")
    }

    @Test(arguments: [
        "owner CONTAINS '\(String(repeating: "a", count: 120_000))b'",
        "owner CONTAINS[c] '\(String(repeating: "a", count: 60_000))b'",
        "owner LIKE '*\(String(repeating: "a*", count: 1_000))b'",
        "ANY tags CONTAINS '\(String(repeating: "a", count: 150))b'",
        "ANY scores IN {\((0..<20_000).map { "\(2 * $0 + 1)" }.joined(separator: ", "))}",
        "owner IN {\((0..<20_000).map { "'\($0)'" }.joined(separator: ", "))}",
        many(6_000) { "priority == \($0 + 1)" },
    ])
    func costsGrowingWithTheObjectAreAllowed(text: String) throws {
        let query = try TaskRealm.query(text)
        try query.checkSubscription()
        let (holds, meter) = trial(query, Self.letters)
        expectTrue(holds == false)
        expectTrue(meter.steps < 4_000_000, "\(meter.steps)")
    }

    @Test(arguments: [
        (many(300) { "owner CONTAINS[c] '\(String(repeating: "a", count: 500))\($0)'" }, "owner CONTAINS[c]"),
        (many(3_000) { "ANY tags CONTAINS[c] 'aab\($0)'" }, "ANY tags CONTAINS[c]"),
        (many(6_000) { "ANY scores == \(2 * $0 + 1)" }, "ANY scores =="),
        ("ANY scores IN {\((0..<9_000).map { "\(2 * $0 + 1).5" }.joined(separator: ", "))}", "ANY scores"),
    ])
    func costsGrowingWithTheProductAreCutOff(text: String, part: String) throws {
        let query = try TaskRealm.query(text)
        try query.checkSubscription()
        let (holds, meter) = trial(query, Self.letters)
        expectTrue(holds == nil && meter.overrun == .object)
        // No more than the text that it was cut off in.
        expectTrue(meter.steps < Self.perObject + 4_000_000, "\(meter.steps)")
        let explanation = meter.explanation ?? ""
        expectTrue(explanation.contains("class \"Task\"") && explanation.contains(part), "\(explanation)")
        expectTrue(explanation.utf8.count < 300)
        // The next object begins anew, and what is spent stays spent.
        expectTrue(meter.trial({ true }, explain: { "" }) == true)
        expectTrue(meter.overrun == .object)
    }

    @Test func moreComparisonsThanAllowedAreNoSubscription() throws {
        let most = QueryLimits().comparisons
        func text(_ count: Int) -> String { (0..<count).map { "priority != \($0)" }.joined(separator: " AND ") }
        try TaskRealm.query(text(most)).checkSubscription()
        let query = try TaskRealm.query(text(most + 1))
        let error = try #require(throws: QueryError.self) { try query.checkSubscription() }
        expectTrue(error.kind == .limit && error.message.contains("\(most + 1) comparisons"), "\(error)")
        // An app's own queries have no such limit.
        expectTrue(query.matches(StoredObject(), key: .int(1)) == false)
    }

    // MARK: Random queries

    /// A polynomial of the input: the square of what the query's text and the object come to, times a step of the dearest kind.
    @Test(arguments: 0..<20) func randomQueriesTakeNoMoreThanAPolynomial(_ seed: UInt64) throws {
        var generator = QueryGenerator(random: SeededGenerator(seed: seed))
        for _ in 0..<30 {
            let realm = RandomRealm(&generator.random, count: 4)
            let text = QueryText.plain(generator.predicate())
            let query = try TaskRealm.query(text)
            for (task, object) in zip(realm.tasks, realm.stored) {
                let meter = EvaluationMeter(perObject: .max)
                let holds = meter.trial(
                    { query.matches(object, key: .int(task.key), in: realm, meter: meter) }, explain: { "" })
                expectEqual(holds, query.matches(object, key: .int(task.key), in: realm))
                let size = realm.stored.reduce(0) { $0 + 8 + $1.encoded().count }
                let bound = EvaluationMeter.stepsPerNode * (text.utf8.count + size)
                guard meter.steps > bound * (1 + text.utf8.count / 16) else { continue }
                Issue.record("seed \(seed): \(text) takes \(meter.steps) steps, of \(bound)")
                return
            }
        }
    }

    /// Whatever is allowed, no trial takes more but for the piece that it was cut off in.
    @Test(arguments: 0..<20) func nothingGoesBeyondWhatIsAllowed(_ seed: UInt64) throws {
        var generator = QueryGenerator(random: SeededGenerator(seed: seed))
        var cut = 0
        for _ in 0..<60 {
            let realm = RandomRealm(&generator.random, count: 4)
            let query = try TaskRealm.query(QueryText.plain(generator.predicate()))
            let allowed = 1 + generator.random.below(600)
            for (task, object) in zip(realm.tasks, realm.stored) {
                let meter = EvaluationMeter(perObject: allowed)
                let holds = meter.trial(
                    { query.matches(object, key: .int(task.key), in: realm, meter: meter) }, explain: { "" })
                expectTrue(meter.steps < allowed + 4_000, "seed \(seed): \(meter.steps) of \(allowed)")
                if holds == nil {
                    cut += 1
                } else {
                    expectEqual(holds, query.matches(object, key: .int(task.key), in: realm))
                }
            }
        }
        expectTrue(cut > 0)
    }

    @Test func allObjectsTogetherAreBounded() throws {
        let query = try TaskRealm.query("priority == 1")
        let meter = EvaluationMeter(perObject: 1_000, limit: 100)
        let found = (0..<20).map { _ in
            meter.trial({ query.matches(StoredObject(), key: .int(1), meter: meter) }, explain: { "too much" })
        }
        expectTrue(found.first == false && found.last == Bool?.none)
        expectTrue(meter.overrun == .all && meter.explanation == "too much" && meter.steps < 120)
        meter.restart(perObject: 1_000, limit: 1_000)
        expectTrue(meter.overrun == nil && meter.steps == 0 && meter.trial({ true }, explain: { "" }) == true)
    }

    // MARK: Lists

    @Test func manyTextsAreHeldTogether() throws {
        let texts = (0..<15_000).map { "text \($0)" }
        let query = try TaskRealm.query("owner IN {\(texts.map { "'\($0)'" }.joined(separator: ", "))}")
        let bytes = texts.reduce(0) { $0 + $1.utf8.count }
        expectTrue(query.bytes < 2 * bytes + 500_000, "\(query.bytes)")
        for text in ["text 0", "text 14999", "text 777"] {
            expectTrue(query.matches(TaskRealm.object(["owner": .string(ByteString(text))]), key: .int(1)))
        }
        for text in ["", "text", "text 20000", "text 00"] {
            expectTrue(!query.matches(TaskRealm.object(["owner": .string(ByteString(text))]), key: .int(1)))
        }
        let again = try TaskRealm.query(query.exactText)
        expectTrue(again.condition == query.condition)
    }
}

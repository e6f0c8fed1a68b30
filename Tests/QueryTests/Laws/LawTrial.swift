import Query
import SeededRandom
import Testing

/// A random realm and random conditions for one law, and what the law has to hold for.
///
/// Nothing is NaN: by design it compares in its own way beside a double of the object itself.
struct LawTrial {
    let seed: UInt64
    var generator: QueryGenerator
    private(set) var realm: RandomRealm

    init(seed: UInt64) {
        self.seed = seed
        generator = QueryGenerator(random: SeededGenerator(seed: seed))
        realm = RandomRealm(&generator.random)
    }

    /// Tries a law a number of times, on another realm now and then.
    static func each(
        _ seed: UInt64, count: Int = 60, _ law: (inout LawTrial) throws -> Void
    ) rethrows {
        var trial = LawTrial(seed: seed)
        for number in 1...count {
            try law(&trial)
            if number.isMultiple(of: 15) { trial.realm = RandomRealm(&trial.generator.random) }
        }
    }

    func selection(_ text: String, _ arguments: [QueryArgument] = []) throws -> [Int64] {
        do throws(QueryError) {
            return realm.selection(try TaskRealm.query(text, arguments))
        } catch {
            Issue.record("seed \(seed): \(text) is refused")
            throw error
        }
    }

    func selection(_ predicate: Predicate) throws -> [Int64] { try selection(QueryText.plain(predicate)) }

    /// Two conditions select the same.
    func expectSame(
        _ left: Predicate, _ right: Predicate, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        expect(
            try selection(left), try selection(right), "\(QueryText.plain(left)) and \(QueryText.plain(right))",
            sourceLocation)
    }

    /// Two selections are the same.
    /// - Parameter subject: what selects them.
    func expect(
        _ left: [Int64], _ right: [Int64], _ subject: @autoclosure () -> String,
        _ sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard left != right else { return }
        let task = realm.tasks.first { left.contains($0.key) != right.contains($0.key) }
        Issue.record(
            "seed \(seed): \(subject()) differ in \(task.map { "\($0)" } ?? "order")", sourceLocation: sourceLocation)
    }
}

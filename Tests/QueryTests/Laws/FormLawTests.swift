import Changesets
import Query
import RealmState
import SeededRandom
import TestSupport
import Testing

/// The forms into which the module brings a query say the same as the query.
@Suite struct FormLawTests {
    /// Where one is read again, the order of operands may change, and blanks and parentheses with it.
    @Test(arguments: UInt64(1)...3)
    func canonicalTextsSelectTheSame(seed: UInt64) throws {
        try LawTrial.each(seed, count: 100) { trial in
            let plain = QueryText.plain(trial.generator.predicate())
            let canonical = try TaskRealm.query(plain).canonicalText
            trial.expect(try trial.selection(canonical), try trial.selection(plain), "\(plain) and \(canonical)")
            let again = try TaskRealm.query(canonical).canonicalText
            let letters = [canonical, again].map { $0.filter { !" ()".contains($0) }.utf8.sorted() }
            if letters[0] != letters[1] { Issue.record("seed \(seed): \(canonical) becomes \(again)") }
            let exact = try TaskRealm.query(plain).exactText
            trial.expect(try trial.selection(exact), try trial.selection(plain), "\(plain) and \(exact)")
        }
    }

    /// Nor does it depend on the order of operands.
    @Test(arguments: UInt64(11)...13)
    func normalFormsSelectTheSame(seed: UInt64) throws {
        try LawTrial.each(seed, count: 100) { trial in
            let predicate = trial.generator.predicate()
            let text = QueryText.plain(predicate)
            let query = try TaskRealm.query(text)
            let normal = NormalizedQuery(query)
            let other = ObjectQuery(
                className: TaskRealm.className, condition: normal.condition, schema: TaskRealm.schema)
            trial.expect(trial.realm.selection(other), trial.realm.selection(query), "\(text) and its normal form")
            let turned = NormalizedQuery(try TaskRealm.query(QueryText.plain(predicate.turnedRound)))
            if turned != normal { Issue.record("seed \(seed): \(text) turned round") }
        }
    }

    @Test(arguments: UInt64(21)...23)
    func boundEqualitiesHoldForEachSelectedObject(seed: UInt64) throws {
        try LawTrial.each(seed, count: 100) { trial in
            let bound = trial.generator.binding()
            let text = QueryText.plain(.all([bound, trial.generator.predicate(depth: 2)]))
            let query = try TaskRealm.query(text)
            let normal = NormalizedQuery(query)
            let keys = Set(trial.realm.selection(query))
            for (task, stored) in zip(trial.realm.tasks, trial.realm.stored) {
                let isBound = normal.equalities.allSatisfy { $0.holds(stored, key: task.key) }
                let isWrong = keys.contains(task.key) ? !isBound : normal.soleEquality != nil && isBound
                if isWrong { Issue.record("seed \(seed): \(text) on \(task)") }
            }
            let sole = NormalizedQuery(try TaskRealm.query(QueryText.plain(bound)))
            expectTrue(sole.soleEquality != nil, "seed \(seed): \(QueryText.plain(bound))")
        }
    }

    /// Whatever may stand in a subscription is decided by the object's own row.
    @Test(arguments: UInt64(31)...33)
    func subscriptionsLookAtNothingButTheObject(seed: UInt64) throws {
        var accepted = 0
        try LawTrial.each(seed, count: 200) { trial in
            let text = QueryText.plain(trial.generator.predicate(depth: 1))
            let query = try TaskRealm.query(text)
            guard (try? query.checkSubscription()) != nil else { return }
            accepted += 1
            let rows = zip(trial.realm.tasks, trial.realm.stored)
            let alone = try rows.filter { try query.matches(row: $1.encoded(), key: .int($0.key)) }.map(\.0.key)
            trial.expect(alone, trial.realm.selection(query), "\(text) with and without other objects")
        }
        expectTrue(accepted > 40)
    }
}

extension Predicate {
    /// The condition with the operands of each AND and OR in reverse.
    fileprivate var turnedRound: Predicate {
        switch self {
        case .all(let parts): .all(parts.reversed().map(\.turnedRound))
        case .any(let parts): .any(parts.reversed().map(\.turnedRound))
        case .not(let part): .not(part.turnedRound)
        default: self
        }
    }
}

extension QueryGenerator {
    /// A property that has to equal one of some constants.
    fileprivate mutating func binding() -> Predicate {
        let kinds: [Kind] = [.int, .string, .bool, .date]
        let field = random.pick(Field.all.filter { kinds.contains($0.kind) && !$0.isList })
        let elements = (0...random.below(3)).map { _ in random.scalar(field.kind) }
        return random.chance(50)
            ? .comparison(.path(Path(field: field)), .member, .list(elements))
            : .any(elements.map { .comparison(.path(Path(field: field)), .equal, .constant($0)) })
    }
}

extension FieldEquality {
    fileprivate func holds(_ object: StoredObject, key: Int64) -> Bool {
        switch property.slot {
        case .key: values.contains(.int(key))
        case .column(let column): values.contains(object[column] ?? property.defaultValue)
        }
    }
}

import SeededRandom
import Testing

/// Comparisons that have another way to say the same.
@Suite struct RewritingLawTests {
    @Test(arguments: UInt64(1)...3)
    func membershipIsAChainOfEqualities(seed: UInt64) throws {
        try LawTrial.each(seed) { trial in
            let path = trial.path([[], [], [.parent]], isList: trial.generator.random.chance(25))
            let elements = (0...trial.generator.random.below(7)).map { _ in trial.element(of: path) }
            try trial.expectSame(
                .comparison(.path(path), .member, .list(elements)),
                .any(elements.map { .comparison(.path(path), .equal, .constant($0)) }))
            guard let first = elements.first, path.field?.isList == true else { return }
            try trial.expectSame(
                .comparison(.constant(first), .member, .path(Path(hops: path.hops, field: path.field))),
                .comparison(.path(path), .equal, .constant(first)))
        }
    }

    @Test(arguments: UInt64(11)...13)
    func betweenIsTwoComparisons(seed: UInt64) throws {
        try LawTrial.each(seed) { trial in
            let path = trial.path([[], [], [.parent], [.subtasks]], isList: false)
            let (low, high) = (trial.element(of: path), trial.element(of: path))
            try trial.expectSame(
                .between(path, low, high),
                .all([
                    .comparison(.path(path), .greaterOrEqual, .constant(low)),
                    .comparison(.path(path), .lessOrEqual, .constant(high)),
                ]))
        }
    }

    /// Paths lead to one list here: of several lists any may satisfy a quantifier.
    @Test(arguments: UInt64(21)...23)
    func quantifiersAreNegationsOfEachOther(seed: UInt64) throws {
        try LawTrial.each(seed) { trial in
            let isList = trial.generator.random.chance(50)
            let path = trial.path(isList ? [[], [.parent]] : [[.subtasks]], isList: isList)
            let constant = Operand.constant(trial.element(of: path))
            let op = trial.generator.order()
            let (any, all, none) = (path.quantified(.any), path.quantified(.all), path.quantified(.no))
            try trial.expectSame(.comparison(none, op, constant), .not(.comparison(any, op, constant)))
            // Null and what cannot be compared satisfy neither an order nor its opposite.
            let opposites: [Operator: Operator] = [
                .equal: .notEqual, .notEqual: .equal, .less: .greaterOrEqual, .greaterOrEqual: .less,
                .greater: .lessOrEqual, .lessOrEqual: .greater,
            ]
            guard let opposite = opposites[op], isList || op == .equal || op == .notEqual else { return }
            try trial.expectSame(.comparison(all, op, constant), .comparison(none, opposite, constant))
        }
    }

    /// Except for strings of the object itself, where null is the least beside a constant on the right only.
    @Test(arguments: UInt64(31)...33)
    func comparisonsTurnRound(seed: UInt64) throws {
        let turned: [Operator: Operator] = [
            .less: .greater, .greater: .less, .lessOrEqual: .greaterOrEqual, .greaterOrEqual: .lessOrEqual,
        ]
        try LawTrial.each(seed) { trial in
            let path = trial.path([[], [.parent], [.subtasks]], isList: trial.generator.random.chance(20))
            let constant = Operand.constant(trial.element(of: path))
            var op = trial.generator.order()
            if path.field?.kind == .string, turned[op] != nil { op = .equal }
            try trial.expectSame(
                .comparison(.path(path), op, constant), .comparison(constant, turned[op] ?? op, .path(path)))
        }
    }

    @Test(arguments: UInt64(41)...43)
    func aSubqueryThatFindsSomethingIsAnyOfTheLinkedTasks(seed: UInt64) throws {
        try LawTrial.each(seed) { trial in
            let path = trial.path([[.subtasks]], isList: false)
            let op = trial.generator.random.pick([Operator.equal, .notEqual])
            let constant = Operand.constant(trial.element(of: path))
            let inner = Predicate.comparison(.path(Path(field: path.field)), op, constant)
            try trial.expectSame(
                .comparison(.subquery(inner), .greater, .constant(.int(0))),
                .comparison(path.quantified(.any), op, constant))
            try trial.expectSame(
                .comparison(.subquery(inner), .equal, .count(Path(hops: [.subtasks]))),
                .comparison(path.quantified(.all), op, constant))
        }
    }
}

extension Path {
    fileprivate func quantified(_ quantifier: Quantifier) -> Operand {
        var path = self
        path.quantifier = quantifier
        return .path(path)
    }
}

extension LawTrial {
    /// A path without a quantifier, or with ANY before a list.
    fileprivate mutating func path(_ hops: [[Hop]], isList: Bool) -> Path {
        let field = generator.random.pick(Field.all.filter { $0.isList == isList })
        return Path(hops: generator.random.pick(hops), field: field, quantifier: isList ? .any : nil)
    }

    /// A constant of just the type that a path leads to.
    fileprivate mutating func element(of path: Path) -> Scalar {
        generator.random.scalar(path.field?.kind ?? .int, isSmall: true)
    }
}

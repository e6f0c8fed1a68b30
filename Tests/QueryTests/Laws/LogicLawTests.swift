import Testing

/// AND, OR and NOT are those of two-valued logic, whatever they join.
@Suite struct LogicLawTests {
    @Test(arguments: UInt64(1)...3)
    func selectionsJoinAsSets(seed: UInt64) throws {
        try LawTrial.each(seed) { trial in
            let (left, right) = (trial.generator.predicate(depth: 2), trial.generator.predicate(depth: 2))
            let (first, second) = (try trial.selection(left), try trial.selection(right))
            let text = "\(QueryText.plain(left)) and \(QueryText.plain(right)) joined"
            trial.expect(try trial.selection(.all([left, right])), first.filter(second.contains), text)
            trial.expect(try trial.selection(.any([left, right])), Set(first + second).sorted(), text)
            let others = trial.realm.tasks.map(\.key).filter { !first.contains($0) }
            trial.expect(try trial.selection(.not(left)), others, "not \(QueryText.plain(left))")
        }
    }

    @Test(arguments: UInt64(11)...13)
    func negationMovesInward(seed: UInt64) throws {
        try LawTrial.each(seed) { trial in
            let (left, right) = (trial.generator.predicate(depth: 2), trial.generator.predicate(depth: 2))
            try trial.expectSame(.not(.not(left)), left)
            try trial.expectSame(.not(.all([left, right])), .any([.not(left), .not(right)]))
            try trial.expectSame(.not(.any([left, right])), .all([.not(left), .not(right)]))
        }
    }

    @Test(arguments: UInt64(21)...23)
    func constantsDecideOrVanish(seed: UInt64) throws {
        try LawTrial.each(seed) { trial in
            let predicate = trial.generator.predicate()
            try trial.expectSame(.all([predicate, .always(true)]), predicate)
            try trial.expectSame(.any([.always(false), predicate]), predicate)
            try trial.expectSame(.all([.always(false), predicate]), .always(false))
            try trial.expectSame(.any([predicate, .always(true)]), .always(true))
        }
    }
}

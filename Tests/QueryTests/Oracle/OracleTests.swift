import Changesets
import Query
import SeededRandom
import Testing

/// Random queries on random objects, beside an interpreter that was written from the description of the language alone.
@Suite struct OracleTests {
    @Test(arguments: UInt64(1)...6)
    func queriesSelectWhatTheDescriptionOfTheLanguageSays(seed: UInt64) throws {
        var generator = QueryGenerator(random: SeededGenerator(seed: seed))
        for _ in 0..<30 {
            let realm = RandomRealm(&generator.random, withNaN: true)
            let interpreter = Interpreter(realm: realm)
            for _ in 0..<20 {
                let predicate = generator.predicate(depth: generator.random.below(4))
                let text = QueryText.plain(predicate)
                let query: ObjectQuery
                do throws(QueryError) {
                    query = try TaskRealm.query(text)
                } catch {
                    Issue.record("seed \(seed): \(text) is refused: \(error)")
                    continue
                }
                let wrong = zip(realm.tasks, realm.stored).first { task, stored in
                    query.matches(stored, key: .int(task.key), in: realm) != interpreter.selects(predicate, task)
                }
                if let (task, _) = wrong {
                    let expected = interpreter.selects(predicate, task)
                    Issue.record("seed \(seed): \(text) has to be \(expected) for \(task)")
                }
            }
        }
    }
}

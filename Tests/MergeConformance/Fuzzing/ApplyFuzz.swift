import Changesets
import RealmState

enum ApplyFuzz {
    private static let before = StateDump.canonical(of: FuzzRealm.state)

    static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
        guard let changeset = try? Changeset(parsing: bytes, limits: ChangesetFuzz.limits) else { return }
        var state = FuzzRealm.state
        state.begin()
        if (try? state.apply(changeset)) != nil {
            state.commit()
            try check(state)
        } else {
            state.rollback()
            try BrokenLaw.check(
                StateDump.canonical(of: state) == before, "a changeset that failed has left something behind")
        }
    }

    /// Whatever a state holds can be stored object by object, and sent to somebody who has nothing.
    private static func check(_ state: RealmState) throws(BrokenLaw) {
        let canonical = StateDump.canonical(of: state)
        _ = StateDump.json(of: state)
        var stored = RealmState(schema: state.schema)
        for table in state.schema.tables {
            for (key, object) in state.objects(of: table.name) {
                let again = try? StoredObject(decoding: object.encoded())
                try BrokenLaw.check(again == object, "an object of \(table.name) is another one once it is stored")
                stored.load(ObjectAddress(table.name, key), again)
            }
        }
        try BrokenLaw.check(StateDump.canonical(of: stored) == canonical, "the state is another one once it is stored")
        try BrokenLaw.check(
            (try? Schema(decoding: state.schema.encoded())) == state.schema,
            "the schema is another one once it is stored")
        var copy = RealmState()
        for changeset in state.changesets(byteBudget: 512) {
            do {
                try copy.apply(Changeset(parsing: changeset.encoded()))
            } catch {
                throw BrokenLaw("a changeset made of the state cannot be applied: \(error)")
            }
        }
        try BrokenLaw.check(
            StateDump.canonical(of: copy) == canonical, "changesets made of the state build another one")
    }
}

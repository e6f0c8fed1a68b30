import Changesets
import RealmState

enum TaskRealm {
    /// A realm with tasks, which have places, and notes, whose keys are made.
    static func make() throws -> RealmState {
        var state = RealmState()
        _ = try state.record { (transaction: inout RecordingTransaction) throws(RecordingError) in
            try transaction.createEmbeddedTable("Place")
            try transaction.addColumn("Place", "city", ElementType(type: .string, nullable: true))
            try transaction.addColumn("Place", "visits", ElementType(type: .int, nullable: false))
            try transaction.createTable("Task", key: KeySchema(name: "_id", type: .int, nullable: false))
            try transaction.addColumn("Task", "title", ElementType(type: .string, nullable: false))
            try transaction.addColumn("Task", "n", ElementType(type: .int, nullable: true))
            try transaction.addColumn("Task", "cost", ElementType(type: .decimal, nullable: true))
            try transaction.addColumn("Task", "ratio", ElementType(type: .double, nullable: true))
            try transaction.addColumn("Task", "tags", ElementType(type: .string, nullable: false), collection: .list)
            try transaction.addColumn("Task", "seen", ElementType(type: .int, nullable: false), collection: .set)
            try transaction.addColumn("Task", "meta", .mixed, collection: .dictionary)
            try transaction.addColumn("Task", "any", .mixed)
            try transaction.addColumn("Task", "place", ElementType(type: .link, nullable: true, target: "Place"))
            try transaction.addColumn(
                "Task", "places", ElementType(type: .link, nullable: false, target: "Place"), collection: .list)
            try transaction.addColumn("Task", "parent", ElementType(type: .link, nullable: true, target: "Task"))
            try transaction.createTable("Note", key: KeySchema(name: "_id", type: .objectID, nullable: false))
            try transaction.addColumn("Note", "text", ElementType(type: .string, nullable: true))
        }
        return state
    }
}

extension Changeset {
    /// The kinds of the instructions.
    var names: [String] { instructions.map(\.name) }
}

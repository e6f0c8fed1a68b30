import Changesets
import Query
import RealmState
import SeededRandom

/// A task with random values.
struct RandomTask: CustomStringConvertible {
    var key: Int64
    /// The values by the names of the fields, one for a single value; without the fields that were never written.
    var written: [String: [Scalar]] = [:]
    var parent: Int64?
    var subtasks: [Int64]

    func values(of field: Field) -> [Scalar] {
        field.name == "_id" ? [.int(key)] : written[field.name] ?? field.initial
    }

    /// The task as stores have it.
    var stored: StoredObject {
        var values: [ByteString: Value] = ["subtasks": .list(subtasks.map { Scalar.link($0).stored(as: .int) })]
        if let parent { values["parent"] = Scalar.link(parent).stored(as: .int) }
        for field in Field.all {
            guard let scalars = written[field.name]?.map({ $0.stored(as: field.kind) }) else { continue }
            values[ByteString(field.name)] = field.isList ? .list(scalars) : scalars[0]
        }
        return TaskRealm.object(values)
    }

    var description: String {
        let fields = Field.all.map { field in
            let literals = values(of: field).map(\.literal).joined(separator: ", ")
            return "\(field.name): \(field.isList ? "{\(literals)}" : literals)"
        }
        return "\(fields.joined(separator: ", ")), parent: \(parent.map { "\($0)" } ?? "NULL"), subtasks: \(subtasks)"
    }
}

/// A few random tasks that link to one another, in circles too.
struct RandomRealm: QueryGraph {
    let tasks: [RandomTask]
    let stored: [StoredObject]
    let schema = TaskRealm.schema

    init(_ random: inout SeededGenerator, count: Int = 12, withNaN: Bool = false) {
        var tasks: [RandomTask] = []
        for key in 0..<count {
            let subtasks = (0..<random.below(4)).map { _ in Int64(random.below(count)) }
            var task = RandomTask(key: Int64(key), subtasks: subtasks)
            if random.chance(60) { task.parent = Int64(random.below(count)) }
            for field in Field.all where field.name != "_id" && random.chance(80) {
                task.written[field.name] = (0..<(field.isList ? random.below(4) : 1)).map { _ in
                    if field.isOptional, random.chance(25) { return .null }
                    if withNaN, field.kind == .double || field.kind == .float, random.chance(15) { return .real(.nan) }
                    return random.scalar(field.kind)
                }
            }
            tasks.append(task)
        }
        self.tasks = tasks
        stored = tasks.map(\.stored)
    }

    /// The keys of the tasks that a query selects.
    func selection(_ query: ObjectQuery) -> [Int64] {
        zip(tasks, stored).filter { query.matches($1, key: .int($0.key), in: self) }.map(\.0.key)
    }

    func object(at address: ObjectAddress) -> (any QueryObject)? {
        guard case .int(let key) = address.key, stored.indices.contains(Int(key)) else { return nil }
        return stored[Int(key)]
    }

    // Random queries follow no links backwards.

    func origins(of address: ObjectAddress, in className: ByteString, over column: ColumnID) -> [ObjectAddress] { [] }

    func incomingLinkCount(of address: ObjectAddress) -> Int { 0 }
}

import PostgreSQL
import Storage
import SyncModel

/// The statements of one pipeline about one slice, which is the first parameter of each.
struct SliceStatements {
    private(set) var pipeline = PostgresPipeline()
    private let slice: Int64

    init(_ slice: SliceNumber) { self.slice = Int64(slice.value) }

    mutating func add(_ sql: String, _ values: PostgresValue...) { add(sql, values: values) }
    mutating func add(_ sql: String, values: [PostgresValue]) { pipeline.add(sql, [.int(slice)] + values) }
    mutating func add(_ steps: TerminationSteps) { pipeline.add(steps.putting, steps.values(slice)) }
}

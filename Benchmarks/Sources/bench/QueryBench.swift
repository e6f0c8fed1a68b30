import ArgumentParser
import Changesets
import Foundation
import Query
import RealmState

/// Tries queries on objects: as they lie in memory, and as a store keeps them. The same loop around a comparison written by hand
/// shows what the query machinery costs.
struct QueryBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Comparisons a second of simple and less simple queries, on one core.")

    @Option(help: "Objects to try each query on.") var objects = 100_000
    @Option(help: "Runs of each; the best one counts.") var runs = 5
    @Flag(help: "Print one JSON line a query.") var json = false

    private struct Line: Encodable {
        var query: String
        var comparisons_per_second: Double
        var rows_per_second: Double
        var selected: Int
    }

    private static let queries = [
        "owner == \"user-17\"", "priority > 3", "owner == \"user-17\" and done == false",
        "owner IN {\"user-1\", \"user-2\", \"user-3\", \"user-4\"}", "ANY tags == \"red\"",
        "title CONTAINS[c] \"report\"",
        "value == 5", "priority + 1 == 4",
    ]

    func run() throws {
        let input = QueryBenchInput(count: objects)
        print(report("priority > 3, by hand", try measure { try input.handwritten() }, nil, 0))
        for text in Self.queries {
            let query = try ObjectQuery(ByteString(text), on: "Task", schema: input.schema)
            var selected = 0
            let values = try measure { selected = input.rows.count { query.matches($0.object, key: $0.key) } }
            let bytes = try measure {
                selected = try input.encoded.count {
                    query.matches(try StoredObject(decoding: $0.bytes, only: query.columns), key: $0.key)
                }
            }
            print(report(text, values, bytes, selected))
        }
    }

    private func measure(_ body: () throws -> Void) throws -> Duration {
        var best = Duration.seconds(1_000_000)
        for _ in 0..<max(runs, 1) { best = min(best, try ContinuousClock().measure(body)) }
        return best
    }

    private func report(_ text: String, _ values: Duration, _ bytes: Duration?, _ selected: Int) -> String {
        func rate(_ time: Duration) -> Double { Double(objects) / (time.milliseconds / 1000) }
        if json {
            let line = Line(
                query: text, comparisons_per_second: rate(values), rows_per_second: bytes.map(rate) ?? 0,
                selected: selected)
            guard let data = try? JSONEncoder().encode(line) else { return "" }
            return String(decoding: data, as: UTF8.self)
        }
        let stored = bytes.map { String(format: "%6.2f million rows/s", rate($0) / 1e6) } ?? ""
        return String(format: "%7.2f million objects/s  ", rate(values) / 1e6) + stored + "  \(text)"
    }
}

/// Objects of one class with the fields that apps subscribe by.
private struct QueryBenchInput {
    let schema: QuerySchema
    let rows: [(key: ObjectKey, object: StoredObject)]
    let encoded: [(key: ObjectKey, bytes: [UInt8])]

    init(count: Int) {
        func column(
            _ name: ByteString, _ number: UInt32, _ type: QueryType, _ value: Value,
            _ collection: CollectionType = .single
        ) -> QueryProperty {
            QueryProperty(
                name: name, type: type, collection: collection, isNullable: value == .null,
                slot: .column(ColumnID(rawValue: number)), defaultValue: value)
        }
        schema = QuerySchema([
            QueryClass(
                name: "Task", isEmbedded: false,
                properties: [
                    column("title", 0, .string, .string("")), column("notes", 1, .string, .null),
                    column("owner", 2, .string, .string("")), column("priority", 3, .int, .int(0)),
                    column("done", 4, .bool, .bool(false)), column("tags", 5, .string, .list([]), .list),
                    column("value", 6, .mixed, .null), column("payload", 7, .binary, .binary([])),
                ])
        ])
        rows = (0..<count).map { number in
            let values: [Value] = [
                .string(ByteString(number % 7 == 0 ? "Weekly report \(number)" : "Task number \(number)")),
                .string(ByteString(String(repeating: "n", count: 60))), .string(ByteString("user-\(number % 100)")),
                .int(Int64(number % 10)), .bool(number % 3 == 0),
                .list([.string("blue"), .string(number % 5 == 0 ? "red" : "green")]),
                number % 2 == 0 ? .int(Int64(number % 10)) : .string("x"), .binary([UInt8](repeating: 7, count: 200)),
            ]
            var columns: [ColumnID: Value] = [:]
            for (index, value) in values.enumerated() { columns[ColumnID(rawValue: UInt32(index))] = value }
            return (.int(Int64(number)), StoredObject(columns))
        }
        encoded = rows.map { ($0.key, $0.object.encoded()) }
    }

    /// `priority > 3` without a query.
    func handwritten() throws {
        let column = ColumnID(rawValue: 3)
        let selected = rows.count { if case .int(let value)? = $0.object[column] { value > 3 } else { false } }
        if selected > rows.count { throw ExitCode.failure }
    }
}

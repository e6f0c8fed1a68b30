import ArgumentParser
import Foundation
import LocalCluster

/// What all measurements on whole clusters can be told.
struct ClusterBenchOptions: ParsableArguments {
    @Option(help: "The release-built binary; by default the engine's, built if it is not there.") var sluice: String?
    @Option(help: "Workers.") var workers = 2
    @Option(help: "Slices that the realms are divided into.") var slices = 8
    @Option(
        help: ArgumentHelp(
            "Where the data is: sqlite, postgres, or postgres+1ms with so much delay each way; repeated: side by side.",
            valueName: "store"))
    var store: [BenchStore] = [.sqlite]
    @Option(help: "The PostgreSQL server, postgres://user@127.0.0.1:port/database; by default a private one.")
    var postgres: String?
    @Flag(help: "End with a JSON line for each store.") var json = false
    @Flag(help: "Keep the folder with logs and stores, and say where it is.") var keep = false
    @Flag(help: "Say on standard error which process ids to profile, and wait for Return before the clock starts.")
    var pause = false

    func validate() throws {
        guard (1...64).contains(workers), (1...1024).contains(slices) else {
            throw ValidationError("expected 1 to 64 workers and 1 to 1024 slices")
        }
        guard Set(store).count == store.count else { throw ValidationError("a store is named twice") }
    }
}

/// The last line of a measurement with `--json`.
struct Measurement {
    var name: String
    /// Where the data was, if the measurement compares stores.
    var store: BenchStore?
    var value: Double
    var unit: String
    /// The same work done by a peer in the same run.
    var comparison: Double?

    func printLine() {
        let comparison = comparison.map { "\($0)" } ?? "null"
        let store = store.map { #""store":"\#($0.name)","# } ?? ""
        print(#"{"name":"\#(name)",\#(store)"value":\#(value),"unit":"\#(unit)","comparison":\#(comparison)}"#)
    }
}

/// Why a measurement cannot go on.
struct BenchFailure: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

func progress(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

/// Rows of text under headings, columns right-aligned but for the first.
struct TextTable {
    private var rows: [[String]]

    init(_ headings: String...) { rows = [headings] }

    mutating func row(_ cells: String...) { rows.append(cells) }

    func show() {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        for row in rows {
            let cells = row.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + padding : padding + cell
            }
            print(cells.joined(separator: "  "))
        }
    }
}

extension Double {
    func text(_ digits: Int = 0) -> String { String(format: "%.\(digits)f", self) }
}

import ArgumentParser
import DeviceSync
import Foundation

/// What a realm on disk costs its app, without any server; beside it an encrypted one, and GRDB doing the same with a
/// table of the same columns.
struct LocalBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "local",
        abstract: """
            A realm on disk: opening it, reads by key, an indexed query, a large write; the same encrypted, and plain GRDB.
            """)

    @Option(help: "Objects in the realm.") var objects = 1_000_000
    @Option(help: "Objects that the measured transaction writes.") var written = 20_000
    @Option(help: "Reads by primary key, of 10,000 objects again and again.") var reads = 1_000_000
    @Option(help: "Runs of the reads and of the query; the best one counts.") var runs = 5
    @Option(help: "The folder of the files, which must not exist.") var folder: String?
    @Flag(help: "Print one JSON line at the end.") var json = false
    /// Each engine is measured in a process of its own, which has not filled the file.
    @Option(help: .hidden) var only: LocalEngine?

    func validate() throws {
        guard objects >= 1000, written > 0, reads > 0, runs > 0 else {
            throw ValidationError("expected at least 1,000 objects and positive numbers")
        }
    }

    func run() throws {
        if let only, let folder {
            let figures = try only.store.measure(URL(fileURLWithPath: folder), self)
            return print(String(decoding: try JSONEncoder().encode(figures), as: UTF8.self))
        }
        let folder = folder ?? FileManager.default.temporaryDirectory.appendingPathComponent("local-\(UUID())").path
        let url = URL(fileURLWithPath: folder)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: url) }
        var lines: [String: LocalFigures] = [:]
        for engine in LocalEngine.allCases {
            try engine.store.fill(url, self)
            let figures = try measure(engine, folder)
            lines[engine.rawValue] = figures
            if !json { print(figures.text(engine)) }
        }
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            print(String(decoding: try encoder.encode(lines), as: UTF8.self))
        }
    }

    private func measure(_ engine: LocalEngine, _ folder: String) throws -> LocalFigures {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).absoluteURL
        process.arguments = [
            "local", "--only", engine.rawValue, "--folder", folder, "--objects", "\(objects)", "--written",
            "\(written)",
            "--reads", "\(reads)", "--runs", "\(runs)",
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw ExitCode(process.terminationStatus) }
        return try JSONDecoder().decode(LocalFigures.self, from: output)
    }

    /// The least time of several runs.
    func best(_ body: () throws -> Void) rethrows -> Duration {
        var best = Duration.seconds(1_000_000)
        for _ in 0..<runs { best = min(best, try ContinuousClock().measure(body)) }
        return best
    }
}

enum LocalEngine: String, CaseIterable, ExpressibleByArgument {
    case realm
    case encrypted
    case grdb

    var store: any LocalStore.Type {
        switch self {
        case .realm: LocalRealm.self
        case .encrypted: EncryptedLocalRealm.self
        case .grdb: LocalTable.self
        }
    }
}

/// What is measured does the same with the same data.
protocol LocalStore {
    static func fill(_ folder: URL, _ bench: LocalBench) throws
    static func measure(_ folder: URL, _ bench: LocalBench) throws -> LocalFigures
}

/// The values of one object.
struct LocalItem {
    var id: Int
    var owner: String
    var title: String
    var priority: Int
    var done: Bool

    /// Makes the item with this id. Each owner has 1,000 items in a realm of 1,000,000.
    init(_ id: Int) {
        self.id = id
        owner = "user-\(id % 1000)"
        title = "task \(id)"
        priority = id % 7
        done = id % 3 == 0
    }
}

struct LocalFigures: Codable {
    var open_ms: Double = 0
    var open_mb: Double = 0
    var reads_per_second: Double = 0
    var properties_per_second: Double = 0
    var query_ms: Double = 0
    var query_results = 0
    var write_s: Double = 0
    var peak_mb: Double = 0

    func text(_ engine: LocalEngine) -> String {
        String(
            format:
                "%@: open %.1f ms, %.1f MB; %.0f reads by key/s, %.0f with a property/s; %d results of a query in %.2f ms; write %.3f s; peak %.0f MB",
            engine.rawValue, open_ms, open_mb, reads_per_second, properties_per_second, query_results, query_ms,
            write_s,
            peak_mb)
    }

    /// Returns a memory figure of this process by its name in `/proc/self/status`, in MB.
    static func memory(_ name: String) -> Double {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") } ?? ""
        return (line.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0) / 1024
    }
}

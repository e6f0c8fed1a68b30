import ArgumentParser
import Foundation
import LocalCluster
import Synchronization

/// Documents of files into a realm and out again.
struct DocumentFiles: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "document-files",
        abstract: "`documents import` into a flexible realm, `export`, and into another realm and out of it again: "
            + "documents/s, and the processes' memory on the way.")

    @OptionGroup var options: ClusterBenchOptions
    @Option(help: "Documents.") var documents = 1_000_000
    @Option(help: "Bytes of each in the file, about.") var bytes = 500
    @Flag(help: "Neither import what was exported into another realm nor compare.") var once = false

    func validate() throws {
        guard documents > 0, (200...100_000).contains(bytes) else {
            throw ValidationError("expected documents of 200 to 100000 bytes")
        }
    }

    func run() async throws {
        let rates = Mutex<[(name: String, rate: Double)]>([])
        try await BenchCluster.with(options, isFlexible: true) { cluster in
            let folder = "\(cluster.cluster.folder)/files"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let file = "\(folder)/Note.ndjson"
            progress("writing \(documents) documents ...")
            try await offTheCooperativeThreads { try write(to: file) }
            cluster.pauseIfAsked(options)
            var table = TextTable("what", "s", "documents/s", "memory at a quarter, and most, in MB")
            func measure(_ name: String, _ arguments: [String]) async throws {
                let memory = MemoryCourse(cluster, command: arguments[1])
                let start = MonotonicTime.now
                _ = try await cluster.cluster.operate(arguments)
                let seconds = MonotonicTime.seconds(MonotonicTime.now - start)
                let rate = Double(documents) / seconds
                table.row(name, seconds.text(1), rate.text(), await memory.end())
                progress("\(name): \(rate.text()) documents/s")
                rates.withLock { $0.append((name, rate)) }
            }
            let flexible = ["--app", BenchCluster.flexibleApp]
            let copy = ["--app", BenchCluster.app, "--partition", "copy"]
            try await measure("import", ["documents", "import"] + flexible + [file])
            let count = try await cluster.cluster.operate(["documents", "count"] + flexible + ["Note"])
            guard Int(count.trimmingCharacters(in: .whitespacesAndNewlines)) == documents else {
                throw BenchFailure("the realm has \(count) documents of \(documents)")
            }
            try await measure(
                "export", ["documents", "export"] + flexible + ["--class", "Note", "--to", "\(folder)/one"])
            if !once {
                try await measure("import-copy", ["documents", "import"] + copy + ["\(folder)/one/Note.ndjson"])
                try await measure(
                    "export-copy", ["documents", "export"] + copy + ["--class", "Note", "--to", "\(folder)/two"])
                _ = try await cluster.cluster.shell("cmp", ["\(folder)/one/Note.ndjson", "\(folder)/two/Note.ndjson"])
                print("what was exported of both realms is equal, byte for byte")
            }
            table.show()
        }
        guard options.json else { return }
        for (name, rate) in rates.withLock({ $0 }) {
            Measurement(name: "document-files/\(name)", value: rate, unit: "documents/s").printLine()
        }
    }

    private func write(to path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
        else { throw BenchFailure("cannot write \(path)") }
        let filling = String(repeating: "x", count: bytes - 190)
        var text = ""
        for number in 0..<documents {
            let id = String(format: "%024x", number)
            text +=
                #"{"_id":{"$oid":"\#(id)"},"title":"note \#(number)","body":"\#(filling)","stars":{"$numberLong":"\#(number % 5)"},"done":\#(number.isMultiple(of: 3)),"at":{"$date":{"$numberLong":"\#(1_700_000_000_000 + number)"}}}"#
                + "\n"
            guard text.utf8.count > 1 << 20 || number == documents - 1 else { continue }
            try file.write(contentsOf: Data(text.utf8))
            text = ""
        }
        try file.close()
    }
}

/// The memory of a cluster's processes, and of a command, while the command runs.
private struct MemoryCourse {
    private let sampling: Task<[[String: Int]], Never>

    /// - Parameter command: a word of the command's arguments.
    init(_ cluster: BenchCluster, command: String) {
        sampling = Task {
            var samples: [[String: Int]] = []
            while !Task.isCancelled {
                var sample: [String: Int] = [:]
                for (name, pid) in cluster.processes where name != "load" && name != "broker" {
                    sample[name] = ProcessUsage.residentKilobytes(of: pid)
                }
                if let pid = Self.running(command, in: cluster.cluster.folder) {
                    sample[command] = ProcessUsage.residentKilobytes(of: pid)
                }
                samples.append(sample)
                try? await Task.sleep(for: .milliseconds(500))
            }
            return samples
        }
    }

    /// `name quarter/most` of each process.
    func end() async -> String {
        sampling.cancel()
        let samples = await sampling.value
        let names = Set(samples.flatMap(\.keys)).sorted()
        return names.map { name in
            let known = samples.compactMap { $0[name] }
            let quarter = known.isEmpty ? 0 : known[known.count / 4]
            return "\(name) \(quarter / 1024)/\((known.max() ?? 0) / 1024)"
        }.joined(separator: ", ")
    }

    /// The process whose arguments are those of `documents` with this word.
    private static func running(_ command: String, in folder: String) -> Int32? {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let pid = Int32(name), let data = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") else {
                continue
            }
            let words = data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            if words.count > 2, words[1] == "documents", words[2] == command { return pid }
        }
        return nil
    }
}

import ArgumentParser
import Foundation
import Synchronization

/// How fast a subscription set's data comes, and what it takes in memory.
struct Bootstrap: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bootstrap",
        abstract: "A new client of a flexible realm subscribes to all of its objects: objects a second, and memory.")

    @OptionGroup var options: ClusterBenchOptions
    @Option(help: "Objects of the realm; repeated: it grows.") var objects: [Int] = [100_000, 1_000_000]
    @Option(help: "Clients, one after the other, at each size; the best one counts.") var runs = 3

    func validate() throws {
        guard runs > 0, objects.allSatisfy({ $0 > 0 }), objects == objects.sorted(), !objects.isEmpty else {
            throw ValidationError("expected runs, and sizes that grow")
        }
    }

    private struct Run {
        var seconds: Double
        var plainBytes: UInt64
        /// The memory of workers and gateway before the bootstrap and its maximum meanwhile, in kB.
        var memory: [String: (before: Int, peak: Int)]
    }

    func run() async throws {
        let rates = Mutex<[Double]>([])
        try await BenchCluster.with(options, isFlexible: true) { cluster in
            let loop = LoadLoop()
            try await loop.run { try FlexibleRealm(cluster, $0).declare() }
            var table = TextTable(
                "objects", "seconds", "objects/s", "MB", "worker MiB", "at most", "gateway MiB", "at most", "CPU")
            for (index, count) in objects.enumerated() {
                let before = index == 0 ? 0 : objects[index - 1]
                try await loop.run { try FlexibleRealm(cluster, $0).fill(from: before, to: count, run: index + 1) }
                if index == 0 { cluster.pauseIfAsked(options) }
                var best: (run: Run, cpu: String)?
                for _ in 0..<runs {
                    let usage = ProcessUsage(of: cluster.processes)
                    let run = try await loop.run { try bootstrap(cluster, $0, count, counting: index == 0) }
                    let cpu = ProcessUsage(of: cluster.processes).since(usage)
                    if best.map({ run.seconds < $0.run.seconds }) ?? true { best = (run, cpu) }
                }
                guard let best else { continue }
                let rate = Double(count) / best.run.seconds
                rates.withLock { $0.append(rate) }
                func mebibytes(_ role: String, _ part: KeyPath<(before: Int, peak: Int), Int>) -> String {
                    (Double(best.run.memory[role]?[keyPath: part] ?? 0) / 1024).text(1)
                }
                table.row(
                    "\(count)", best.run.seconds.text(2), rate.text(),
                    (Double(best.run.plainBytes) / 1e6).text(1), mebibytes("worker", \.before),
                    mebibytes("worker", \.peak), mebibytes("gateway", \.before), mebibytes("gateway", \.peak), best.cpu)
            }
            table.show()
        }
        guard options.json else { return }
        for (count, rate) in zip(objects, rates.withLock { $0 }) {
            Measurement(name: "bootstrap/\(count)", value: rate, unit: "objects/s", comparison: nil).printLine()
        }
    }

    /// - Parameter counting: whether to look, behind the clock, that everything has come.
    private func bootstrap(
        _ cluster: BenchCluster, _ loop: LoadLoop, _ count: Int, counting: Bool
    ) throws -> Run {
        let client = LoadClient(subscribingTo: [:])
        try Fleet([client], on: loop).open(cluster)
        client.keepsBodies = counting
        var memory = residentMemory(cluster).mapValues { (before: $0, peak: $0) }
        let bytes = client.plainBytes
        var look = MonotonicTime.now
        let start = look
        try client.subscribe(to: FlexibleRealm.everything)
        var end = start
        client.onSubscribed = { _ in end = MonotonicTime.now }
        try loop.serve("\(count) objects have come", upTo: .seconds(600)) {
            if MonotonicTime.now - look > 20_000_000 {
                look = MonotonicTime.now
                for (role, now) in residentMemory(cluster) where now > memory[role]?.peak ?? .max {
                    memory[role]?.peak = now
                }
            }
            return end > start
        }
        if counting {
            let created = try client.countCreated()
            guard created == count else { throw BenchFailure("\(created) of \(count) objects came") }
            client.forgetBodies()
        }
        client.disconnect()
        return Run(seconds: MonotonicTime.seconds(end - start), plainBytes: client.plainBytes - bytes, memory: memory)
    }

    /// Returns the resident memory by role, in kB: for workers, that of the worker that has most.
    private func residentMemory(_ cluster: BenchCluster) -> [String: Int] {
        var memory: [String: Int] = [:]
        for (name, pid) in cluster.cluster.processIdentifiers {
            guard let role = ["worker", "gateway"].first(where: { name.hasPrefix($0) }) else { continue }
            memory[role] = max(memory[role] ?? 0, ProcessUsage.residentKilobytes(of: pid))
        }
        return memory
    }
}

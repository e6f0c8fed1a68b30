#if canImport(Glibc)
import Glibc
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the operating system says of this process, in the names that Prometheus' own clients use. Read at each scrape.
struct ProcessMetrics {
    private struct Sample {
        var name: String
        var kind: String
        var help: String
        var value: Double
    }

    /// Empty where there is no /proc.
    static func render() -> String {
        samples().map { sample in
            "# HELP \(sample.name) \(sample.help)\n# TYPE \(sample.name) \(sample.kind)\n"
                + prometheusLine(sample.name, "", PrometheusName.number(sample.value))
        }.joined()
    }

    private static func samples() -> [Sample] {
        #if canImport(Glibc)
        var found: [Sample] = []
        func add(_ name: String, _ kind: String, _ help: String, _ value: Double) {
            found.append(Sample(name: name, kind: kind, help: help, value: value))
        }
        // After the command, which stands in parentheses and may hold anything: state is field 3 of proc(5).
        if let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
            let end = stat.lastIndex(of: ")")
        {
            let fields = stat[stat.index(after: end)...].split(separator: " ").map { Double($0) ?? 0 }
            let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
            let page = Double(max(1, sysconf(Int32(_SC_PAGESIZE))))
            func field(_ number: Int) -> Double { fields.indices.contains(number - 3) ? fields[number - 3] : 0 }
            add(
                "process_cpu_seconds_total", "counter", "Processor time, user and system.",
                (field(14) + field(15)) / ticks)
            add("process_threads", "gauge", "Threads.", field(20))
            add("process_virtual_memory_bytes", "gauge", "Address space.", field(23))
            add("process_resident_memory_bytes", "gauge", "Memory in use.", field(24) * page)
            if let boot = bootTime() {
                let start = boot + field(22) / ticks
                add("process_start_time_seconds", "gauge", "When the process began, Unix time.", start)
            }
        }
        if let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            add("process_open_fds", "gauge", "Open files and sockets.", Double(files.count))
        }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            add("process_max_fds", "gauge", "The most files and sockets that may be open.", Double(limit.rlim_cur))
        }
        return found.sorted { $0.name < $1.name }
        #else
        return []
        #endif
    }

    private static func bootTime() -> Double? {
        guard let stat = try? String(contentsOfFile: "/proc/stat", encoding: .utf8) else { return nil }
        let line = stat.split(separator: "\n").first { $0.hasPrefix("btime ") }
        return line.flatMap { Double($0.dropFirst("btime ".count)) }
    }
}

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
        // After the command, which stands in parentheses and may hold anything: state is field 3 of proc(5).
        if let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
            let end = stat.lastIndex(of: ")")
        {
            let fields = stat[stat.index(after: end)...].split(separator: " ").map { Double($0) ?? 0 }
            let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
            let page = Double(max(1, sysconf(Int32(_SC_PAGESIZE))))
            func field(_ number: Int) -> Double { fields.indices.contains(number - 3) ? fields[number - 3] : 0 }
            found += [
                Sample(
                    name: "process_cpu_seconds_total", kind: "counter", help: "Processor time, user and system.",
                    value: (field(14) + field(15)) / ticks),
                Sample(name: "process_threads", kind: "gauge", help: "Threads.", value: field(20)),
                Sample(
                    name: "process_virtual_memory_bytes", kind: "gauge", help: "Address space.", value: field(23)),
                Sample(
                    name: "process_resident_memory_bytes", kind: "gauge", help: "Memory in use.",
                    value: field(24) * page),
            ]
            if let boot = bootTime() {
                found.append(
                    Sample(
                        name: "process_start_time_seconds", kind: "gauge", help: "When the process began, Unix time.",
                        value: boot + field(22) / ticks))
            }
        }
        if let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            found.append(
                Sample(
                    name: "process_open_fds", kind: "gauge", help: "Open files and sockets.",
                    value: Double(files.count)))
        }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            found.append(
                Sample(
                    name: "process_max_fds", kind: "gauge", help: "The most files and sockets that may be open.",
                    value: Double(limit.rlim_cur)))
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

import Foundation

/// What processes have used so far: a second measure beside the clock, which other work on the machine disturbs.
struct ProcessUsage {
    private let seconds: [String: Double]

    init(of processes: [(name: String, pid: Int32)]) {
        let children = Self.children()
        var seconds: [String: Double] = [:]
        for (name, pid) in processes {
            let family = Self.family(of: pid, children)
            seconds[Self.role(name), default: 0] += family.reduce(0) { $0 + Self.cpuSeconds(of: $1) }
        }
        self.seconds = seconds
    }

    /// CPU seconds since `earlier`, a word per role.
    func since(_ earlier: ProcessUsage) -> String {
        seconds.sorted { $0.key < $1.key }
            .map { "\($0.key) \(($0.value - (earlier.seconds[$0.key] ?? 0)).text(2)) s" }
            .joined(separator: ", ")
    }

    /// CPU seconds since `earlier` of the processes of each role.
    func seconds(since earlier: ProcessUsage) -> [String: Double] {
        seconds.merging(earlier.seconds) { $0 - $1 }
    }

    /// Resident memory in kB.
    static func residentKilobytes(of pid: Int32) -> Int {
        let status = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }

    private static func role(_ name: String) -> String {
        if name.hasPrefix("worker-") { return "workers" }
        return name.hasPrefix("gateway-") ? "gateways" : name
    }

    /// Fields of /proc/PID/stat after the command, which is in parentheses and may hold anything.
    private static func fields(of pid: Int32) -> [Substring] {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return [] }
        return text[text.index(after: end)...].split(separator: " ")
    }

    private static func cpuSeconds(of pid: Int32) -> Double {
        let fields = fields(of: pid)
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private static func children() -> [Int32: [Int32]] {
        var children: [Int32: [Int32]] = [:]
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let pid = Int32(name), let parent = fields(of: pid).dropFirst().first.flatMap({ Int32($0) }) else {
                continue
            }
            children[parent, default: []].append(pid)
        }
        return children
    }

    private static func family(of pid: Int32, _ children: [Int32: [Int32]]) -> [Int32] {
        // The load's children are the cluster, which is counted by itself.
        guard pid != ProcessInfo.processInfo.processIdentifier else { return [pid] }
        return [pid] + (children[pid] ?? []).flatMap { family(of: $0, children) }
    }
}

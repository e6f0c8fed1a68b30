import Foundation

/// What the processes of a cluster hold: memory by role, and disk.
struct Footprint: Codable, Sendable {
    /// Resident bytes of the largest process of each role.
    var memory: [String: Int] = [:]
    /// Seconds of processor time since the start, of all processes of each role.
    var processor: [String: Double] = [:]
    /// Bytes on disk of the store and of the broker.
    var disk: [String: Int] = [:]

    /// - Parameter processes: process ids by name; a name is the role, and perhaps a dash and a number.
    static func memory(of processes: [String: Int32]) -> Footprint {
        var footprint = Footprint()
        for (name, pid) in processes {
            let role = String(name.prefix { $0 != "-" })
            footprint.memory[role] = max(footprint.memory[role] ?? 0, residentBytes(pid))
            footprint.processor[role, default: 0] += processorSeconds(pid)
        }
        return footprint
    }

    mutating func measureDisk(_ folders: [String: String]) {
        for (name, path) in folders { disk[name] = Self.bytes(in: path) }
    }

    private static func residentBytes(_ pid: Int32) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line?.split(separator: " ").dropLast().last).flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
            ?? 0
    }

    private static func processorSeconds(_ pid: Int32) -> Double {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
        // The program's name, in parentheses, may hold spaces.
        let fields = text.drop { $0 != ")" }.split(separator: " ")
        guard fields.count > 12, let user = Double(fields[12]), let system = Double(fields[13]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private static func bytes(in folder: String) -> Int {
        let files = FileManager.default.enumerator(atPath: folder)
        var sum = 0
        while let name = files?.nextObject() as? String {
            var status = stat()
            // Files come and go meanwhile.
            if lstat(folder + "/" + name, &status) == 0 { sum += Int(status.st_blocks) * 512 }
        }
        return sum
    }
}

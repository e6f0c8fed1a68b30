import Foundation
import LocalCluster

/// A small file system of the run's own, so that it can be filled without harm to anybody else.
struct Disk: Sendable {
    let path: String

    /// A temporary file system mounted at `path`; nil where that is not allowed.
    static func mount(at path: String) async -> Disk? {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            guard geteuid() == 0 else { return nil }
            _ = try await Program.run(
                "/usr/bin/env", ["mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", path],
                environment: ProcessInfo.processInfo.environment, called: "mount")
            return Disk(path: path)
        } catch {
            return nil
        }
    }

    func unmount() async {
        _ = try? await Program.run(
            "/usr/bin/env", ["umount", "-l", path], environment: ProcessInfo.processInfo.environment, called: "umount")
    }

    private var filler: String { path + "/filler" }

    /// Leaves no byte free.
    func fill() {
        guard FileManager.default.createFile(atPath: filler, contents: nil),
            let handle = FileHandle(forWritingAtPath: filler)
        else { return }
        defer { try? handle.close() }
        for size in [1 << 20, 4096, 1] {
            let block = Data(count: size)
            while (try? handle.write(contentsOf: block)) != nil {}
        }
    }

    func free() { try? FileManager.default.removeItem(atPath: filler) }
}

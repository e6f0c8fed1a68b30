import Foundation
import LocalCluster

/// Debian's libfaketime: a process that is started with it sees another time of day.
struct FakeClock: Sendable {
    let library: String

    /// - Throws: if the library is not there; `Tests/fire/run` installs it.
    static func installed() throws -> FakeClock {
        let folders = [
            "/usr/lib/x86_64-linux-gnu/faketime", "/usr/lib/aarch64-linux-gnu/faketime", "/usr/lib/faketime",
        ]
        let libraries = folders.map { $0 + "/libfaketimeMT.so.1" }
        guard let library = libraries.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            throw LocalClusterError(
                "moveClock needs libfaketime, expected at \(libraries.joined(separator: " or ")): "
                    + "sudo apt-get install libfaketime")
        }
        return FakeClock(library: library)
    }

    func settings(offset: Int) -> [String: String] {
        [
            "LD_PRELOAD": library, "FAKETIME": (offset < 0 ? "" : "+") + "\(offset)s",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        ]
    }
}

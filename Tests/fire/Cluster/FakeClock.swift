import Foundation

/// Debian's libfaketime: a process that is started with it sees another time of day.
struct FakeClock: Sendable {
    let library: String

    static let installed: FakeClock? = {
        let folders = [
            "/usr/lib/x86_64-linux-gnu/faketime", "/usr/lib/aarch64-linux-gnu/faketime", "/usr/lib/faketime",
        ]
        return folders.map { $0 + "/libfaketimeMT.so.1" }.first { FileManager.default.fileExists(atPath: $0) }
            .map(FakeClock.init)
    }()

    func settings(offset: Int) -> [String: String] {
        [
            "LD_PRELOAD": library, "FAKETIME": (offset < 0 ? "" : "+") + "\(offset)s",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        ]
    }
}

import Foundation
import LocalCluster

/// The library `WrongClock`: a process that is started with it sees another time of day.
struct WrongClock: Sendable {
    let library: String

    /// The library that was built together with this program.
    ///
    /// - Throws: if the library is not there; `Tests/fire/run` builds it.
    static func besideThisProgram() throws -> WrongClock {
        let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let library = folder.appendingPathComponent("libWrongClock.so").path
        guard FileManager.default.fileExists(atPath: library) else {
            throw LocalClusterError(
                "moveClock needs \(library): build it with 'swift build --product WrongClock', as Tests/fire/run does")
        }
        return WrongClock(library: library)
    }

    func settings(offset: Int) -> [String: String] {
        ["LD_PRELOAD": library, "WRONG_CLOCK_OFFSET": "\(offset)"]
    }
}

import LocalCluster
import Synchronization

/// Devices that write, one object after the other, until they are told to finish.
final class Load: Sendable {
    private final class Written: Sendable {
        let ids = Mutex<Set<String>>([])
        let isOver = Mutex(false)
    }

    private let written = Written()
    private let writing: Task<Void, any Error>

    /// Begins at once.
    ///
    /// - Parameter name: what the objects' ids begin with, before the device's number.
    init(_ devices: [Device], named name: String = "") {
        let written = written
        writing = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, device) in devices.enumerated() {
                    group.addTask {
                        var index = 0
                        while !written.isOver.withLock({ $0 }) {
                            let id = "\(name)\(number)-\(index)"
                            try device.create(id)
                            _ = written.ids.withLock { $0.insert(id) }
                            index += 1
                            try await Task.sleep(for: .milliseconds(20))
                        }
                        try await device.upload()
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// How many objects were written so far.
    var count: Int { written.ids.withLock { $0.count } }

    /// Returns when so many objects have been written.
    func written(atLeast count: Int) async throws {
        try await LocalCluster.retrying("\(count) objects are written") {
            guard self.count >= count else { throw LocalClusterError("\(self.count) are") }
        }
    }

    /// Stops writing, and returns what was written when all of it has been acknowledged.
    func finish() async throws -> Set<String> {
        written.isOver.withLock { $0 = true }
        try await writing.value
        return written.ids.withLock { $0 }
    }
}

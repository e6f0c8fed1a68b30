import Foundation
import LocalCluster
import Synchronization
import SystemPackage
import TestSupport

/// A program of docs/examples in a process of its own: a person types, and reads what it prints.
final class ExampleProgram: Sendable {
    let name: String
    private let process: ManagedProcess
    private let input: FileHandle
    private let cluster: LocalCluster
    /// How much of what was printed has been read.
    private let read: Mutex<Int>

    /// - Parameter name: of the process. One that was there before goes on in its log.
    init(_ program: String, as name: String, _ arguments: [String], in cluster: LocalCluster) async throws {
        self.name = name
        self.cluster = cluster
        read = Mutex(cluster.log(of: name).utf8.count)
        let pipe = try FileDescriptor.pipe()
        input = FileHandle(fileDescriptor: pipe.writeEnd.rawValue, closeOnDealloc: true)
        let executable = URL(filePath: cluster.sluice).deletingLastPathComponent().appending(path: program).path
        process = try await ManagedProcess.start(
            name: name, executable: executable, arguments: arguments, environment: ProcessInfo.processInfo.environment,
            logFolder: cluster.folder + "/logs", input: pipe.readEnd)
    }

    /// A script of docs/examples.
    ///
    /// - Parameters:
    ///   - script: below docs/examples.
    ///   - settings: beside the cluster's.
    init(
        script: String, as name: String, _ arguments: [String], settings: [String: String], in cluster: LocalCluster
    ) async throws {
        self.name = name
        self.cluster = cluster
        read = Mutex(cluster.log(of: name).utf8.count)
        let pipe = try FileDescriptor.pipe()
        input = FileHandle(fileDescriptor: pipe.writeEnd.rawValue, closeOnDealloc: true)
        process = try await ManagedProcess.start(
            name: name, executable: "/usr/bin/python3",
            arguments: [Self.folder.appending(path: script).path] + arguments,
            environment: cluster.environment.merging(settings) { $1 }, logFolder: cluster.folder + "/logs",
            input: pipe.readEnd)
    }

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/examples")

    var isRunning: Bool { process.isRunning }

    func type(_ line: String) throws { try input.write(contentsOf: Data("\(line)\n".utf8)) }

    /// Waits for a line that has these words, behind what earlier calls have read.
    func expect(_ words: String) async throws {
        try await LocalCluster.retrying("\(name) says “\(words)”") {
            let log = Array(cluster.log(of: name).utf8)
            let fresh = String(decoding: log[read.withLock { $0 }...], as: UTF8.self)
            guard let found = fresh.range(of: words) else {
                throw LocalClusterError("it says \(fresh.isEmpty ? "nothing" : fresh.suffix(400))")
            }
            read.withLock { $0 += fresh[..<found.upperBound].utf8.count }
        }
    }

    /// Everything that was printed, also by processes of the same name before.
    var lines: [Substring] { cluster.log(of: name).split(separator: "\n") }

    func kill() async {
        process.kill()
        await process.wait(upTo: .seconds(10))
    }

    /// Asks it to end, and waits until it has.
    func terminate() async throws {
        process.terminate()
        try await ended()
    }

    /// Ends what is typed, and waits until the program has ended.
    func close() async throws {
        try input.close()
        try await ended()
    }

    private func ended() async throws {
        try await eventually("\(name) ends") { !process.isRunning }
    }
}

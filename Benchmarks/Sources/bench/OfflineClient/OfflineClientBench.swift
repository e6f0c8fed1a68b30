import ArgumentParser
import DeviceSync
import Dispatch
import Foundation
import SeededRandom

/// A client that comes back after a long time offline: how long until both sides have everything.
///
/// The whole SDK with a realm on disk, over a real socket; the server's end is another process, which plays from memory,
/// so time, CPU and memory are the client's.
struct OfflineClientBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offline-client",
        abstract: "A client with offline writes meets the others' changes: as a merge, and as a client reset.")

    @Option(help: "merge, reset, or both.") var scenario = "both"
    @Option(help: "Write transactions made offline.") var local = 10_000
    @Option(help: "Changesets that the others made meanwhile.") var remote = 100_000
    @Option(help: "Objects that both sides knew before.") var objects = 40_000
    @Flag(help: "Print a JSON line at the end.") var json = false

    func run() async throws {
        print("\(local) offline writes, \(remote) remote changesets, \(objects) objects before")
        var slowest = 0.0
        for scenario in scenario == "both" ? ["merge", "reset"] : [scenario] {
            guard ["merge", "reset"].contains(scenario) else { throw ValidationError("expected merge, reset or both") }
            slowest = max(slowest, try await measure(scenario))
        }
        if json {
            print(
                #"{"name":"offline-client","value":\#(String(format: "%.2f", slowest)),"unit":"s","comparison":null}"#
            )
        }
    }

    private func measure(_ scenario: String) async throws -> Double {
        let server = try ServerProcess(objects: objects, remote: remote)
        defer { server.stop() }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("offline-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        Realm.Configuration.baseDirectory = folder
        let app = App(
            id: "bench-\(scenario)",
            configuration: AppConfiguration(
                baseURL: "http://127.0.0.1:\(server.port)", transport: LocalTransport(port: server.port)))
        app.syncManager.callbackQueue = DispatchQueue(label: "bench.callbacks")
        app.syncManager.errorHandler = { error, _ in print("sync error: \(error)") }
        let user = try await app.login(credentials: .emailPassword(email: "a@example.test", password: "secret"))
        var configuration = user.configuration(partitionValue: "p")
        configuration.dynamicSchema = OfflineWorkload.schema

        let start = Usage()
        let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
        guard let session = realm.syncSession else { throw ValidationError("the realm has no session") }
        try await session.wait(for: .upload)
        report(scenario, "first download", Usage() - start)

        session.suspend()
        let writing = Usage()
        var random = SeededGenerator(seed: 3)
        for number in 0..<local { try OfflineWorkload.write(number, in: realm, objects: objects, &random) }
        report(scenario, "offline writes", Usage() - writing)

        _ = server.ask(scenario == "merge" ? "advance" : "terminate")
        let before = Usage(resettingPeak: true)
        session.resume()
        try await session.wait(for: .download)
        report(scenario, "until downloaded", Usage() - before)
        try await session.wait(for: .upload)
        let total = Usage() - before
        report(scenario, "until uploaded", total)

        let mine = ContentNumber(realm)
        let expected = server.ask("expect").split(separator: " ").map(String.init)
        guard expected.first == "\(mine.value)" else {
            throw ValidationError("the copies differ: \(mine.objects) objects here, \(expected) at the server")
        }
        print("\(scenario): both copies hold the same \(mine.objects) objects; \(expected[2]) writes were uploaded")
        return total.seconds
    }

    private func report(_ scenario: String, _ step: String, _ usage: Usage) {
        print(
            String(
                format: "%@ %@ %7.2f s   cpu %7.2f s   memory %5d MiB, peak %5d MiB",
                scenario.padding(toLength: 6, withPad: " ", startingAt: 0),
                step.padding(toLength: 18, withPad: " ", startingAt: 0), usage.seconds, usage.cpu, usage.memory,
                usage.peak))
    }
}

/// What the process has used so far; the difference of two is what was used in between.
struct Usage {
    var seconds: Double
    var cpu: Double
    /// Resident, in MiB, now and at most.
    var memory: Int
    var peak: Int

    init(resettingPeak: Bool = false) {
        if resettingPeak { try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8) }
        seconds = Double(DispatchTime.now().uptimeNanoseconds) / 1e9
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        func time(_ value: timeval) -> Double { Double(value.tv_sec) + Double(value.tv_usec) / 1e6 }
        cpu = time(usage.ru_utime) + time(usage.ru_stime)
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        func field(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
            return (Int(line.split(whereSeparator: \.isWhitespace).dropFirst().first ?? "") ?? 0) / 1024
        }
        memory = field("VmRSS:")
        peak = field("VmHWM:")
    }

    static func - (left: Usage, right: Usage) -> Usage {
        var result = left
        result.seconds -= right.seconds
        result.cpu -= right.cpu
        return result
    }
}

/// The server's process, spoken to by lines.
private final class ServerProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private(set) var port = 0

    init(objects: Int, remote: Int) throws {
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["offline-server", "\(objects)", "\(remote)"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let first = line()
        guard let port = Int(first) else {
            throw BenchFailure("the server's process printed '\(first)', expected its port")
        }
        self.port = port
    }

    func ask(_ question: String) -> String {
        input.fileHandleForWriting.write(Data("\(question)\n".utf8))
        return line()
    }

    func stop() { process.terminate() }

    private func line() -> String {
        var bytes: [UInt8] = []
        while let byte = output.fileHandleForReading.readData(ofLength: 1).first, byte != 10 { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Answers the HTTP calls: only syncing is measured.
private struct LocalTransport: NetworkTransport {
    let port: Int

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        let now = Int(Date().timeIntervalSince1970)
        let claims = Data(#"{"iat":\#(now),"exp":\#(now + 3600)}"#.utf8).base64EncodedString()
        let token = "h.\(claims.replacingOccurrences(of: "=", with: "")).s"
        let body: String
        switch URL(string: request.url)?.lastPathComponent {
        case "location":
            body =
                #"{"deployment_model":"LOCAL","location":"x","hostname":"http://127.0.0.1:\#(port)","ws_hostname":"ws://127.0.0.1:\#(port)"}"#
        case "login", "session":
            body =
                #"{"access_token":"\#(token)","refresh_token":"\#(token)","user_id":"000000000000000000000001","device_id":"000000000000000000000009"}"#
        case "profile": body = #"{"user_id":"u","identities":[],"data":{}}"#
        default: body = ""
        }
        return NetworkResponse(status: 200, headers: ["content-type": "application/json"], body: Data(body.utf8))
    }
}

import Foundation
import LocalCluster
import Synchronization

/// A whole cluster of real processes, its broker included, in a temporary folder: gone when the measurement ends,
/// however it ends.
final class BenchCluster: Sendable {
    static let app = "bench"
    static let flexibleApp = "bench-flexible"
    let cluster: LocalCluster
    let store: BenchStore
    /// The access token of a user who may open any realm of the app.
    let accessToken: String
    /// The access token of a user of the app in flexible mode; empty if the measurement has none.
    let flexibleToken: String
    private let folder: String
    private let database: BenchDatabase

    private init(
        cluster: LocalCluster, store: BenchStore, accessToken: String, flexibleToken: String, folder: String,
        database: BenchDatabase
    ) {
        self.flexibleToken = flexibleToken
        self.cluster = cluster
        self.store = store
        self.accessToken = accessToken
        self.folder = folder
        self.database = database
    }

    /// Runs `body` with a cluster that is ready, and takes it down.
    static func with(
        _ options: ClusterBenchOptions, environment: [String: String] = [:], isFlexible: Bool = false,
        _ body: @escaping @Sendable (BenchCluster) async throws -> Void
    ) async throws {
        guard options.store.count == 1 else { throw BenchFailure("this measurement takes one --store") }
        try await withEach(options, environment: environment, isFlexible: isFlexible) { try await body($0[0]) }
    }

    /// Runs `body` with a cluster for each store, which share a broker, and takes them down.
    ///
    /// - Parameter isFlexible: whether there is an app in flexible mode, too.
    static func withEach(
        _ options: ClusterBenchOptions, environment: [String: String] = [:], isFlexible: Bool = false,
        _ body: @escaping @Sendable ([BenchCluster]) async throws -> Void
    ) async throws {
        raiseFileLimit()
        // A measurement's clients all belong to one user, whom nobody is to slow down.
        let quotas = ["CONNECTS", "BINDS", "UPLOADS"].flatMap { ["SLUICE_QUOTAS_\($0)", "SLUICE_QUOTAS_USER_\($0)"] }
        let environment = quotas.reduce(into: environment.merging(["SLUICE_QUOTAS_USER_SOCKETS": "20000"]) { $1 }) {
            $0[$1] = "1000000"
        }
        let sluice = try await BuiltBinary.sluice(options.sluice)
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "sluice-bench-\(UUID().uuidString.prefix(8).lowercased())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let broker = PrivateBroker(folder: folder + "/broker")
        let database = BenchDatabase(folder: folder + "/postgres", url: options.postgres)
        let started = Mutex<[LocalCluster]>([])
        let work = Task {
            progress("starting a broker, a coordinator, \(options.workers) worker(s) and a gateway ...")
            let broker = try await broker.start()
            var ready: [BenchCluster] = []
            for (number, store) in options.store.enumerated() {
                let settings = try await database.settings(for: store, number: number)
                let own = "\(folder)/\(store.name)"
                try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
                let cluster = LocalCluster(
                    amqpURL: broker, folder: own, sluice: sluice, slices: options.slices, prefix: "sluice\(number)",
                    environment: environment.merging(settings) { $1 })
                started.withLock { $0.append(cluster) }
                let token = try await makeReady(cluster, options)
                let flexible = isFlexible ? try await makeApp(flexibleApp, in: cluster, mode: "flexible") : ""
                ready.append(
                    BenchCluster(
                        cluster: cluster, store: store, accessToken: token, flexibleToken: flexible, folder: folder,
                        database: database))
            }
            try await body(ready)
        }
        // A second interrupt finds the same task cancelled already: the cleaning up goes on.
        let signals = TerminationSignals { work.cancel() }
        let result = await withTaskCancellationHandler {
            await work.result
        } onCancel: {
            work.cancel()
        }
        for cluster in started.withLock({ $0 }) { await cluster.stop() }
        await broker.stop()
        await database.stop()
        if options.keep {
            progress("kept: \(folder)")
        } else {
            try? FileManager.default.removeItem(atPath: folder)
        }
        signals.end()
        if signals.hasFired { throw BenchFailure("interrupted") }
        try result.get()
    }

    /// `rabbitmqctl` of the cluster's broker.
    func control(_ arguments: String...) async throws -> String {
        try await PrivateBroker(folder: folder + "/broker").control(arguments)
    }

    /// - Returns: a token for clients.
    private static func makeReady(_ cluster: LocalCluster, _ options: ClusterBenchOptions) async throws -> String {
        try await cluster.startAll(workers: options.workers)
        try await cluster.waitUntilReady(workers: options.workers)
        return try await makeApp(app, in: cluster, mode: "partition")
    }

    private static func makeApp(_ app: String, in cluster: LocalCluster, mode: String) async throws -> String {
        // With a list of its own: in development mode new rules would come of what clients query, and end sessions.
        let rules = #"{"defaultRoles": "readAndWriteAll", "queryable": {"global": ["priority", "title"]}}"#
        let file = "\(cluster.folder)/\(app).json"
        if mode == "flexible" { try rules.write(toFile: file, atomically: true, encoding: .utf8) }
        try await cluster.operate(
            "apps", "create", app, "--sync-mode", mode, "--rules", mode == "flexible" ? file : "open",
            "--development-mode",
            "--anonymous-login")
        return try await LocalCluster.retrying("the gateway answers") {
            try await AnonymousLogin.accessToken(port: cluster.gatewayPort, app: app)
        }
    }

    var processes: [(name: String, pid: Int32)] {
        let broker = (try? String(contentsOfFile: folder + "/broker/node.pid", encoding: .utf8))
            .flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        return cluster.processIdentifiers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            + (broker.map { [("broker", $0)] } ?? [])
            + (store == .sqlite ? [] : database.processIdentifier.map { [("postgres", $0)] } ?? [])
            + [("load", ProcessInfo.processInfo.processIdentifier)]
    }

    /// Lets somebody attach a profiler.
    func pauseIfAsked(_ options: ClusterBenchOptions) {
        guard options.pause else { return }
        progress("ready: " + processes.map { "\($0.name) \($0.pid)" }.joined(separator: ", ") + "; Return goes on")
        _ = readLine()
    }

    private static func raiseFileLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        // The cluster's processes inherit it.
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

/// `Tests/broker` of the engine.
struct PrivateBroker: Sendable {
    var folder: String
    private var script: String { BuiltBinary.engine + "/Tests/broker" }

    /// Starts the broker and returns its AMQP URL once it takes clients.
    func start() async throws -> String {
        let output = try await ShellCommand.run(script, ["start", folder])
        guard let line = output.split(separator: "\n").first(where: { $0.hasPrefix("AMQP_URL=") }) else {
            throw BenchFailure("Tests/broker start printed no AMQP_URL: \(output.prefix(200))")
        }
        return String(line.dropFirst("AMQP_URL=".count))
    }

    func stop() async { _ = try? await ShellCommand.run(script, ["stop", folder]) }

    func control(_ arguments: [String]) async throws -> String {
        try await ShellCommand.run(script, ["ctl", folder] + arguments)
    }
}

/// The binaries of the engine that is measured.
enum BuiltBinary {
    /// The folder of the engine's package.
    static let engine = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    static func sluice(_ given: String?) async throws -> String {
        let path = given?.absolutePath ?? engine + "/.build/release/sluice"
        if FileManager.default.isExecutableFile(atPath: path) { return path }
        guard given == nil else { throw BenchFailure("\(path) is no executable") }
        progress("building sluice for release, which takes some minutes the first time ...")
        _ = try await ShellCommand.run(
            "/usr/bin/env",
            ["swift", "build", "--package-path", engine, "--configuration", "release", "--product", "sluice"])
        return path
    }
}

enum ShellCommand {
    /// Standard output of a program that ends well.
    ///
    /// Not by Foundation's `Process`: that notices the end of a program only when everything that the program has left
    /// running, as the broker, has ended, too.
    static func run(_ executable: String, _ arguments: [String]) async throws -> String {
        try await offTheCooperativeThreads { try runBlocking(executable, arguments) }
    }

    private static func runBlocking(_ executable: String, _ arguments: [String]) throws -> String {
        let output = FileManager.default.temporaryDirectory.appending(path: "bench-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: output) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        // Into a file: the broker keeps what it inherits open, and a pipe would never end.
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT, 0o600)
        var words: [UnsafeMutablePointer<CChar>?] = ([executable] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        words.append(nil)
        var pid: pid_t = 0
        guard posix_spawn(&pid, executable, &actions, nil, words, environ) == 0 else {
            throw BenchFailure("\(executable) cannot be run")
        }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
        guard status == 0 else {
            throw BenchFailure("\(executable) \(arguments.joined(separator: " ")) failed: \(text.suffix(500))")
        }
        return text
    }
}

/// Calls back at SIGINT and SIGTERM instead of dying.
///
/// Unchecked because dispatch sources are not declared Sendable; they are made here and only cancelled afterwards.
final class TerminationSignals: @unchecked Sendable {
    private let sources: [any DispatchSourceSignal]
    private let fired: Interruption

    init(_ action: @escaping @Sendable () -> Void) {
        let fired = Interruption()
        self.fired = fired
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                fired.set()
                progress("interrupted, cleaning up ...")
                action()
            }
            source.resume()
            return source
        }
    }

    var hasFired: Bool { fired.isSet }
    func end() { for source in sources { source.cancel() } }
}

import LocalCluster
import Synchronization
import TestSupport
import Testing

/// One cluster for all tests of a suite and of the suites in it, each of which has an app of its own in it.
struct SharedCluster: SuiteTrait, TestScoping {
    @TaskLocal private static var running: LocalCluster?
    @TaskLocal private static var store: PostgresSchema?

    static var cluster: LocalCluster {
        get throws {
            guard let running else { throw LocalClusterError("the suite is in none that has the trait .sharedCluster") }
            return running
        }
    }

    /// Where the cluster's store is.
    static var schema: PostgresSchema {
        get throws {
            guard let store else { throw LocalClusterError("the store is not in PostgreSQL") }
            return store
        }
    }

    let workers: Int
    let slices: Int
    let settings: [String: String]
    /// The cluster's store is in a schema of its own, which goes with it.
    let isInPostgres: Bool

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let schema = isInPostgres ? PostgresSchema() : nil
        let store = try schema.map { ["SLUICE_STORE_URL": try $0.url] } ?? [:]
        try await withCluster(
            workers: workers, slices: slices, settings: settings.merging(store) { $1 },
            start: { cluster in
                if schema != nil { try await cluster.operate("store", "init", "--without-roles") }
                try await cluster.startAll(workers: workers)
            }
        ) { cluster in
            try await Self.$running.withValue(cluster) {
                try await Self.$store.withValue(schema, operation: function)
            }
        }
        try await schema?.drop()
    }
}

/// A schema of the tests' PostgreSQL server.
struct PostgresSchema: Sendable {
    let name = TestPostgres.uniqueName()

    var url: String { get throws { "\(try TestPostgres.requireURL())?schema=\(name)" } }

    func drop() async throws { _ = try await sql("DROP SCHEMA \(name) CASCADE") }

    /// What the server's superuser is answered, without the look of a table.
    func sql(_ statement: String) async throws -> String {
        try await TestBroker.shell(
            ["psql", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", try TestPostgres.requireURL(), "-c", statement])
    }
}

/// Gives each test of a shared cluster an app's name of its own, and tells what the processes said last where one fails.
struct OwnApp: SuiteTrait, TestTrait, TestScoping {
    /// Tests may kill, stop and pause processes: each finds the cluster whole, and need not make it so.
    let isMadeWhole: Bool
    /// The cluster's workers are named worker-1 to this.
    let workers: Int

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let cluster = try SharedCluster.cluster
        try await LocalCluster.$testsApp.withValue(cluster.newName(), operation: function)
        if isMadeWhole { try await cluster.makeWhole(workers: workers) }
    }
}

extension Trait where Self == SharedCluster {
    /// - Parameter isInPostgres: whether the store is in PostgreSQL.
    static func sharedCluster(
        workers: Int = 2, slices: Int = 4, settings: [String: String] = [:], isInPostgres: Bool = false
    ) -> Self {
        SharedCluster(workers: workers, slices: slices, settings: settings, isInPostgres: isInPostgres)
    }
}

extension Trait where Self == OwnApp {
    static var ownApps: Self { OwnApp(isMadeWhole: false, workers: 0) }
    /// The trait of suites whose tests run one after the other, and break their cluster.
    static func ownAppsInWholeCluster(workers: Int = 2) -> Self { OwnApp(isMadeWhole: true, workers: workers) }
}

extension Trait where Self == IssueHandlingTrait {
    /// Adds to a failure what the processes of the shared cluster said last.
    static var lastWordsOfProcesses: Self {
        .compactMapIssues { issue in
            guard let cluster = try? SharedCluster.cluster else { return issue }
            var issue = issue
            issue.comments.append(Comment(rawValue: cluster.lastLines))
            return issue
        }
    }
}

/// Suites that leave their cluster as it is: each test has an app of its own in it, and runs beside the others.
///
/// What a test says of the whole cluster must hold whatever else is going on in it. One that needs another gateway has the trait
/// `.ownGateway`; one that stops other processes belongs to `ShakenClusterTests`.
@Suite(.needsBroker, .hangGuard, .sharedCluster(), .ownApps, .lastWordsOfProcesses)
struct SharedClusterTests {}

/// Suites that kill, stop and pause processes of one cluster, one test after the other: each finds it whole. What they say of the whole
/// cluster holds of it alone.
@Suite(
    .needsBroker, .hangGuard, .serialized,
    // A worker that hands over is not to be cut off where the machine is slow.
    .sharedCluster(settings: ["SLUICE_SHUTDOWN_SECONDS": "120"]), .ownAppsInWholeCluster(), .lastWordsOfProcesses)
struct ShakenClusterTests {}

/// The same for what needs a store in PostgreSQL.
@Suite(
    .needsBroker, .needsPostgres, .hangGuard, .serialized, .sharedCluster(isInPostgres: true),
    .ownAppsInWholeCluster(), .lastWordsOfProcesses)
struct ShakenPostgresClusterTests {}

extension LocalCluster {
    @TaskLocal fileprivate static var testsApp: String?
    /// The last number that is part of a name. All have one length: none begins with another.
    private static let number = Atomic(1000)

    /// The test's own app. The SDK keeps one client of an app in a process, and several tests and clusters run in it.
    var app: String { Self.testsApp ?? prefix }

    /// A name that nothing else of any cluster has.
    fileprivate func newName() -> String {
        "\(prefix)-\(Self.number.wrappingAdd(1, ordering: .relaxed).newValue)"
    }

    /// Makes the test's own app, whose users log in with tokens.
    ///
    /// - Parameter options: of `sluice apps create`; without rules everything is open.
    /// - Returns: its name.
    @discardableResult
    func makeApp(_ options: String...) async throws -> String { try await make(app, options) }

    /// Makes another app, as `makeApp` does.
    func newApp(_ options: String...) async throws -> String { try await make(newName(), options) }

    private func make(_ app: String, _ options: [String]) async throws -> String {
        let rules = options.contains("--rules") ? [] : ["--rules", "open"]
        _ = try await operate(["apps", "create", app] + rules + options)
        try await CustomToken.allow(in: app, of: self)
        return app
    }

    /// A path of the test's own in the cluster's folder.
    func file(_ name: String) -> String { "\(folder)/\(app)-\(name)" }

    /// The slice of a realm of the test's app.
    func slice(ofPartition partition: String) async throws -> Int {
        struct Slice: Decodable { var slice: Int }
        let slices = try await operateJSON([Slice].self, "slices", "--app", app, "--partition", partition)
        guard let slice = slices.first else { throw LocalClusterError("no slice has the realm of \(partition)") }
        return slice.slice
    }

    /// Has paused processes go on, starts those that are gone, and stops workers that are too many.
    func makeWhole(workers: Int) async throws {
        let names = Set((1...workers).map { "worker-\($0)" })
        for name in processIdentifiers.keys {
            resume(name)
            if name.hasPrefix("worker-"), !names.contains(name) { await stop(name) }
        }
        if !isRunning("coordinator") { try await startCoordinator() }
        for name in names.sorted() where !isRunning(name) { try await startWorker(name) }
        if !isRunning("gateway") { try await startGateway() }
        try await waitUntilReady(workers: workers)
        try await waitFor("gateway", ready: true)
    }
}

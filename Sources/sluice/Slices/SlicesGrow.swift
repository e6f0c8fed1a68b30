import ArgumentParser
import Logging
import Operations
import Storage
import StoragePostgreSQL
import StorageSQLite
import SyncModel

struct SlicesGrow: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "grow", abstract: "Give the cluster more slices, and move the realms that go to them.",
        discussion: """
            Stop the cluster's processes first: coordinators and gateways, then, when sluice broker queues shows \
            nothing waiting, the workers. As long as the command is not through, they refuse to start. When it was \
            interrupted, the same command goes on; until the cluster has the new slices, --abort leaves it with \
            those that it has.

            The new slices are filled and compared with the old ones before anything is removed, so there must be \
            room for about (NEW - OLD) / NEW of the slices' data once more. No client has to reset. Afterwards set \
            the setting slices (SLUICE_SLICES) to the new number in every process, and start them.
            """)

    @OptionGroup var common: ReportOptions
    @Option(
        help:
            "How many slices to have, up to 4,096; twice as many is a good step. Not needed to go on with what was begun."
    )
    var to: Int?
    @Flag(help: "Say what would move, and change nothing; the cluster may run.") var dryRun = false
    @Flag(help: "Give up a growth that was begun, as long as the cluster has not got the new slices.") var abort = false
    @Flag(help: "Do not ask the broker whether workers run and messages wait: it is gone.") var force = false

    private struct Report: Encodable {
        var store: String
        var cluster: String
        var from: Int
        var to: Int
        /// `planned`, `grown` or `aborted`.
        var state: String
        var realms: Int
        var moving: Int
        var bytesMoving: Int
        var mostRealms: Int
        var continued: Bool
    }

    func run(_ settings: ClusterSettings) async throws {
        guard !(dryRun && abort), to == nil || !abort else {
            throw CommandFailure(.badInput, "--abort goes alone")
        }
        let count = try to.map { number in
            guard let count = SliceCount(number) else {
                throw CommandFailure(.badInput, "--to: expected up to 4096, found \(number)")
            }
            return count
        }
        let url = try settings.storeURL()
        let stores = try url.stores(logger: settings.quietLogger)
        let store = try await url.growing(logger: settings.quietLogger)
        let cluster = try await store.growth().cluster
        let division = try await SliceDivision(
            store, stores: stores, to: count, now: { UnixTime.milliseconds }, report: { $0.print() })
        func show(_ state: String, _ result: SliceDivision.Report, _ text: String) throws {
            try output.show(
                Report(
                    store: store.place, cluster: cluster.id, from: result.growth.from.value, to: result.growth.to.value,
                    state: state, realms: result.realms, moving: result.moving, bytesMoving: result.bytesMoving,
                    mostRealms: result.mostRealms, continued: result.isContinued), text)
        }
        if dryRun {
            let plan = try await division.plan()
            return try show("planned", plan, plan.words("would move"))
        }
        if !force { try await settings.requireIdle(division.oldSlices) }
        // Brings files of an older version to this one, as a process that starts does.
        let control = try await stores.control()
        for slice in division.oldSlices { _ = try await stores.store(for: slice, mayMake: false) }
        if abort {
            let plan = try await division.plan()
            try await division.abort()
            return try show(
                "aborted", plan, "the cluster at \(store.place) keeps its \(plan.growth.from.value.counted("slice"))")
        }
        try await requireNoWork(division, control)
        let result = try await division.run()
        try show(
            "grown", result,
            result.words("moved") + """

                cluster \(cluster.id) at \(store.place) has \(result.growth.to.value.counted("slice")). Set SLUICE_SLICES=\(result.growth.to.value) (the setting slices) in
                every process and for the commands, and start the cluster. Where each role has a user of its own at the broker: sluice broker init first
                """)
    }

    /// What goes through all slices, and counts them, must not be under way.
    private func requireNoWork(_ division: SliceDivision, _ control: any ControlStore) async throws {
        var work = try await division.work()
        for campaign in try await control.unpublishedCampaigns() {
            work.append("campaign \(campaign.id) of app \(campaign.app) has not been published to all slices")
        }
        for deletion in try await control.unfinishedDeletions() {
            work.append("app \(deletion.app), which was deleted, is not gone from all slices")
        }
        guard work.isEmpty else {
            throw CommandFailure(
                .tryAgain,
                """
                \(work.prefix(5).joined(separator: "; "))\(work.count > 5 ? "; and \(work.count - 5) more" : ""). Start the \
                cluster again as it was, and stop it when that is done
                """)
        }
    }
}

extension SliceDivision.Report {
    fileprivate func words(_ verb: String) -> String {
        """
        \(growth.from.value) -> \(growth.to.value) slices: \(moving) of \(realms) realms \(verb), \(bytesMoving >> 10) KiB of \
        objects and history; the fullest new slice has \(mostRealms.counted("realm"))
        """
    }
}

extension SliceDivision.Progress {
    fileprivate func print() {
        Printing.note("\(step.rawValue) slice \(slice), \(slicesDone) of \(slices), \(realms) realms so far")
    }
}

extension StoreURL {
    /// A statement may move a large realm.
    private static let statementTime = Duration.seconds(3_600)

    /// The store as its realms are divided among more slices.
    fileprivate func growing(logger: Logger) async throws -> any GrowingStore {
        switch self {
        case .sqlite(let folder): return SQLiteGrowth(folder: folder)
        case .sqliteInMemory:
            throw CommandFailure(.badInput, "a store in memory belongs to its process: its slices cannot become more")
        case .postgres:
            let client = try postgresClient(
                for: "store.url", timeout: Self.statementTime, plans: PostgresStores.plans, logger: logger)
            try await PostgresInstallation(client).require()
            return PostgresGrowth(client)
        }
    }
}

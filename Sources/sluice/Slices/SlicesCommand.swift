import AdminAPI
import ArgumentParser
import SyncModel

struct SlicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "slices", abstract: "Show the cluster's slices and who owns them, or give the cluster more.",
        subcommands: [SlicesShow.self, SlicesGrow.self], defaultSubcommand: SlicesShow.self)
}

struct SlicesShow: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show who owns each slice, who stands by, and the epochs (the default).",
        discussion: """
            With --app and --partition, or --flexible for an app in flexible mode: only the slice that the realm \
            lives in. With --history: who owned each slice before, under which epoch, and how it was taken (claimed: \
            from nobody; released: handed over; dead: its owner had lost its connection; lease: its owner had shown \
            no life), as the slices' stores remember it.
            """)

    @OptionGroup var common: ReportOptions
    @Option(help: "With --partition: the realm's app.", completion: .apps) var app: String?
    @Option(help: "With --app: the realm's partition value.") var partition: String?
    @Flag(help: "With --app: the one realm of an app in flexible mode.") var flexible = false
    @Option(help: "Only this slice.") var slice: Int?
    @Flag(help: "Show the last hundred owners of each slice.") var history = false
    @OptionGroup var live: LiveOptions

    func run(_ settings: ClusterSettings) async throws {
        let admin = try AdminClient(settings)
        let cluster: ClusterDocument = try await admin.ask(AdminRoute.cluster.path())
        guard let count = SliceCount(cluster.slices) else {
            throw CommandFailure(.internalError, "\(admin.baseURL) says that it has \(cluster.slices.counted("slice"))")
        }
        let only = try wanted(of: count)
        if history { return try await showHistory(of: count, admin, only: only) }
        try await live.run {
            let list: SliceList = try await admin.ask(AdminRoute.slices.path())
            try show(list.slices.filter { only == nil || $0.slice.value == only })
        }
    }

    private func wanted(of count: SliceCount) throws -> Int? {
        if flexible, partition != nil {
            throw CommandFailure(.badInput, "--flexible is the realm without a partition: leave --partition out")
        }
        let realm = app.flatMap { app in
            flexible
                ? RealmName(flexible: app)
                : partition.map { RealmName(app: app, partition: RealmName.partition(fromText: $0)) }
        }
        switch (app, realm) {
        case (nil, nil) where partition == nil && !flexible:
            if let slice, !(0..<count.value).contains(slice) {
                throw CommandFailure(.badInput, "--slice: expected 0 to \(count.value - 1), found \(slice)")
            }
            return slice
        case (_, _?) where slice != nil:
            throw CommandFailure(
                .badInput, "--slice names a slice, --app and --partition a realm's: use one of the two")
        case (_, let realm?): return realm.slice(of: count).value
        default:
            throw CommandFailure(.badInput, "--app and --partition, or --flexible, belong together: a realm is both")
        }
    }

    private func showHistory(of count: SliceCount, _ admin: AdminClient, only: Int?) async throws {
        let slices = count.all.filter { only == nil || $0.value == only }
        let entries = try await SliceHistory.entries(of: Array(slices), admin)
        try output.show(entries, SliceHistory.table(entries))
    }

    private func show(_ slices: [SliceDocument]) throws {
        if output.json { return try Printing.json(slices) }
        let rows = slices.map { slice in
            [
                "\(slice.slice)", slice.owner.cell,
                slice.standBy.isEmpty ? "-" : slice.standBy.joined(separator: ","), slice.epoch.cell,
                slice.unacknowledged.cell, slice.oldestAt.map { Printing.age(ofUnixMilliseconds: $0) }.cell,
                slice.perSecond.map(Printing.rate).cell,
                slice.lastHeardAt.map { Printing.age(ofUnixMilliseconds: $0) }.cell,
            ]
        }
        live.print(
            Table("SLICE", "OWNER", "STAND-BY", "EPOCH", "UNACKED", "OLDEST", "OUT/S", "LAST HEARD", rows: rows))
    }
}

import AdminAPI
import ArgumentParser
import Foundation
import SyncModel

struct SlicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "slices", abstract: "Show who owns each slice, who stands by, and the epochs.",
        discussion: """
            With --app and --partition: only the slice that the realm lives in. With --history: who owned each slice before,
            under which epoch, and how it was taken (claimed: from nobody; released: handed over; dead: its owner had lost
            its connection; lease: its owner had shown no life), read from the slices' stores.
            """)

    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "With --partition: the realm's app.") var app: String?
    @Option(help: "With --app: the realm's partition value.") var partition: String?
    @Option(help: "Only this slice.") var slice: Int?
    @Flag(help: "Show the last hundred owners of each slice.") var history = false
    @Flag(help: "Go on, once a second, until interrupted.") var live = false
    @Option(help: "Seconds between two looks with --live.") var interval = 1.0

    func run() async throws {
        try await reportingFailures {
            let settings = try await cluster.load()
            let only = try wanted(settings)
            if history { return try await showHistory(settings, only: only) }
            let client = try AdminClient(settings)
            repeat {
                let list: SliceList = try await client.get(AdminRoute.slices.path())
                try show(list.slices.filter { only == nil || $0.slice.value == only })
                if live { try await Task.sleep(for: .seconds(max(0.1, interval))) }
            } while live
        }
    }

    private func wanted(_ settings: ClusterSettings) throws -> Int? {
        switch (app, partition) {
        case (nil, nil):
            let count = try settings.sliceCount()
            if let slice, !(0..<count.value).contains(slice) {
                throw CommandFailure(.badInput, "--slice: expected 0 to \(count.value - 1), found \(slice)")
            }
            return slice
        case (_?, _?) where slice != nil:
            throw CommandFailure(
                .badInput, "--slice names a slice, --app and --partition a realm's: use one of the two")
        case (let app?, let partition?):
            let realm = RealmName(app: app, partition: RealmName.partition(fromText: partition))
            return realm.slice(of: try settings.sliceCount()).value
        default: throw CommandFailure(.badInput, "--app and --partition belong together: a realm is both")
        }
    }

    private func showHistory(_ settings: ClusterSettings, only: Int?) async throws {
        let slices = try settings.sliceCount().all.filter { only == nil || $0.value == only }
        let entries = try await SliceHistory(settings).entries(of: Array(slices))
        if output.json { return try Printing.json(entries) }
        Printing.line(SliceHistory.table(entries).rendered())
    }

    private func show(_ slices: [SliceDocument]) throws {
        if output.json { return try Printing.json(slices) }
        var table = Table("SLICE", "OWNER", "STAND-BY", "EPOCH", "UNACKED", "OLDEST", "OUT/S", "LAST HEARD")
        for slice in slices {
            table.row(
                "\(slice.slice)", slice.owner ?? "-",
                slice.standBy.isEmpty ? "-" : slice.standBy.joined(separator: ","),
                slice.epoch.map(String.init) ?? "-", slice.unacknowledged.map(String.init) ?? "-",
                slice.oldestAt.map { Printing.age(ofUnixMilliseconds: $0) } ?? "-",
                slice.perSecond.map(Printing.rate) ?? "-",
                slice.lastHeardAt.map { Printing.age(ofUnixMilliseconds: $0) } ?? "-")
        }
        live ? Printing.refresh(table.rendered()) : Printing.line(table.rendered())
    }
}

/// The slices' owners by number, for commands that can do without them.
enum SliceOwners {
    static func ask(_ settings: ClusterSettings) async -> [Int: SliceDocument] {
        guard let client = try? AdminClient(settings),
            let list: SliceList = try? await client.get(AdminRoute.slices.path())
        else { return [:] }
        return Dictionary(list.slices.map { ($0.slice.value, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

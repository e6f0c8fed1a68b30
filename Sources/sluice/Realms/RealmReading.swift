import ArgumentParser
import Inspection
import Storage
import SyncModel

/// A realm as the commands show it.
struct RealmLine: Encodable {
    var app: String
    var partition: String
    var slice: Int
    var generation: UInt64
    var version: ServerVersion
    var historyBase: ServerVersion
    var historyBytes: UInt64
    var objects: Int?
    var clientFiles: [String: Int]
    var files: [ClientFileLine]?

    init(_ record: RealmRecord, _ reader: any SliceReader, countingObjects: Bool) async throws {
        app = record.name.app
        partition = record.name.partition
        slice = reader.slice.value
        generation = record.generation
        version = record.latest.version
        historyBase = record.historyBase
        historyBytes = record.historyBytes
        objects = countingObjects ? try await reader.objectCount(in: record.id) : nil
        clientFiles = Dictionary(
            uniqueKeysWithValues: try await reader.clientFileCounts(in: record.id).map { ($0.rawValue, $1) })
    }

    var clientFilesText: String {
        clientFiles.isEmpty
            ? "-" : clientFiles.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
}

/// A client file without its salt.
struct ClientFileLine: Encodable {
    var clientFile: FileIdent
    var user: String
    var state: String
    var generation: UInt64
    var campaign: String?
    var clientVersion: ClientVersion
    var serverVersion: ServerVersion
    /// How many versions it has not been seen to have.
    var behind: UInt64?
    var lastSeen: UInt64
    var userAgent: String
    var supersededBy: FileIdent?
    /// The end of the year 9999: no calendar need go further for what a client says.
    private static let lastTime: Int64 = 253_402_300_799_000
    /// Unix milliseconds: when its latest upload says that it was written, if that is far ahead.
    var ahead: UInt64?

    init(_ record: ClientFileRecord, of realm: RealmRecord) {
        clientFile = record.ident
        user = record.user
        state = record.state.rawValue
        generation = record.generation
        campaign = record.campaign
        clientVersion = record.upload.clientVersion
        serverVersion = record.seenServerVersion
        behind =
            record.generation == realm.generation && record.seenServerVersion <= realm.latest.version
            ? realm.latest.version.rawValue - record.seenServerVersion.rawValue : nil
        lastSeen = record.lastSeen
        userAgent = record.userAgent
        supersededBy = record.supersededBy
        ahead = record.ahead.map { UInt64(min(max(0, $0.unixMilliseconds), Self.lastTime)) }
    }
}

struct RealmsList: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List realms, and say how many there are.",
        discussion:
            "Slice by slice, or with --sort by partition, version, historyBytes or slice; -version is the other way round."
    )
    @OptionGroup var common: ReportOptions
    @Option(help: "Only this app's.") var app: String?
    @Option(help: "Only those whose partition contains this.") var search: String?
    @Option(help: "By what they are sorted.") var sort: String?
    @Option(help: "At most so many.") var limit = 1000

    /// Realms that are looked at: what is sorted is held.
    private static let most = 1_000_000

    func run(_ settings: ClusterSettings) async throws {
        guard limit > 0 else { throw CommandFailure(.badInput, "--limit: expected 1 or more, found \(limit)") }
        let order = try sort.map { name in
            guard let order = RealmOrder(name) else {
                throw CommandFailure(.badInput, "--sort: expected one of \(RealmOrder.names), found \(name.prefix(40))")
            }
            return order
        }
        let stored = try await StoredRealms(settings)
        var places: [RealmPlace] = []
        var count = 0
        try await stored.forEach(app: app) { record, reader in
            let place = RealmPlace(record, slice: reader.slice)
            guard place.contains(search) else { return }
            count += 1
            if places.count < (order == nil ? limit : Self.most) { places.append(place) }
        }
        if let order { places.sort(by: order.isBefore) }
        var lines: [RealmLine] = []
        for place in places.prefix(limit) {
            let reader = try await stored.stores.reader(for: place.slice)
            let name = RealmName(app: place.app, partition: place.partition)
            // A realm that was erased meanwhile is left out.
            guard let record = try await reader.realm(name) else { continue }
            lines.append(try await RealmLine(record, reader, countingObjects: false))
        }
        let rows = lines.map { line in
            [
                line.app, RealmName.shown(line.partition), "\(line.slice)", "\(line.generation)", "\(line.version)",
                "\(line.historyBase)", "\(line.historyBytes)", line.clientFilesText,
            ]
        }
        try output.show(
            lines,
            Table(
                "APP", "PARTITION", "SLICE", "GENERATION", "VERSION", "BASE", "HISTORY BYTES", "CLIENT FILES",
                rows: rows))
        if !output.json {
            Printing.note(
                "\(lines.count) of \(count.counted("realm"))\(lines.count < count ? " (--limit)" : "")")
        }
    }
}

struct RealmsShow: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one realm with its client files.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var realm: RealmOptions
    @Option(help: "At most so many client files.") var limit = 1000

    func run(_ settings: ClusterSettings) async throws {
        let reader = try await StoredRealms(settings).reader(of: realm.name)
        let line = try await reader.withSnapshot { reader -> RealmLine in
            guard let record = try await reader.realm(realm.name) else { throw StoredRealms.missing(realm.name) }
            var line = try await RealmLine(record, reader, countingObjects: true)
            let files = try await reader.clientFiles(in: record.id, state: nil, after: 0, limit: max(1, limit))
            line.files = files.map { ClientFileLine($0, of: record) }
            return line
        }
        output.json ? try Printing.json(line) : show(line)
    }

    private func show(_ line: RealmLine) {
        Printing.line(
            """
            realm        \(line.app) \(RealmName.shown(line.partition)), slice \(line.slice)
            version      \(line.version), generation \(line.generation), history after \(line.historyBase) (\(line.historyBytes.counted("byte")))
            objects      \(line.objects ?? 0)
            client files \(line.clientFilesText)

            """)
        let rows = (line.files ?? []).map { file in
            [
                "\(file.clientFile)", file.user.oneLine, file.state, "\(file.generation)", "\(file.clientVersion)",
                "\(file.serverVersion)", file.behind.cell, Printing.age(ofUnixMilliseconds: file.lastSeen),
                file.ahead.map(Printing.time(ofUnixMilliseconds:)).cell, file.campaign.cell.oneLine,
            ]
        }
        let table = Table(
            "CLIENT FILE", "USER", "STATE", "GENERATION", "CLIENT VERSION", "SERVER VERSION", "BEHIND", "LAST SEEN",
            "AHEAD", "CAMPAIGN", rows: rows)
        Printing.line(table.rendered())
    }
}

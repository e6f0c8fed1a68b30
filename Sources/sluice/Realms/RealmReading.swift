import AdminAPI
import ArgumentParser
import Inspection
import NIOCore
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

    init(_ summary: RealmAnswer, of app: String) {
        self.app = app
        partition = summary.partition
        slice = summary.slice.value
        generation = summary.generation
        version = summary.version
        historyBase = summary.historyBase
        historyBytes = summary.historyBytes
        clientFiles = summary.clientFiles
    }

    var clientFilesText: String {
        clientFiles.isEmpty
            ? "-" : clientFiles.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
}

/// A client file without its salt.
struct ClientFileLine: Codable {
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
    /// Unix milliseconds: when its latest upload says that it was written, if that is far ahead.
    var ahead: UInt64?
}

/// A realm as the coordinator tells of it.
struct RealmAnswer: Decodable {
    var partition: String
    var slice: SliceNumber
    var generation: UInt64
    var version: ServerVersion
    var historyBase: ServerVersion
    var historyBytes: UInt64
    var clientFiles: [String: Int]
}

extension AdminClient {
    /// Reads answers page by page until there are enough.
    ///
    /// - Parameter page: asks for a page that begins behind a place and has so many entries, and returns them with the next page's place.
    fileprivate static func pages<Entry>(
        upTo limit: Int, _ page: (_ after: String?, _ limit: Int) async throws -> ([Entry], String?)
    ) async throws -> (entries: [Entry], isCut: Bool) {
        var entries: [Entry] = []
        var after: String?
        repeat {
            let (more, next) = try await page(after, min(limit - entries.count, AdminLimits.entries.upperBound))
            entries += more
            after = next
        } while after != nil && entries.count < limit
        return (entries, after != nil)
    }

    private struct RealmPage: Decodable {
        var realms: [RealmAnswer]
        var next: String?
        var of: Int?
    }

    /// - Returns: the first realms of an app, in the order that is asked for, and whether there are more.
    fileprivate func realms(
        of app: String, search: String?, sort: String?, limit: Int
    ) async throws -> (entries: [RealmAnswer], isCut: Bool) {
        try await Self.pages(upTo: limit) { after, count in
            let page: RealmPage = try await ask(
                AdminRoute.realms.path(
                    app, query: [(.search, search), (.sort, sort), (.after, after), (.limit, "\(count)")]),
                timeout: .seconds(120))
            return (page.realms, page.next)
        }
    }

    /// - Returns: how many realms of an app there are, as far as the coordinator looks for that.
    fileprivate func realmCount(of app: String, search: String?) async throws -> Int {
        let page: RealmPage = try await ask(
            AdminRoute.realms.path(app, query: [(.search, search), (.sort, "slice"), (.limit, "1")]),
            timeout: .seconds(120))
        return page.of ?? page.realms.count
    }

    fileprivate func realm(_ name: RealmName, files limit: Int) async throws -> RealmLine {
        struct Answer: Decodable {
            var realm: RealmAnswer
            var objects: Int
        }
        struct Page: Decodable {
            var clientFiles: [ClientFileLine]
            var next: String?
        }
        let place: [(AdminQuery, String?)] =
            name.isFlexible ? [(.flexible, "true")] : [(.partition, name.partition)]
        let answer: Answer = try await ask(AdminRoute.realm.path(name.app, query: place), timeout: .seconds(120))
        var line = RealmLine(answer.realm, of: name.app)
        line.objects = answer.objects
        line.files = try await Self.pages(upTo: max(1, limit)) { after, count in
            let page: Page = try await ask(
                AdminRoute.realmClientFiles.path(
                    name.app, query: place + [(.after, after), (.limit, "\(count)")]))
            return (page.clientFiles, page.next)
        }.entries
        return line
    }
}

struct RealmsList: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List realms, and say how many there are.",
        discussion: """
            App by app, slice by slice, or with --sort by partition, version, historyBytes or slice; -version is the \
            other way round. The coordinator counts and sorts up to 50,000 realms.
            """
    )
    @OptionGroup var common: ReportOptions
    @Option(help: "Only this app's.", completion: .apps) var app: String?
    @Option(help: "Only those whose partition contains this.") var search: String?
    @Option(help: "By what they are sorted.") var sort: String?
    @Option(help: "At most so many.") var limit = 1000

    func run(_ admin: AdminClient) async throws {
        guard limit > 0 else { throw CommandFailure(.badInput, "--limit: expected 1 or more, found \(limit)") }
        let order = try sort.map { name in
            guard let order = RealmOrder(name) else {
                throw CommandFailure(.badInput, "--sort: expected one of \(RealmOrder.names), found \(name.prefix(40))")
            }
            return order
        }
        let apps = if let app { [app] } else { try await (admin.ask(AdminRoute.apps.path()) as AppList).apps.map(\.id) }
        var lines: [RealmLine] = []
        var isCut = false
        for app in apps {
            // Any app may have the first realms of a sorted list.
            let left = order == nil ? limit - lines.count : limit
            guard left > 0 else {
                isCut = true
                break
            }
            let (found, isMore) = try await admin.realms(of: app, search: search, sort: sort, limit: left)
            lines += found.map { RealmLine($0, of: app) }
            isCut = isCut || isMore
        }
        if let order { lines.sort { order.isBefore(RealmPlace($0), RealmPlace($1)) } }
        isCut = isCut || lines.count > limit
        lines = Array(lines.prefix(limit))
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
        guard !output.json else { return }
        var count = lines.count
        if isCut {
            count = 0
            for app in apps { count += try await admin.realmCount(of: app, search: search) }
        }
        Printing.note("\(lines.count) of \(count.counted("realm"))\(lines.count < count ? " (--limit)" : "")")
    }
}

extension RealmPlace {
    fileprivate init(_ line: RealmLine) {
        self.init(
            slice: SliceNumber(line.slice), app: line.app, partition: line.partition, version: line.version,
            historyBytes: line.historyBytes)
    }
}

struct RealmsShow: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one realm with its client files.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var realm: RealmOptions
    @Option(help: "At most so many client files.") var limit = 1000

    func run(_ admin: AdminClient) async throws {
        let line = try await admin.realm(realm.name, files: limit)
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

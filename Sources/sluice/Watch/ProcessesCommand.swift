import AdminAPI
import ArgumentParser
import SyncModel

struct ProcessesCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "processes",
        abstract: "Show the cluster's processes: what each is, where it runs, and what it does.",
        discussion: """
            As the coordinator has heard from their heartbeats. A process that is silent and has said no goodbye is \
            shown for ten minutes. With --wide also the addresses, and what keeps a process from being ready.
            """)

    @OptionGroup var common: ReportOptions
    @Option(help: "Only those of this role: coordinator, worker or gateway.") var role: String?
    @Flag(help: "Show addresses and reasons, too.") var wide = false
    @OptionGroup var live: LiveOptions

    func run(_ settings: ClusterSettings) async throws {
        let wanted = try role.map { name in
            guard let role = ProcessDocument.Role(rawValue: name) else {
                throw CommandFailure(
                    .badInput, "--role: expected coordinator, worker or gateway, found \(name.prefix(40))")
            }
            return role
        }
        let admin = try AdminClient(settings)
        try await live.run {
            let list: ProcessList = try await admin.ask(AdminRoute.processes.path())
            let processes = list.processes.filter { wanted == nil || $0.role == wanted }
            if output.json { return try Printing.json(processes) }
            live.print(wide ? Self.wideTable(processes) : Self.table(processes))
        }
    }

    private static func state(_ process: ProcessDocument) -> String {
        switch process.state {
        case .ready: "ready"
        case .notReady: "NOT READY"
        case .silent: "SILENT"
        case .unknown: "-"
        }
    }

    private static func cells(_ process: ProcessDocument) -> [String] {
        [
            process.role.rawValue, process.id, state(process), process.version.cell, process.host.cell,
            process.startedAt.map { Printing.age(ofUnixMilliseconds: $0) }.cell, process.work,
            Printing.age(ofUnixMilliseconds: process.lastHeardAt),
        ]
    }

    private static func table(_ processes: [ProcessDocument]) -> Table {
        Table("ROLE", "ID", "STATE", "VERSION", "HOST", "UP", "DOES", "HEARD", rows: processes.map(cells))
    }

    private static func wideTable(_ processes: [ProcessDocument]) -> Table {
        Table(
            "ROLE", "ID", "STATE", "VERSION", "HOST", "UP", "DOES", "HEARD", "SERVES AT", "OPERATIONS", "WAITS FOR",
            rows: processes.map {
                cells($0) + [$0.address.cell, $0.operations.cell, ($0.notReady?.joined(separator: "; ")).cell]
            })
    }
}

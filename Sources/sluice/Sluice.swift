import ArgumentParser
import Operations

struct Sluice: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sluice",
        abstract: "A self-hosted Device Sync server: sync workers on RabbitMQ, for stock Realm clients.",
        discussion: """
            Start with everything in one process, create an app, and point a client at the gateway:

              sluice up
              sluice apps create tasks --rules open    # who may do what: docs/rules.md
              sluice sync terminate tasks --enable     # every client realm must reset
              sluice campaigns watch                   # and this is how each one ends

            Settings come from flags, then from the environment (SLUICE_AMQP_URL ...), then from a YAML file named \
            by --config or SLUICE_CONFIG. Commands print tables; --json prints one JSON document, or one a line when \
            live.

            Exit codes: 0 done, 1 and 2 something is wrong (checks), 64 wrong usage, 65 bad input, 66 not found, 69 broker or coordinator not reachable, \
            70 internal error, 75 try again later, 77 not allowed.
            """,
        version: Version.current,
        subcommands: named(in: CommandLine.arguments.dropFirst()).map { [$0] } ?? [],
        groupedSubcommands: named(in: CommandLine.arguments.dropFirst()) == nil ? groups : [])

    /// The commands by what they are for, in the order in which the help lists them.
    private static let groups = [
        CommandGroup(
            name: "Processes",
            subcommands: [UpCommand.self, GatewayCommand.self, WorkerCommand.self, CoordinatorCommand.self]),
        CommandGroup(
            name: "Apps, users and rules",
            subcommands: [
                AppsCommand.self, SchemaCommand.self, RulesCommand.self, UsersCommand.self, LoginsCommand.self,
                KeysCommand.self,
            ]),
        CommandGroup(
            name: "Sync and resets",
            subcommands: [SyncCommand.self, CampaignsCommand.self, ResetsCommand.self]),
        CommandGroup(
            name: "Data",
            subcommands: [
                RealmsCommand.self, DocumentsCommand.self, ChangesCommand.self, FeedsCommand.self, ViewsCommand.self,
                PublishCommand.self, ChangesetCommand.self,
            ]),
        CommandGroup(
            name: "Watching",
            subcommands: [
                DoctorCommand.self, ProcessesCommand.self, SlicesCommand.self, QueuesCommand.self, TailCommand.self,
                DeadLettersCommand.self, LoadCommand.self, DashboardCommand.self,
            ]),
        CommandGroup(
            name: "Store, broker and access",
            subcommands: [
                StoreCommand.self, BackupCommand.self, RestoreCommand.self, BrokerCommand.self, AccessCommand.self,
                AuditCommand.self, ContextCommand.self, NamesCommand.self,
            ]),
    ]

    /// The command that the first argument names, alone; nil: none does.
    ///
    /// The parser, in a debug build, checks every argument of every command that it is given whenever the program starts. That takes several times
    /// as long as the command itself, and tests start the program thousands of times.
    static func named(in arguments: some Collection<String>) -> (any ParsableCommand.Type)? {
        groups.flatMap(\.subcommands).first { $0._commandName == arguments.first }
    }
}

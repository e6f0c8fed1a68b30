import ArgumentParser
import Operations

struct Sluice: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sluice",
        abstract: "A self-hosted Device Sync server: sync workers on RabbitMQ, for stock Realm clients.",
        discussion: """
            Start with everything in one process, create an app, and point a client at the gateway:

              sluice up
              sluice apps create tasks --rules open    # who may read and write what: docs/rules.md
              sluice sync terminate tasks --enable     # every client realm must reset ...
              sluice campaigns watch                   # ... and this is how each one ends

            Settings come from flags, then from the environment (SLUICE_AMQP_URL ...), then from a YAML file named by
            --config or SLUICE_CONFIG. Commands print tables; --json prints one JSON document, or one a line when live.

            Exit codes: 0 done, 64 wrong usage, 65 bad input, 66 not found, 69 broker or coordinator not reachable,
            70 internal error, 75 try again later, 77 not allowed.
            """,
        version: Version.current,
        subcommands: commands(for: CommandLine.arguments.dropFirst()))

    /// The commands by their names, in the order in which the help lists them.
    private static let commands: [any AsyncParsableCommand.Type] = [
        UpCommand.self, GatewayCommand.self, WorkerCommand.self, CoordinatorCommand.self,
        AppsCommand.self, SchemaCommand.self, RulesCommand.self, UsersCommand.self, SyncCommand.self,
        CampaignsCommand.self,
        KeysCommand.self, ResetsCommand.self, LoginsCommand.self, AccessCommand.self, AuditCommand.self,
        DashboardCommand.self,
        PublishCommand.self, ProcessesCommand.self, QueuesCommand.self, SlicesCommand.self, TailCommand.self,
        DeadLettersCommand.self,
        RealmsCommand.self, DocumentsCommand.self, ViewsCommand.self, StoreCommand.self, BrokerCommand.self,
        BackupCommand.self,
        RestoreCommand.self,
        DoctorCommand.self,
    ]

    /// The commands that arguments can mean: the one that the first argument names, or all.
    ///
    /// The parser, in a debug build, checks every argument of every command that it is given whenever the program starts. That takes several times
    /// as long as the command itself, and tests start the program thousands of times.
    static func commands(for arguments: some Collection<String>) -> [any AsyncParsableCommand.Type] {
        guard let named = commands.first(where: { $0._commandName == arguments.first }) else { return commands }
        return [named]
    }
}

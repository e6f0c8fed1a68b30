import ArgumentParser

struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publish events to the cluster from a shell.",
        discussion: """
            An event is built from arguments, or read as JSON: one event a line from a file or, with -, from standard
            input. The same JSON goes through any AMQP tool; docs/messages.md has every message with an example.

              sluice publish changeset --app tasks --partition store-nw --hex 3f0003466f6f...
              sluice publish changeset --file recording.ndjson
              sluice publish reset --app tasks --partition store-nw --client-file 7
              sluice publish termination --app tasks --reason "schema change"
              echo '{"app":"tasks"}' | sluice publish termination --file -

            Each event is confirmed by the broker before the next is sent. An event with the same message id as an
            earlier one has no second effect, so a file that broke off can be published again with --id-prefix.
            """,
        subcommands: [PublishChangeset.self, PublishReset.self, PublishTermination.self])
}

/// Where events come from and how they are named.
struct EventOptions: ParsableArguments {
    @Option(
        name: [.customShort("f"), .customLong("file")],
        help: "Read events as JSON, one a line; - is standard input.")
    var file: String?

    @Option(help: "Message ids become <prefix>-1, <prefix>-2 ...: publishing the same again changes nothing.")
    var idPrefix: String?

    @Flag(help: "Print one JSON line an event: its message id and where it went.")
    var json = false
}

struct PublishChangeset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "changeset",
        abstract: "Publish changesets for a realm, as written by the server itself on top of its latest version.")

    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var events: EventOptions
    @Option(help: "The app.") var app: String?
    @Option(help: "The partition value: a word, or extended JSON such as {\"$oid\":\"...\"}.") var partition: String?
    @Option(help: "A changeset in hexadecimal; repeat it for several.") var hex: [String] = []
    @Option(help: "Milliseconds since 2015-01-01 at which it was written; now by default.") var timestamp: UInt64?

    func run() async throws {
        try await reportingFailures {
            try await EventPublisher(cluster: cluster, options: events).publishAll(
                fromArguments: {
                    guard let app, let partition, !hex.isEmpty else {
                        throw CommandFailure(.badInput, "give --app, --partition and --hex, or --file")
                    }
                    return try .changeset(app: app, partition: partition, hex: hex, timestamp: timestamp)
                },
                fromJSON: { .changeset(try $0.decodeChangeset(app: app, partition: partition, timestamp: timestamp)) })
        }
    }
}

struct PublishReset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Make one client realm, or every client realm of one realm, reset.")

    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var events: EventOptions
    @Option(help: "The app.") var app: String?
    @Option(help: "The partition value.") var partition: String?
    @Option(help: "The client file ident; all of the realm's if left out.") var clientFile: UInt64?
    @Option(help: "Why; shown in the campaign and to the client.") var reason: String?

    func run() async throws {
        try await reportingFailures {
            try await EventPublisher(cluster: cluster, options: events).publishAll(
                fromArguments: {
                    guard let app, let partition else {
                        throw CommandFailure(.badInput, "give --app and --partition, or --file")
                    }
                    return .reset(app: app, partition: partition, clientFile: clientFile, reason: reason)
                },
                fromJSON: { .reset(try $0.decode()) })
        }
    }
}

struct PublishTermination: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "termination",
        abstract: "Terminate an app's sync at every worker: each client realm of it must reset.",
        discussion: """
            `sluice sync terminate` does the same through the coordinator and can wait for the campaign. This one goes
            straight to the workers; the coordinator opens the campaign when the first of them reports.
            """)

    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var events: EventOptions
    @Option(help: "The app.") var app: String?
    @Option(help: "Why; shown in the campaign and to the clients.") var reason: String?

    func run() async throws {
        try await reportingFailures {
            try await EventPublisher(cluster: cluster, options: events).publishAll(
                fromArguments: {
                    guard let app else { throw CommandFailure(.badInput, "give --app, or --file") }
                    return .termination(app: app, reason: reason)
                },
                fromJSON: { .termination(try $0.decode()) })
        }
    }
}

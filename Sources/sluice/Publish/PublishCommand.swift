import ArgumentParser
import Messages
import SyncModel

struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publish events to the cluster from a shell.",
        discussion: """
            An event is built from arguments, or read as JSON: one event a line from a file or, with -, from \
            standard input. The same JSON goes through any AMQP tool; docs/messages.md has every message with an \
            example.

              sluice publish write --app tasks --partition store-nw --wait \\
                  '{"insert": "Task", "document": {"_id": 7}}'
              sluice publish changeset --app tasks --partition nw --hex 3f000346...
              sluice publish changeset --app tasks --partition store-nw \\
                  --instructions '[{"op": "EraseObject", "class": "Dog", "key": 7}]'
              sluice publish changeset --file recording.ndjson
              sluice publish reset --app tasks --partition store-nw --client-file 7
              sluice publish termination --app tasks --reason "schema change"
              echo '{"app":"tasks"}' | sluice publish termination --file - --yes

            Each event is confirmed by the broker before the next is sent. An event with the same message id as an \
            earlier one has no second effect, so a file that broke off can be published again if its lines have an \
            "id", or with --id-prefix. With --wait each event is waited for, too: one that writes until its realm's \
            owner has answered, a reset or a termination until the coordinator has its campaign. The exit code is 65 \
            if it was refused, 75 if nobody has answered.

            Resets, terminations, and what takes away a class, a property or all objects of a class want the app's id \
            typed, once for each app, or --yes.

            The coordinator is asked whether the app exists; where there is none, --unchecked publishes all the same.
            """,
        subcommands: [PublishWrite.self, PublishChangeset.self, PublishReset.self, PublishTermination.self])
}

/// Where events come from and how they are named.
struct EventOptions: ParsableArguments {
    @Option(
        name: [.customShort("f"), .customLong("file")],
        help: "Read events as JSON, one a line; - is standard input.")
    var file: String?

    @Option(
        help: """
            Message ids become <prefix>-1, <prefix>-2 ... where a line has no "id": publishing the same again changes nothing.
            """)
    var idPrefix: String?

    @Option(help: "The message id of the one event that the arguments describe; random by default.")
    var id: String?

    @Flag(help: "Read all lines before the first is published: with a line that is no event nothing is published.")
    var check = false

    @Flag(help: "Wait until the events are written, or refused, or their campaigns are open.")
    var wait = false

    @Flag(help: "Publish without asking what cannot be undone, such as resets and terminations.")
    var yes = false

    @Flag(help: "Say where each event would go, and publish nothing.")
    var dryRun = false

    @Flag(help: "Do not ask the coordinator whether the app exists.")
    var unchecked = false

    @Flag(help: "Print one JSON line an event: its message id and where it went.")
    var json = false

    func validate() throws {
        if id != nil, file != nil || idPrefix != nil {
            throw ValidationError(
                "--id is for one event from arguments; lines have an \"id\" of their own, or --id-prefix")
        }
        if check, file == nil || file == "-" { throw ValidationError("--check needs a file that can be read twice") }
    }
}

/// The realm that an event from arguments is for.
struct EventRealmOptions: ParsableArguments {
    @Option(help: "The app.", completion: .apps) var app: String?
    @Option(help: "The partition value: a word, or extended JSON such as {\"$oid\":\"...\"}.") var partition: String?
    @Flag(help: "The one realm of an app in flexible mode, instead of --partition.") var flexible = false

    func validate() throws {
        if flexible, partition != nil {
            throw ValidationError("--flexible is the realm without a partition: leave --partition out")
        }
    }

    /// Nil if the arguments name none.
    var name: RealmName? {
        guard let app else { return nil }
        if flexible { return RealmName(flexible: app) }
        return partition.map { RealmName(app: app, partition: RealmName.partition(fromText: $0)) }
    }
}

/// A command that publishes events.
protocol PublishingCommand: ClusterCommand {
    var events: EventOptions { get }
    /// The event that the arguments describe.
    func eventFromArguments() throws -> Event
    /// The event that a line of JSON describes.
    func event(from line: EventLine) throws -> Event
}

extension PublishingCommand {
    func run(_ settings: ClusterSettings) async throws {
        try await EventPublisher(settings: settings, options: events)
            .publishAll(fromArguments: eventFromArguments, fromJSON: event)
    }
}

struct PublishChangeset: PublishingCommand {
    static let configuration = CommandConfiguration(
        commandName: "changeset",
        abstract: "Publish changesets for a realm, as written by the server itself on top of its latest version.")

    @OptionGroup(title: "The cluster") var cluster: ClusterOptions
    @OptionGroup var events: EventOptions
    @OptionGroup var realm: EventRealmOptions
    @Option(help: "A changeset in hexadecimal; repeat it for several.") var hex: [String] = []
    @Option(help: "A changeset as an array of instructions (docs/changesets.md, \"As JSON\"); repeat it for several.")
    var instructions: [String] = []
    @Option(help: "Milliseconds since 2015-01-01 at which it was written; now by default.") var timestamp: UInt64?

    func eventFromArguments() throws -> Event {
        guard let realm = realm.name, hex.isEmpty != instructions.isEmpty else {
            throw CommandFailure(
                .badInput,
                "give --app, --partition or --flexible, and either --hex or --instructions; or --file")
        }
        let changesets = try hex.map { text in
            guard let bytes = HexBytes(hex: text) else {
                throw CommandFailure(
                    .badInput, "--hex: expected an even number of hexadecimal digits, got \"\(text.prefix(24))\"")
            }
            return bytes.bytes
        }
        let made = try instructions.map { try ChangesetText.bytes(ofJSON: $0, in: "--instructions") }
        let entries = (changesets + made).map {
            UploadedChangeset(timestamp: SyncTimestamp(timestamp ?? 0), changeset: $0)
        }
        let message = ChangesetMessage(realm: realm, upload: nil, entries: entries)
        try message.requireChangesets(in: "--hex")
        return Event(message)
    }

    func event(from line: EventLine) throws -> Event {
        Event(try line.decodeChangeset(realm: realm.name, timestamp: timestamp))
    }
}

struct PublishReset: PublishingCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Make one client realm, or every client realm of one realm, reset.")

    @OptionGroup(title: "The cluster") var cluster: ClusterOptions
    @OptionGroup var events: EventOptions
    @OptionGroup var realm: EventRealmOptions
    @Option(help: "The client file ident; all of the realm's if left out.") var clientFile: UInt64?
    @Option(help: "Why; shown in the campaign and to the client.") var reason: String?

    func eventFromArguments() throws -> Event {
        guard let realm = realm.name else {
            throw CommandFailure(.badInput, "give --app, and --partition or --flexible; or --file")
        }
        return Event(
            ResetMessage(realm: realm, clientFile: clientFile.map(FileIdent.init), campaign: nil, reason: reason))
    }

    func event(from line: EventLine) throws -> Event { Event(try line.decode() as ResetMessage) }
}

struct PublishTermination: PublishingCommand {
    static let configuration = CommandConfiguration(
        commandName: "termination",
        abstract: "Terminate an app's sync at every worker: each client realm of it must reset.",
        discussion: """
            `sluice sync terminate` does the same through the coordinator and can wait for the campaign. This one \
            goes straight to the workers; the coordinator opens the campaign when the first of them reports.
            """)

    @OptionGroup(title: "The cluster") var cluster: ClusterOptions
    @OptionGroup var events: EventOptions
    @Option(help: "The app.", completion: .apps) var app: String?
    @Option(help: "Why; shown in the campaign and to the clients.") var reason: String?

    func eventFromArguments() throws -> Event {
        guard let app else { throw CommandFailure(.badInput, "give --app, or --file") }
        return Event(TerminationMessage(app: app, campaign: nil, generation: nil, reason: reason))
    }

    func event(from line: EventLine) throws -> Event { Event(try line.decode() as TerminationMessage) }
}

import AMQP
import AdminAPI
import Foundation
import Messages
import NIOCore
import Storage
import SyncModel

/// Publishes events one after another, each confirmed and known to have reached a queue, and with `--wait` known to be written.
struct EventPublisher {
    var settings: ClusterSettings
    var options: EventOptions

    /// How long a realm's owner may take to answer: longer than a slice takes to change hands.
    private static let patience: Duration = .seconds(20)

    func publishAll(fromArguments: () throws -> Event, fromJSON: (EventLine) throws -> Event) async throws {
        var apps = options.unchecked ? nil : AppCheck(settings)
        if options.check, let file = options.file { try await check(file, fromJSON, &apps) }
        let slices = try settings.sliceCount()
        try await settings.withBroker(name: "publish") { connection in
            let channel = try await connection.openChannel(confirms: true)
            try await settings.topology.declareShared(on: channel, slices: slices)
            let inbox = options.wait ? try await AnswerInbox.open(on: connection) : nil
            let listening = inbox.map { inbox in Task { try await inbox.run() } }
            defer { listening?.cancel() }
            var count = 0
            var confirmed: Set<String> = []
            func publish(_ event: Event, id given: String?) async throws {
                try await apps?.require(event)
                try await confirm(event, &confirmed)
                let id = given ?? options.idPrefix.map { "\($0)-\(count + 1)" } ?? UUID().uuidString.lowercased()
                let (exchange, key) = event.destination(in: settings.topology, slices: slices)
                if options.dryRun {
                    try report(id: id, exchange: exchange, key: key)
                    return count += 1
                }
                let message = try event.message(id: id, replyTo: event.isAnswered ? inbox?.queue : nil)
                @Sendable func send() async throws {
                    try await channel.publish(message, exchange: exchange, routingKey: key, mandatory: true)
                }
                guard let inbox, event.isAnswered else {
                    try await send()
                    try report(id: id, exchange: exchange, key: key)
                    count += 1
                    if options.wait, let campaign = event.campaign(id: id) { try await waitUntilOpen(campaign) }
                    return
                }
                do {
                    try report(try await inbox.ask(id, within: Self.patience, publish: send), id: id)
                    count += 1
                } catch let failure as AnswerInbox.Failure {
                    throw try await unanswered(failure, event, id, on: channel, slices)
                }
            }
            guard let file = options.file else { return try await publish(try fromArguments(), id: options.id) }
            var lines = try EventLines(file: file)
            while let line = try await lines.next() {
                do {
                    try await publish(try fromJSON(line), id: try line.id)
                } catch {
                    let failure = CommandFailure(describing: error)
                    // A line that is no event is named by its own error.
                    let place = "line \(line.number): "
                    let why =
                        failure.message.hasPrefix(place)
                        ? String(failure.message.dropFirst(place.count)) : failure.message
                    throw CommandFailure(failure.kind, "published \(count), stopped at \(place)\(why)")
                }
            }
            guard count > 0 else {
                throw CommandFailure(.badInput, "there is no event in \(file == "-" ? "the input" : file)")
            }
            if !options.json { Printing.note("\(count) \(options.dryRun ? "would be published" : "published")") }
        }
    }

    /// Has the operator say that what cannot be undone may be done, once for each app.
    private func confirm(_ event: Event, _ confirmed: inout Set<String>) async throws {
        guard let what = event.destruction, !options.yes, !options.dryRun, !confirmed.contains(event.app) else {
            return
        }
        // Standard input has either the events or the name.
        guard options.file != "-" else {
            throw CommandFailure(
                .badInput, "\(what) cannot be undone: add --yes, or --dry-run to see what would be done")
        }
        var words = what
        if event.content is TerminationMessage, let admin = try? AdminClient(settings),
            let preview = try? await ResetPreview.termination(of: event.app, admin)
        {
            words += " (\(preview.text))"
        }
        try ConfirmationOptions.require(typed: event.app, words)
        confirmed.insert(event.app)
    }

    /// Reads all lines as events, of apps that there are.
    private func check(
        _ file: String, _ fromJSON: (EventLine) throws -> Event, _ apps: inout AppCheck?
    ) async throws {
        var lines = try EventLines(file: file)
        while let line = try await lines.next() {
            let event = try fromJSON(line)
            _ = try line.id
            do {
                try await apps?.require(event)
            } catch {
                let failure = CommandFailure(describing: error)
                throw CommandFailure(failure.kind, "line \(line.number): \(failure.message)")
            }
        }
    }

    private func report(id: String, exchange: String, key: String) throws {
        if options.json {
            try Printing.json(["messageId": id, "exchange": exchange, "routingKey": key])
        } else if options.file == nil {
            Printing.line(
                "\(options.dryRun ? "would publish" : "published") \(id) to \(exchange)\(key.isEmpty ? "" : " key \(key)")"
            )
        }
    }

    // MARK: Answers

    private func report(_ answer: AnswerInbox.Answer, id: String) throws {
        switch answer {
        case .refused(let refusal): throw CommandFailure(.badInput, "refused: \(refusal.reason)")
        case .written(let written):
            Printing.declared(written.declared ?? [])
            if options.json {
                struct Written: Encodable {
                    var messageId: String
                    var version: ServerVersion
                    var isRepetition: Bool
                }
                try Printing.json(
                    Written(messageId: id, version: written.version, isRepetition: written.isRepetition))
            } else {
                Printing.line(
                    written.isRepetition
                        ? "\(id) was written before; the realm is at version \(written.version)"
                        : "\(id) integrated as version \(written.version)")
            }
        }
    }

    /// Waits until the coordinator accounts for a reset or a termination.
    private func waitUntilOpen(_ campaign: String) async throws {
        let admin = try AdminClient(settings)
        let deadline = ContinuousClock.now + Self.patience
        while true {
            do {
                let document: CampaignSummary = try await admin.ask(
                    AdminRoute.campaign.path(campaign), timeout: .seconds(5))
                let found = document.counts.found
                if options.json {
                    struct Opened: Encodable {
                        var campaign: String
                        var found: Int
                    }
                    return try Printing.json(Opened(campaign: campaign, found: found))
                }
                return Printing.line("campaign \(campaign) is open, with \(found) client realms so far")
            } catch let failure as CommandFailure where failure.kind == .notFound {
                guard ContinuousClock.now < deadline else {
                    throw CommandFailure(
                        .tryAgain,
                        "no worker has reported campaign \(campaign) yet: sluice campaigns watch \(campaign)")
                }
            } catch let failure as CommandFailure {
                throw CommandFailure(
                    .tryAgain, "published, and whether campaign \(campaign) is open is not known: \(failure.message)")
            }
            try await Task.sleep(for: .milliseconds(300))
        }
    }

    /// Says why nobody has answered.
    private func unanswered(
        _ failure: AnswerInbox.Failure, _ event: Event, _ id: String, on channel: AMQPChannel, _ slices: SliceCount
    ) async throws -> CommandFailure {
        var why = "\(failure)"
        if let slice = event.realm?.slice(of: slices) {
            let queue = AMQPQueueDeclaration(name: settings.topology.slice(slice), passive: true)
            let consumers = try? await channel.declareQueue(queue, record: false).consumerCount
            if consumers == 0 { why = "nobody owns slice \(slice)" }
        }
        return CommandFailure(
            .tryAgain,
            "whether \(id) is written is not known: \(why); publish it again with the same id, and it is written once")
    }
}

/// The non-empty lines of a file or of standard input, read as they come; a line is limited to 64 MiB.
struct EventLines {
    private static let maxLineBytes = 64 << 20
    private let input: ByteInput
    /// What follows the last line feed read.
    private var rest = Data()
    /// Whole lines read and not yet handed out, last first.
    private var lines: [EventLine] = []
    private var number = 0
    private var isAtEnd = false

    init(file: String) throws { input = try ByteInput(file: file) }

    /// The next line; nil at the end.
    mutating func next() async throws -> EventLine? {
        while lines.isEmpty, !isAtEnd {
            guard rest.count < Self.maxLineBytes else {
                throw CommandFailure(.badInput, "line \(number + 1) is longer than \(Self.maxLineBytes) bytes")
            }
            let chunk = try await input.read()
            isAtEnd = chunk.isEmpty
            rest.append(contentsOf: isAtEnd ? [0x0a] : chunk)
            split()
        }
        return lines.popLast()
    }

    private mutating func split() {
        guard let end = rest.lastIndex(of: 0x0a) else { return }
        for line in rest[rest.startIndex..<end].split(separator: 0x0a, omittingEmptySubsequences: false) {
            number += 1
            let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            if !text.isEmpty { lines.append(EventLine(number: number, text: text)) }
        }
        lines.reverse()
        rest = Data(rest[rest.index(after: end)...])
    }
}

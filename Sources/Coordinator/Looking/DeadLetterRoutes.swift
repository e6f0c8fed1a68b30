import AMQP
import AdminAPI
import Hummingbird
import Inspection
import Messages
import Synchronization

/// `dead-letters`: list them, look at one, send some back, drop some.
struct DeadLetterRoutes: Sendable {
    let desk: DeadLetterDesk

    init(context: CoordinatorContext) { desk = DeadLetterDesk(context: context) }

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.answer(.get, .deadLetters) { request, _ in
            let filter = DeadLetterFilter(
                letters: AdminRequest.query(.id, request).map { [$0] } ?? [],
                app: AdminRequest.query(.app, request), reason: AdminRequest.query(.reason, request),
                type: AdminRequest.query(.type, request))
            return try await desk.list(filter, limit: try AdminRequest.limit(request, default: AdminLimits.deadLetters))
        }
        group.answer(.get, .deadLetter) { _, route in
            let name = try route.value(of: .name)
            guard let letter = try await desk.letter(name) else {
                throw AdminError.notFound("dead letter \(name.prefix(40))")
            }
            return letter
        }
        for (route, fate) in [(AdminRoute.requeueLetters, DeadLetterQueue.Fate.requeued), (.dropLetters, .dropped)] {
            group.answer(.post, route) { request, _ in
                let body = try await AdminRequest.body(DeadLettersRequest.self, of: request)
                return try await desk.handle(try body.names(), fate)
            }
        }
    }
}

/// Dead letters that a request is about, by their names or their messages' ids.
struct DeadLettersRequest: AdminBody, Equatable {
    static let keys: Set<String> = ["letters"]
    static let shownKeys = keys
    static let most = 1_000

    var letters: [String]

    func names() throws(AdminError) -> Set<String> {
        guard (1...Self.most).contains(letters.count) else {
            throw .invalid("letters: expected 1 to \(Self.most) names, found \(letters.count)")
        }
        return Set(letters)
    }
}

/// A page of dead letters, oldest first.
struct DeadLetterList: Codable, Sendable {
    var letters: [DeadLetterEntry]
    /// How many letters were looked at, and how many there are.
    var seen: Int
    var of: Int
    /// How many of those that were looked at and are meant died of each reason, type, app and queue; the most frequent first.
    var groups: [DeadLetterGroup]
}

/// A dead letter with what the message said.
struct DeadLetterDocument: Codable, Sendable {
    var letter: DeadLetterEntry
    /// The message's body as text, without secrets.
    var body: String
}

/// What has become of dead letters that a request named.
struct DeadLetterResult: Codable, Sendable {
    struct Refusal: Codable, Sendable {
        var name: String
        var reason: String
    }

    var done: [String] = []
    var refused: [Refusal] = []
    /// The names of letters that are not there.
    var missing: [String] = []
}

/// Looks through the dead-letter queue for requests, one after the other: meanwhile nobody else sees the letters.
final class DeadLetterDesk: Sendable {
    /// Letters looked through for one request.
    static let reach = 10_000
    private static let patience: Duration = .seconds(10)

    private let context: CoordinatorContext
    private let isBusy = Mutex(false)

    init(context: CoordinatorContext) { self.context = context }

    func list(_ filter: DeadLetterFilter, limit: Int) async throws -> DeadLetterList {
        var entries: [DeadLetterEntry] = []
        var counts = DeadLetterCounts()
        let slices = context.slices
        let (seen, of) = try await visit { letter, message in
            let entry = DeadLetterEntry(letter, message, slices: slices)
            guard filter.accepts(entry) else { return .kept }
            counts.add(entry)
            if entries.count < limit { entries.append(entry) }
            return .kept
        }
        entries.sort { ($0.diedAt ?? 0, $0.name) < ($1.diedAt ?? 0, $1.name) }
        return DeadLetterList(letters: entries, seen: seen, of: of, groups: counts.groups)
    }

    /// - Parameter name: a letter's name, or its message's id.
    func letter(_ name: String) async throws -> DeadLetterDocument? {
        var found: DeadLetterDocument?
        let slices = context.slices
        _ = try await visit { letter, message in
            if found == nil, letter.name == name || message.properties.messageID == name {
                found = DeadLetterDocument(
                    letter: DeadLetterEntry(letter, message, slices: slices), body: MessageBody.text(of: message))
            }
            return .kept
        }
        return found
    }

    /// Sends letters back to the queues that they died in, or drops them; what cannot be sent back stays, and the answer says why.
    func handle(_ names: Set<String>, _ fate: DeadLetterQueue.Fate) async throws -> DeadLetterResult {
        var result = DeadLetterResult()
        var wanted = names
        // The words by which the request has called each letter that it means.
        var words: [String: String] = [:]
        while !wanted.isEmpty {
            do {
                _ = try await visit(
                    { letter, message in
                        guard let word = Self.word(for: letter, message, in: wanted) else { return .kept }
                        words[letter.name] = word
                        if case .requeued = fate, letter.isExcerpt { throw DeadLetterError.excerpt(letter) }
                        return fate
                    },
                    done: { letter, message, _ in
                        guard let word = Self.word(for: letter, message, in: wanted) else { return }
                        wanted.remove(word)
                        result.done.append(letter.name)
                    })
                break
            } catch let error as DeadLetterError {
                let letter =
                    switch error {
                    case .excerpt(let letter), .noOrigin(let letter): letter
                    }
                wanted.remove(words[letter.name] ?? letter.name)
                result.refused.append(.init(name: letter.name, reason: "\(error)"))
            }
        }
        result.missing = wanted.sorted()
        return result
    }

    /// The word by which a request has called a letter: its name, or its message's id; nil if the request does not mean it.
    private static func word(for letter: DeadLetter, _ message: AMQPMessage, in wanted: Set<String>) -> String? {
        if wanted.contains(letter.name) { return letter.name }
        return message.properties.messageID.flatMap { wanted.contains($0) ? $0 : nil }
    }

    private func visit(
        _ body: (DeadLetter, AMQPMessage) async throws -> DeadLetterQueue.Fate,
        done: (DeadLetter, AMQPMessage, DeadLetterQueue.Fate) throws -> Void = { _, _, _ in }
    ) async throws -> (seen: Int, of: Int) {
        let deadline = ContinuousClock.now + Self.patience
        while !begin() {
            guard ContinuousClock.now < deadline else {
                throw AdminError.unavailable("busy", "others look through the dead letters: try again")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        defer { isBusy.withLock { $0 = false } }
        do {
            return try await context.deadLetters.visit(limit: Self.reach, body, done: done)
        } catch let error as AMQPError {
            throw AdminError.brokerAway(error)
        }
    }

    /// Whether nobody else looks through the letters now; then it is the caller's turn.
    private func begin() -> Bool {
        isBusy.withLock { isBusy in
            defer { isBusy = true }
            return !isBusy
        }
    }
}

import AMQP
import AdminAPI
import Hummingbird
import Inspection
import Messages
import SyncModel
import Synchronization

/// `dead-letters`: list them, look at one, send some back, drop some.
struct DeadLetterRoutes: Sendable {
    let desk: DeadLetterDesk

    init(context: CoordinatorContext) { desk = DeadLetterDesk(context: context) }

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.answer(.get, .deadLetters) { request, _ in
            try await desk.list(
                try filter(request),
                limit: try AdminRequest.limit(
                    request, default: AdminLimits.deadLetters, in: AdminLimits.deadLetterReach),
                reach: try reach(request))
        }
        group.answer(.get, .deadLetterBodies) { request, _ in
            try await desk.bodies(try filter(request), reach: try reach(request))
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
                let result = try await desk.handle(try body.filter(), fate, reach: try body.reach())
                let names = result.done.prefix(LettersReport.most).joined(separator: ", ")
                AuditNotes.current?.set("\(result.done.count.counted("dead letter")): \(names)")
                return result
            }
        }
    }

    private func filter(_ request: Request) throws(AdminError) -> DeadLetterFilter {
        let letters = AdminRequest.queries(.id, request)
        guard letters.count <= AdminLimits.namedLetters else {
            throw .invalid("id: expected at most \(AdminLimits.namedLetters) of them, found \(letters.count)")
        }
        return DeadLetterFilter(
            letters: Set(letters), app: AdminRequest.query(.app, request), reason: AdminRequest.query(.reason, request),
            type: AdminRequest.query(.type, request))
    }

    private func reach(_ request: Request) throws(AdminError) -> Int {
        try AdminRequest.number(.reach, request, in: AdminLimits.deadLetterReach) ?? AdminLimits.deadLettersSeen
    }
}

extension DeadLettersRequest {
    fileprivate func filter() throws(AdminError) -> DeadLetterFilter {
        if let letters {
            guard (1...Self.most).contains(letters.count) else {
                throw .invalid("letters: expected 1 to \(Self.most) names, found \(letters.count)")
            }
        }
        guard letters != nil || app != nil || reason != nil || type != nil || all == true else {
            throw .invalid("letters: expected names, or app, reason or type, or else all: true")
        }
        return DeadLetterFilter(letters: Set(letters ?? []), app: app, reason: reason, type: type)
    }

    fileprivate func reach() throws(AdminError) -> Int {
        let allowed = AdminLimits.deadLetterReach
        guard allowed.contains(limit ?? 1) else {
            throw .invalid("limit: expected \(allowed.lowerBound) to \(allowed.upperBound), found \(limit ?? 0)")
        }
        return limit ?? AdminLimits.deadLettersSeen
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

/// Dead letters with what the messages said.
struct DeadLetterBodies: Codable, Sendable {
    var letters: [DeadLetterDocument] = []
    /// How many more are meant that this answer has no room for.
    var left = 0
    /// How many letters were looked at, and how many there are.
    var seen = 0
    var of = 0
}

/// The fate of the dead letters that a request meant.
struct DeadLetterResult: Codable, Sendable {
    struct Refusal: Codable, Sendable {
        var name: String
        var reason: String
    }

    var done: [String] = []
    /// The letters that it was done to, in the order in which it was.
    var letters: [DeadLetterEntry] = []
    /// How many letters were looked at, and how many there were.
    var seen = 0
    var of = 0
    var refused: [Refusal] = []
    /// The names of letters that are not there.
    var missing: [String] = []
}

/// Looks through the dead-letter queue for requests, one after the other: meanwhile nobody else sees the letters.
final class DeadLetterDesk: Sendable {
    private static let patience: Duration = .seconds(10)

    private let context: CoordinatorContext
    private let isBusy = Mutex(false)

    init(context: CoordinatorContext) { self.context = context }

    /// - Parameter reach: how many letters are looked at.
    func list(_ filter: DeadLetterFilter, limit: Int, reach: Int) async throws -> DeadLetterList {
        var entries: [DeadLetterEntry] = []
        var counts = DeadLetterCounts()
        let slices = context.slices
        let (seen, of) = try await visit(reach) { letter, message in
            let entry = DeadLetterEntry(letter, message, slices: slices)
            guard filter.accepts(entry) else { return .kept }
            counts.add(entry)
            if entries.count < limit { entries.append(entry) }
            return .kept
        }
        entries.sort { ($0.diedAt ?? 0, $0.name) < ($1.diedAt ?? 0, $1.name) }
        return DeadLetterList(letters: entries, seen: seen, of: of, groups: counts.groups)
    }

    /// The letters that are meant with what the messages said, as many as one answer has room for.
    func bodies(_ filter: DeadLetterFilter, reach: Int) async throws -> DeadLetterBodies {
        var found = DeadLetterBodies()
        var bytes = 0
        let slices = context.slices
        let (seen, of) = try await visit(reach) { letter, message in
            let entry = DeadLetterEntry(letter, message, slices: slices)
            guard filter.accepts(entry) else { return .kept }
            guard found.letters.count < AdminLimits.letterBodies, bytes < AdminLimits.letterBodyBytes else {
                found.left += 1
                return .kept
            }
            let document = DeadLetterDocument(letter: entry, body: MessageBody.text(of: message))
            bytes += document.body.utf8.count
            found.letters.append(document)
            return .kept
        }
        (found.seen, found.of) = (seen, of)
        return found
    }

    /// - Parameter name: a letter's name, or its message's id.
    func letter(_ name: String) async throws -> DeadLetterDocument? {
        var found: DeadLetterDocument?
        let slices = context.slices
        _ = try await visit(AdminLimits.deadLettersSeen) { letter, message in
            if found == nil, letter.name == name || message.properties.messageID == name {
                found = DeadLetterDocument(
                    letter: DeadLetterEntry(letter, message, slices: slices), body: MessageBody.text(of: message))
            }
            return .kept
        }
        return found
    }

    /// Sends letters back to the queues that they died in, or drops them; what cannot be sent back stays, and the answer says why.
    func handle(_ filter: DeadLetterFilter, _ fate: DeadLetterQueue.Fate, reach: Int) async throws -> DeadLetterResult {
        var result = DeadLetterResult()
        // The words by which the request has called letters that are there.
        var met: Set<String> = []
        let (slices, queue) = (context.slices, context.deadLetters)
        let (seen, of) = try await visit(
            reach,
            { letter, message in
                let entry = DeadLetterEntry(letter, message, slices: slices)
                guard filter.accepts(entry) else { return .kept }
                met.formUnion([entry.name, entry.id].compactMap(\.self))
                if case .requeued = fate, let obstacle = queue.obstacle(to: letter) {
                    result.refused.append(.init(name: letter.name, reason: "\(obstacle)"))
                    return .kept
                }
                return fate
            },
            done: { letter, message, fate in
                if case .kept = fate { return }
                result.done.append(letter.name)
                result.letters.append(DeadLetterEntry(letter, message, slices: slices))
            })
        (result.seen, result.of) = (seen, of)
        result.missing = filter.letters.subtracting(met).sorted()
        return result
    }

    private func visit(
        _ reach: Int, _ body: (DeadLetter, AMQPMessage) async throws -> DeadLetterQueue.Fate,
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
            return try await context.deadLetters.visit(limit: reach, body, done: done)
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

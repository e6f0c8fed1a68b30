import Messages
import RealmState
import SyncModel
import Views

/// A gateway between an owner and clients of a flexible realm, as far as notices go: each client is told of what concerns its view, now or a
/// while after, and asks its owner only for what notices do not tell.
struct ViewingGateway {
    private struct Line {
        var letters: [(notice: IntegratedNotice, stretch: FannedStretch?, group: ViewFan.Outcome.Group?)] = []
        var heardOf: ServerVersion = 0
        /// The client is asking for a page, or has to.
        var isPaging = true
    }

    private(set) var fan = ViewFan()
    private var lines: [UInt64: Line] = [:]
    /// Notices that clients could use without asking their owner.
    private(set) var used = 0
    /// The app's.
    var schemas: [SchemaVersion] = []

    mutating func begin(_ session: UInt64) { lines[session] = Line() }

    mutating func end(_ session: UInt64) {
        fan.leave(session)
        lines[session] = nil
    }

    /// A client may have come again in another session.
    mutating func moved(_ client: ViewingClient, from session: UInt64) {
        guard session != client.session else { return }
        end(session)
        begin(client.session)
    }

    mutating func take(_ notices: [IntegratedNotice]) throws {
        for notice in notices {
            guard let objects = notice.objects else {
                let outcome = fan.pass(
                    to: notice.latest.version, answering: notice.acknowledgements.map(\.clientFile))
                for number in outcome.lost { lines[number]?.letters.append((notice, nil, nil)) }
                continue
            }
            let stretch = try FannedStretch(
                follows: notice.follows, latest: notice.latest.version, entries: notice.entries,
                before: objects.before.map(\.wrappedValue), now: objects.now,
                addressed: Set(notice.acknowledgements.map(\.clientFile)))
            let changed = objects.changedSchema.isEmpty ? nil : try Schema(decoding: objects.changedSchema)
            let outcome = fan.take(stretch, schema: (objects.schema, changed))
            for group in outcome.groups {
                for number in group.sessions { lines[number]?.letters.append((notice, stretch, group)) }
            }
            for number in outcome.lost { lines[number]?.letters.append((notice, stretch, nil)) }
        }
    }

    /// Hands a client what waits for it.
    mutating func drain(_ client: inout ViewingClient) throws {
        guard var line = lines[client.session] else { return }
        defer { lines[client.session] = line }
        for (notice, stretch, group) in line.letters {
            let latest = notice.latest.version
            line.heardOf = max(line.heardOf, latest)
            guard !line.isPaging, latest > client.position.serverVersion else { continue }
            if group != nil { client.position.serverVersion = max(client.position.serverVersion, notice.follows) }
            guard notice.follows == client.position.serverVersion, let group, let stretch,
                let part = stretch.part(
                    for: client.file.ident, at: client.position.clientVersion, group.slots, in: group.view,
                    split: { try? SplitChangeset(parsing: notice.entries[$0].changeset) })
            else {
                line.isPaging = true
                continue
            }
            used += 1
            try client.take(part, of: notice)
        }
        line.letters = []
    }

    /// Has a client that is behind come up to the latest version.
    ///
    /// - Parameter always: also if as far as it knows it is not.
    mutating func bringUp(_ client: inout ViewingClient, from harness: OwnerHarness, always: Bool) async throws {
        guard always || lines[client.session]?.isPaging == true else { return }
        while true {
            let session = client.session
            try await client.download(from: harness, known: fan.stamp)
            moved(client, from: session)
            if let schema = client.schema { fan.learn(try Schema(decoding: schema.body), stamp: schema.stamp) }
            if follow(client) { return }
        }
    }

    /// The client has everything up to its position, under the set in force.
    ///
    /// - Returns: whether that is all that the gateway has heard of.
    @discardableResult
    mutating func follow(_ client: ViewingClient) -> Bool {
        let stands = fan.follow(
            client.session, file: client.file.ident,
            ViewDefinition(version: client.active.version, queries: client.active.queries, roles: client.active.roles),
            of: schemas.last { $0.number <= client.schemaVersion ?? 0 },
            at: client.position.serverVersion)
        let heardOf = max(stands, lines[client.session]?.heardOf ?? 0)
        lines[client.session]?.heardOf = heardOf
        lines[client.session]?.isPaging = heardOf > client.position.serverVersion
        return heardOf <= client.position.serverVersion
    }

    /// Keeps a client's notices from being used while another set's data is on its way.
    mutating func hold(_ client: ViewingClient) { lines[client.session]?.isPaging = true }
}

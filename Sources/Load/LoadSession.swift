import Changesets
package import SyncModel
import SyncProtocol

/// One client realm's session, as a client on a device leads it, but for what it would do with what it is sent. Pure.
package struct LoadSession: Sendable {
    /// The effects of an event.
    package struct Effects: Sendable, Equatable {
        /// Messages to send, in this order.
        package var messages: [[UInt8]] = []
        /// When the changesets were sent that are acknowledged now.
        package var acknowledged: [Int64] = []
        /// When the changesets were sent that have come from others.
        package var delivered: [Int64] = []
        package var becameLive = false
        /// An error that the server has sent.
        package var failure: Failure?
    }

    package struct Failure: Sendable, Equatable {
        package var code: Int
        package var message: String
        /// The session is over; it may be begun again on another socket unless `isFinal`.
        package var endsSession: Bool
        package var isFinal: Bool
    }

    private struct Pending: Sendable {
        var entry: UploadedChangeset
        var sentAt: Int64
    }

    private enum Phase { case closed, allocating, downloading, live, ended }

    private static let session: SessionIdent = 1
    /// Changesets that may wait to be acknowledged: a client that is so far behind writes nothing meanwhile.
    package static let maxPending = 100

    private let mode: SyncMode
    private let partition: String
    private let queries: [String: String]
    private let encoder: MessageEncoder
    private let parser: ServerMessageParser
    private var phase = Phase.closed
    private var file: ClientFileIdent?
    private var progress = SyncProgress()
    private var clientVersion: UInt64 = 1
    private var pending: [Pending] = []
    /// The subscription set that was asked for, and the one whose data has come.
    private var asked: UInt64 = 0
    private var subscribed: UInt64 = 0

    /// A client of a partition.
    package init(partition: String) {
        self.init(mode: .partition, partition: partition, queries: [:])
    }

    /// A client in flexible mode; without queries it subscribes to nothing.
    package init(subscribingTo queries: [String: String]) {
        self.init(mode: .flexible, partition: "", queries: queries)
    }

    private init(mode: SyncMode, partition: String, queries: [String: String]) {
        self.mode = mode
        self.partition = partition
        self.queries = queries
        encoder = MessageEncoder(mode: mode)
        parser = ServerMessageParser(mode: mode)
    }

    package var isLive: Bool { phase == .live }
    package var isOver: Bool { phase == .ended }
    package var waiting: Int { pending.count }
    package var canWrite: Bool { isLive && pending.count < Self.maxPending }

    // MARK: Events

    /// A socket is there.
    package mutating func opened() throws -> Effects {
        var effects = Effects()
        if let file {
            phase = .downloading
            effects.messages = [try bind(needsIdent: false), try ident(file)]
        } else {
            phase = .allocating
            effects.messages = [try bind(needsIdent: true)]
        }
        return effects
    }

    package mutating func closed() { if phase != .ended { phase = .closed } }

    /// The client writes.
    package mutating func write(_ changeset: [UInt8], at now: Int64, timestamp: SyncTimestamp) throws -> Effects {
        clientVersion += 1
        let entry = UploadedChangeset(
            clientVersion: ClientVersion(rawValue: clientVersion), serverVersion: progress.download.serverVersion,
            timestamp: timestamp, changeset: changeset)
        pending.append(Pending(entry: entry, sentAt: now))
        return Effects(messages: isLive ? [try upload(entry)] : [])
    }

    package func ping(at milliseconds: UInt64) throws -> [UInt8] {
        try encoder.encode(.ping(timestamp: milliseconds, roundTrip: 0))
    }

    package mutating func received(_ bytes: [UInt8]) throws -> Effects {
        switch try parser.parse(bytes) {
        case .ident(_, let file):
            self.file = file
            phase = .downloading
            return Effects(messages: [try ident(file)])
        case .download(let download): return try downloaded(download)
        case .jsonError(_, let code, let body):
            // Writes that were undone end nothing.
            let isUndone = body.rejectedUpdates != nil
            if body.action.isClientReset { phase = .ended } else if !isUndone { phase = .closed }
            return Effects(
                failure: Failure(
                    code: code.rawValue, message: body.message, endsSession: !isUndone,
                    isFinal: body.action.isClientReset))
        case .error(let error):
            phase = .closed
            return Effects(
                failure: Failure(
                    code: error.code.rawValue, message: error.message, endsSession: true, isFinal: !error.tryAgain))
        case .queryError(let error):
            phase = .ended
            return Effects(
                failure: Failure(code: error.code.rawValue, message: error.message, endsSession: true, isFinal: true))
        default: return Effects()
        }
    }

    private mutating func downloaded(_ download: Download) throws -> Effects {
        var effects = Effects()
        let wasLive = isLive
        progress = download.progress
        let done = pending.prefix { $0.entry.clientVersion <= progress.upload.clientVersion }
        effects.acknowledged = done.map(\.sentAt)
        pending.removeFirst(done.count)
        // What was there before it came says nothing about how fast the cluster is.
        if wasLive { effects.delivered = download.entries.compactMap { LoadWrites.sentAt(in: $0.changeset) } }
        if let batch = download.batch, batch.state != .moreToCome {
            subscribed = max(subscribed, batch.queryVersion.rawValue)
        }
        guard phase == .downloading else { return effects }
        if asked == 0, !queries.isEmpty {
            asked = 1
            effects.messages = [try encoder.encode(.query(Query(session: Self.session, query: wanted)))]
        } else if subscribed >= asked {
            phase = .live
            effects.becameLive = true
            effects.messages = try pending.map { try upload($0.entry) }
        }
        return effects
    }

    // MARK: Messages

    private var wanted: QuerySet { QuerySet(version: QueryVersion(rawValue: asked), queries: queries) }

    private func bind(needsIdent: Bool) throws -> [UInt8] {
        let bind =
            switch mode {
            case .partition: Bind(session: Self.session, partition: .string(partition), needsIdent: needsIdent)
            case .flexible: Bind(session: Self.session, target: FlexibleTarget().text, needsIdent: needsIdent)
            }
        return try encoder.encode(.bind(bind))
    }

    private mutating func ident(_ file: ClientFileIdent) throws -> [UInt8] {
        var query: QuerySet?
        if mode == .flexible {
            query = subscribed > 0 ? wanted : QuerySet(version: 0, text: "{}")
            // What was asked for on a socket that is gone may not have come.
            if subscribed == 0 { asked = 0 }
        }
        return try encoder.encode(
            .ident(
                Ident(
                    session: Self.session, file: file, download: progress.download, latest: progress.latest,
                    query: query)))
    }

    private func upload(_ entry: UploadedChangeset) throws -> [UInt8] {
        try encoder.encode(
            .upload(
                Upload(
                    session: Self.session, progress: entry.cursor,
                    lockedServerVersion: progress.download.serverVersion, entries: [entry])))
    }
}

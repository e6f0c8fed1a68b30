import Foundation
import SeededRandom
import SyncModel
import SyncProtocol

/// A client of an honest app: edits its own object now and then, takes what the others write, and reports its progress as
/// stock clients do. Any error, any end of its connection is one too many.
actor HonestClient {
    private let name: String
    private let realm: HonestRealm
    private let exchange: HTTPExchange
    private let ledger: HonestLedger
    private let number: Int
    private let account: Account
    private var line: Line?
    private var session: SessionIdent = 1
    private var file: FileIdent = 0
    /// The newest version of its own history; what it downloads makes versions, too.
    private var version: ClientVersion = 1
    private var seen: ServerVersion = 0
    private var lastTimestamp: UInt64 = 0
    private var edits = 0

    /// - Parameter account: its user, who is logged in.
    init(_ number: Int, _ account: Account, _ realm: HonestRealm, _ exchange: HTTPExchange, _ ledger: HonestLedger) {
        name = "client \(number) (\(realm))"
        self.number = number
        self.account = account
        self.realm = realm
        self.exchange = exchange
        self.ledger = ledger
    }

    /// Opens its realm as a new client realm, and makes the schema if it is the first.
    func open() async throws {
        let line = try await Line.open(
            try await account.refresh(exchange), port: exchange.port, exchange.tally, mode: realm.mode, follows: true)
        switch realm {
        case .partition(let partition): session = try await line.open(partition)
        case .flexible: session = try await line.openFlexible()
        }
        guard let opened = await line.sessions[session], let file = opened.file else { throw Refused("no ident") }
        self.file = file.ident
        seen = opened.progress.download.serverVersion
        version = 1
        edits = 0
        self.line = line
        // A flexible client that comes later has what these make within a bootstrap, not as changes.
        let isMeasured = realm.mode == .partition
        try await upload([Writes.schema("Thing")], isMeasured: isMeasured)
        if case .flexible = realm {
            guard try await line.subscribe(["Thing": "count >= 0"], session),
                let progress = await line.sessions[session]?.progress
            else { throw Refused("the subscription set was not answered") }
            seen = progress.download.serverVersion
        }
        try await upload([Writes.put(number, count: 0)], isMeasured: isMeasured)
    }

    /// Takes what comes until it is cancelled, and begins anew when the connection has ended.
    func follow() async {
        while !Task.isCancelled {
            guard let line else {
                do { try await open() } catch {
                    guard !Task.isCancelled else { return }
                    ledger.failed("\(name) cannot come back: \(error)")
                    try? await Task.sleep(for: .seconds(2))
                }
                continue
            }
            var reason = "the connection ended"
            messages: for await (message, moment) in line.messages {
                switch message {
                case .download(let download): await take(download, at: moment)
                case .jsonError(_, let code, let body):
                    reason = "error \(code.rawValue) \(body.message)"
                    break messages
                default: break
                }
            }
            self.line = nil
            await line.close()
            if !Task.isCancelled { ledger.lost(of: file, because: "\(name): \(reason)") }
        }
    }

    private func take(_ download: Download, at moment: ContinuousClock.Instant) async {
        for entry in download.entries {
            ledger.arrived(HonestLedger.Change(file: entry.originFile, timestamp: entry.timestamp), at: moment)
        }
        guard download.progress.download.serverVersion > seen else { return }
        seen = download.progress.download.serverVersion
        version = version + 1
        try? await send([])
    }

    /// Edits at this pace until it is cancelled.
    func edit(_ random: SeededGenerator, pace: Duration) async {
        var random = random
        while !Task.isCancelled {
            let share = Double(50 + random.below(101)) / 100
            try? await Task.sleep(for: pace * share)
            guard line != nil else { continue }
            edits += 1
            try? await upload([Writes.put(number, count: edits)])
        }
    }

    private func upload(_ changesets: [[UInt8]], isMeasured: Bool = true) async throws {
        var entries: [UploadedChangeset] = []
        for changeset in changesets {
            version = version + 1
            let now = UInt64(Date().timeIntervalSince1970 * 1000) - 1_420_070_400_000
            lastTimestamp = max(now, lastTimestamp + 1)
            let timestamp = SyncTimestamp(rawValue: lastTimestamp)
            entries.append(
                UploadedChangeset(
                    clientVersion: version, serverVersion: seen, timestamp: timestamp, changeset: changeset))
            if isMeasured { ledger.sent(HonestLedger.Change(file: file, timestamp: timestamp)) }
        }
        do {
            try await send(entries)
        } catch {
            // That the connection is gone is counted where its messages end.
            for entry in entries { ledger.forget(HonestLedger.Change(file: file, timestamp: entry.timestamp)) }
            throw error
        }
    }

    private func send(_ entries: [UploadedChangeset]) async throws {
        try await line?.send(
            .upload(
                Upload(
                    session: session, progress: UploadCursor(clientVersion: version, serverVersion: seen),
                    lockedServerVersion: seen, entries: entries)))
    }

    func close() async { await line?.close() }
}

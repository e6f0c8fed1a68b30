import DeviceSync
import Foundation
import LocalCluster
import SeededRandom
import Synchronization

/// One user with one client realm who writes all the time, offline now and then, and remembers what it wrote.
final class FireClient: Sendable {
    private struct Ledger {
        var realm: Realm?
        /// When each change was written: entries, increments and lines alike.
        var written: [ContinuousClock.Instant] = []
        var acknowledged = 0
        /// Acknowledged more than ten seconds after they were written.
        var late = 0
        /// How long the client has been offline altogether, but for the time since `offlineSince`.
        var offline: Duration = .zero
        var offlineSince: ContinuousClock.Instant?
        /// What `offline` was when each change was written.
        var offlineAtWrite: [Duration] = []
        /// The longest that a change waited for its acknowledgement since somebody last asked.
        var longestWait: Duration = .zero
        var entries: Set<String> = []
        var increments = 0
        var lines: Set<String> = []
        var resets = 0
        var errors: [String] = []

        var offlineSoFar: Duration { offline + (offlineSince.map { ContinuousClock.now - $0 } ?? .zero) }

        /// How long the oldest change that is not acknowledged has waited while the client was online.
        var oldestWait: Duration {
            guard acknowledged < written.count else { return .zero }
            return ContinuousClock.now - written[acknowledged] - (offlineSoFar - offlineAtWrite[acknowledged])
        }
    }

    static let lateAfter: Duration = .seconds(10)

    let name: String
    let app: String
    let partition: String
    /// Whether a reset throws away what it has not uploaded, and the count of losses must not mind.
    let discards: Bool
    private let url: String
    private let ledger = Mutex(Ledger())

    init(name: String, app: String, partition: String, discards: Bool, url: String) {
        self.name = name
        self.app = app
        self.partition = partition
        self.discards = discards
        self.url = url
    }

    var attempted: Int { ledger.withLock { $0.written.count } }
    var acknowledged: Int { ledger.withLock { $0.acknowledged } }
    var late: Int { ledger.withLock { $0.late } }
    var entries: Set<String> { ledger.withLock { $0.entries } }
    var increments: Int { ledger.withLock { $0.increments } }
    var lines: Set<String> { ledger.withLock { $0.lines } }
    var resets: Int { ledger.withLock { $0.resets } }
    var errors: [String] { ledger.withLock { $0.errors } }

    var realm: Realm {
        get throws {
            guard let realm = ledger.withLock({ $0.realm }) else {
                throw LocalClusterError("\(name) has no realm open")
            }
            return realm
        }
    }

    private var session: SyncSession {
        get throws {
            guard let session = try realm.syncSession else { throw LocalClusterError("\(name) has no sync session") }
            return session
        }
    }

    /// Registers, logs in and opens the realm.
    func open() async throws {
        let app = App(id: app, configuration: AppConfiguration(baseURL: url))
        app.syncManager.callbackQueue = DispatchQueue(label: "fire.callbacks")
        let user = try await FireUser.logIn(name, to: app)
        let after: @Sendable (Realm, Realm) -> Void = { [weak self] _, _ in self?.ledger.withLock { $0.resets += 1 } }
        var configuration = user.configuration(
            partitionValue: partition,
            clientResetMode: discards
                ? .discardUnsyncedChanges(afterReset: after) : .recoverUnsyncedChanges(afterReset: after))
        configuration.dynamicSchema = FireSchema.classes
        let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .once)
        ledger.withLock { $0.realm = realm }
    }

    /// Makes what all clients of the partition share; by one of them, before the others open.
    func seed() async throws {
        let realm = try realm
        try realm.write {
            realm.dynamicCreate("Shared", value: ["_id": "shared", "count": 0])
        }
        try await upload()
    }

    /// Writes until told to stop.
    func work(_ random: SeededGenerator, pace: Duration) async {
        var random = random
        while !Task.isCancelled {
            do {
                let isOffline = Int.random(in: 0..<40, using: &random) == 0
                if isOffline { try setOffline(true) }
                for _ in 0..<(isOffline ? Int.random(in: 3...15, using: &random) : 1) {
                    try write(Int.random(in: 0..<100, using: &random))
                    try await Task.sleep(for: pace * Double.random(in: 0.5...1.5, using: &random))
                }
                if isOffline { try setOffline(false) }
            } catch is CancellationError {
                break
            } catch {
                note(error)
                try? await Task.sleep(for: .milliseconds(200))
            }
        }
        do { try setOffline(false) } catch { note(error) }
    }

    /// Writes once more, when the others have stopped: whoever follows sees by this whether something before it is missing.
    func writeLast() { do { try write(0) } catch { note(error) } }

    private func setOffline(_ isOffline: Bool) throws {
        if isOffline { try session.suspend() } else { try session.resume() }
        ledger.withLock {
            if let since = $0.offlineSince { $0.offline += ContinuousClock.now - since }
            $0.offlineSince = isOffline ? .now : nil
        }
    }

    /// The longest that a change waited for its acknowledgement since this was last asked, what still waits included; the time
    /// that the client was offline does not count.
    func takeLongestWait() -> Duration {
        ledger.withLock { ledger in
            defer { ledger.longestWait = .zero }
            return max(ledger.longestWait, ledger.oldestWait)
        }
    }

    private func write(_ die: Int) throws {
        let realm = try realm
        let number = attempted
        let id = "\(name)/\(number)"
        try realm.write {
            switch die {
            case ..<50:
                realm.dynamicCreate("Entry", value: ["_id": id, "text": "written by \(name)"])
            case ..<65:
                if let own = entries.first, let entry = realm.dynamicObject(ofType: "Entry", forPrimaryKey: own) {
                    entry["text"] = "rewritten \(number)"
                }
            case ..<82:
                try shared(in: realm).increment("count", by: 1)
            default:
                guard let lines = try shared(in: realm)["lines"] as? DynamicList else {
                    throw LocalClusterError("\(name): Shared.lines is not a list")
                }
                lines.append(id)
            }
        }
        ledger.withLock {
            $0.written.append(.now)
            $0.offlineAtWrite.append($0.offlineSoFar)
            switch die {
            case ..<50: $0.entries.insert(id)
            case ..<65: break
            case ..<82: $0.increments += 1
            default: $0.lines.insert(id)
            }
        }
    }

    private func shared(in realm: Realm) throws -> DynamicObject {
        guard let shared = realm.dynamicObject(ofType: "Shared", forPrimaryKey: "shared") else {
            throw LocalClusterError("\(name): the shared object is gone")
        }
        return shared
    }

    /// Follows what is acknowledged while the client writes.
    func follow() async {
        while !Task.isCancelled {
            do { try await upload() } catch { note(error) }
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Returns when all that was written before the call is acknowledged.
    func upload() async throws {
        let count = attempted
        try await session.wait(for: .upload)
        let now = ContinuousClock.now
        ledger.withLock { ledger in
            guard count > ledger.acknowledged else { return }
            ledger.late += ledger.written[ledger.acknowledged..<count].filter { now - $0 > Self.lateAfter }.count
            ledger.longestWait = max(ledger.longestWait, ledger.oldestWait)
            ledger.acknowledged = count
        }
    }

    func download() async throws { try await session.wait(for: .download) }

    private func note(_ error: any Error) {
        ledger.withLock { if $0.errors.count < 20 { $0.errors.append("\(error)") } }
    }
}

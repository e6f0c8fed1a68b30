import DeviceSync
import Foundation
import LocalCluster
import SeededRandom
import Synchronization

/// One user of the app in flexible mode, with one client realm: writes cards, moves them from group to group, subscribes to other groups now and
/// then, is offline now and then, and remembers what it made.
final class ViewClient: Sendable {
    private struct Ledger {
        var realm: Realm?
        var attempted = 0
        var acknowledged = 0
        var made: Set<String> = []
        /// The groups that it subscribes to.
        var groups: Set<String> = ViewWorld.groups
        var queryChanges = 0
        var errors: [String] = []
    }

    let name: String
    private let url: String
    private let undone: UndoneWrites
    private let ledger = Mutex(Ledger())

    init(name: String, url: String, undone: UndoneWrites) {
        self.name = name
        self.url = url
        self.undone = undone
    }

    var attempted: Int { ledger.withLock { $0.attempted } }
    var acknowledged: Int { ledger.withLock { $0.acknowledged } }
    var made: Set<String> { ledger.withLock { $0.made } }
    var groups: Set<String> { ledger.withLock { $0.groups } }
    var queryChanges: Int { ledger.withLock { $0.queryChanges } }
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

    /// The cards in its copy, by key.
    var cards: [String: ViewWorld.Card] {
        get throws {
            var cards: [String: ViewWorld.Card] = [:]
            // As it is at one moment: what leaves the view goes while this looks.
            for card in try realm.freeze().dynamicObjects("Card") {
                guard let id = card["_id"] as? String else { continue }
                cards[id] = ViewWorld.Card(
                    group: card["group"] as? String ?? "", text: card["text"] as? String ?? "",
                    hits: card["hits"] as? Int ?? -1)
            }
            return cards
        }
    }

    /// Registers, logs in and opens the realm.
    ///
    /// - Parameter waits: until everything is in it. Else it writes at once, before its subscription's data is there.
    func open(waits: Bool = true) async throws {
        let app = App(id: ViewWorld.app, configuration: AppConfiguration(baseURL: url))
        app.syncManager.errorHandler = { [undone] error, _ in undone.heard(error) }
        let user = try await FireUser.logIn(name, to: app)
        let query = ViewWorld.query(groups)
        var configuration = user.flexibleSyncConfiguration(initialSubscriptions: { subscriptions in
            subscriptions.append(QuerySubscription("Card", name: "cards", where: query))
        })
        configuration.dynamicSchema = ViewWorld.classes
        let realm = try await Realm(configuration: configuration, downloadBeforeOpen: waits ? .always : .never)
        ledger.withLock { $0.realm = realm }
        if !waits { try make(in: groups.sorted()[0], realm) }
    }

    /// Writes a new card.
    private func make(in group: String, _ realm: Realm) throws {
        let id = "\(name)/\(attempted)"
        try realm.write {
            _ = realm.dynamicCreate(
                "Card", value: ["_id": id, "group": group, "text": "written by \(name)", "hits": 0])
        }
        ledger.withLock {
            $0.attempted += 1
            $0.made.insert(id)
        }
    }

    /// Writes until told to stop.
    func work(_ random: SeededGenerator, pace: Duration) async {
        var random = random
        while !Task.isCancelled {
            do {
                let isOffline = Int.random(in: 0..<40, using: &random) == 0
                if isOffline { try session.suspend() }
                for _ in 0..<(isOffline ? Int.random(in: 3...15, using: &random) : 1) {
                    try step(&random)
                    try await Task.sleep(for: pace * Double.random(in: 0.5...1.5, using: &random))
                }
                if isOffline { try session.resume() }
            } catch is CancellationError {
                break
            } catch {
                note(error)
                try? await Task.sleep(for: .milliseconds(200))
            }
        }
        do { try session.resume() } catch { note(error) }
    }

    private func step(_ random: inout SeededGenerator) throws {
        let realm = try realm
        let die = Int.random(in: 0..<100, using: &random)
        if die < 6 { return try subscribe(&random) }
        let number = attempted
        let id = "\(name)/\(number)"
        let group = aGroup(&random)
        let target = ViewWorld.groups.sorted()[Int.random(in: 0..<ViewWorld.groups.count, using: &random)]
        let known = try cards.keys.sorted()
        let chosen = known.isEmpty ? nil : known[Int.random(in: 0..<known.count, using: &random)]
        let isNew = die < 50 || chosen == nil
        guard !isNew, let chosen else { return try make(in: group, realm) }
        try realm.write {
            // The card may have left the view since.
            guard let card = realm.dynamicObject(ofType: "Card", forPrimaryKey: chosen) else { return }
            if die < 75 { card["text"] = "rewritten \(id)" } else { card["group"] = target }
        }
        ledger.withLock { $0.attempted += 1 }
    }

    private func aGroup(_ random: inout SeededGenerator) -> String {
        let groups = groups.sorted()
        return groups[Int.random(in: 0..<groups.count, using: &random)]
    }

    /// Subscribes to other groups, and writes to one of them at once.
    private func subscribe(_ random: inout SeededGenerator) throws {
        let all = ViewWorld.groups.sorted()
        var groups = Set(all.filter { _ in Bool.random(using: &random) })
        if groups.isEmpty { groups = [all[0]] }
        let query = ViewWorld.query(groups)
        let subscriptions = try realm.subscriptions
        subscriptions.update({ subscriptions.first(named: "cards")?.updateQuery(to: query) }, onComplete: nil)
        ledger.withLock {
            $0.groups = groups
            $0.queryChanges += 1
        }
        if Bool.random(using: &random) { try make(in: aGroup(&random), realm) }
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
        ledger.withLock { $0.acknowledged = max($0.acknowledged, count) }
    }

    /// Returns when everything that is to be uploaded and downloaded is, the data of the newest subscriptions included.
    func settle() async throws {
        try await upload()
        try await realm.subscriptions.wait()
        try await session.wait(for: .download)
    }

    private func note(_ error: any Error) {
        ledger.withLock { if $0.errors.count < 20 { $0.errors.append("\(error)") } }
    }
}

/// What the server told clients that it has undone, by key: all of the app's clients have keys of their own.
final class UndoneWrites: Sendable {
    private let keys = Mutex<(all: Set<String>, outside: Set<String>)>(([], []))

    var all: Set<String> { keys.withLock { $0.all } }
    /// The keys of writes that were said to lie outside of the client's subscriptions. No client makes any such card:
    /// only its roles may forbid a write.
    var outside: Set<String> { keys.withLock { $0.outside } }

    func heard(_ error: any Error) {
        guard let error = error as? SyncError, let writes = error.compensatingWriteInfo else { return }
        keys.withLock { keys in
            for write in writes {
                guard let key = write.primaryKey.stringValue else { continue }
                keys.all.insert(key)
                if write.reason.contains("outside of the current query view") { keys.outside.insert(key) }
            }
        }
    }
}

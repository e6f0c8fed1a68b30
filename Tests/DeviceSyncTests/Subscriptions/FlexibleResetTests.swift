import Foundation
import RealmState
import SyncModel
import SyncProtocol
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// Client resets of flexible realms over a real socket.
@Suite(.hangGuard)
struct FlexibleResetTests {
    private let server = FlexibleServer()

    /// A realm that has everything of class Task, is not connected, and has an unsynced object and a pending set; the server's copy has an
    /// object more, and knows the realm no longer.
    private func offline(
        _ device: FlexibleDevice, _ mode: ClientResetMode, action: ErrorAction = .clientReset
    ) async throws -> Realm {
        let realm = try await device.open(mode)
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a", "title": "old"]) }
        try await realm.syncSession?.wait(for: .upload)
        _ = try await realm.suspended()
        await expectTrue(eventually { server.messages.last?.name == "unbind" })
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "b", "title": "offline"]) }
        let subscriptions = realm.subscriptions
        subscriptions.updateNow { subscriptions.append(QuerySubscription("Task", name: "late", where: "count == 7")) }
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "c", "count": 7]) }
        try server.create("other", title: "server")
        server.terminate(action: action)
        server.forgetMessages()
        return realm
    }

    private func started() async throws -> FlexibleDevice {
        try await server.start()
        return FlexibleDevice(server)
    }

    /// What was sent, by session: the kind of message, with the number of a set and the reason of a bind.
    private var wire: [String] {
        server.messages.compactMap { message in
            let session = message.session?.rawValue ?? 0
            switch message {
            case .bind(let bind):
                let reason = (try? bind.flexible())?.reason.rawValue ?? 9
                return "\(session) bind\(reason)\(bind.needsIdent ? " new" : "")"
            case .ident(let ident): return "\(session) ident \(ident.query?.version ?? 99)"
            case .query(let query): return "\(session) query \(query.query.version)"
            case .upload(let upload): return upload.entries.isEmpty ? nil : "\(session) upload"
            default: return "\(session) \(message.name)"
            }
        }
    }

    @Test func recoveryKeepsSubscriptionsAndThePendingSet() async throws {
        let device = try await started()
        let shown = Mutex<[Int]>([])
        let realm = try await offline(
            device,
            .recoverUnsyncedChanges(
                beforeReset: { before in shown.withLock { $0.append(before.titles().count) } },
                afterReset: { _, after in shown.withLock { $0.append(after.titles().count) } }))
        let core = realm.instance.core
        let subscriptions = realm.subscriptions
        async let waits: Void = subscriptions.wait()
        realm.syncSession?.resume()
        try await waits
        try await realm.syncSession?.wait(for: .upload)
        expectEqual(realm.titles().keys.sorted(), ["a", "b", "c", "other"])
        expectEqual(server.keys, ["a", "b", "c", "other"])
        expectEqual(shown.withLock { $0 }, [3, 4])
        expectTrue(subscriptions.map(\.name) == [nil, "late"] && subscriptions.state == .complete)
        expectTrue(subscriptions.version == 2 && core.subscriptions.sets.count == 1)
        expectTrue(device.errors.withLock { $0.isEmpty })
        await expectTrue(eventually { (try? core.file.pendingReset()) == .some(nil) })
        await expectTrue(eventually { server.outcomes.contains { $0.contains(#""result":"recovered""#) } })
        expectEqual(server.outcomes.last?.contains(#""flexible":true"#), true)

        let first = try #require(wire.first?.split(separator: " ").first.flatMap { Int($0) })
        let (fresh, reset) = (first + 1, first + 2)
        expectEqual(
            wire.filter { !$0.hasSuffix("mark") },
            [
                "\(first) bind0", "\(first) ident 1", "\(first) unbind",
                "\(fresh) bind1 new", "\(fresh) ident 0", "\(fresh) query 1", "\(fresh) unbind",
                "\(reset) bind1", "\(reset) ident 1", "\(reset) upload", "\(reset) query 2", "\(reset) upload",
            ])
        // The fresh copy asks for what was in force, not for what was pending.
        expectEqual(server.queries.first?.text, #"{"Task":"(TRUEPREDICATE)"}"#)
    }

    @Test func discardingDropsThePendingSet() async throws {
        let device = try await started()
        let realm = try await offline(device, .discardUnsyncedChanges())
        let subscriptions = realm.subscriptions
        let ended = Mutex<[String]>([])
        realm.instance.wait(for: 2) { error in ended.withLock { $0.append(error.map { "\($0)" } ?? "superseded") } }
        realm.syncSession?.resume()
        await expectTrue(eventually { ended.withLock { $0 } == ["superseded"] })
        expectEqual(realm.titles().keys.sorted(), ["a", "other"])
        expectTrue(subscriptions.version == 1 && subscriptions.state == .complete)
        // The realm goes on.
        try await subscriptions.update { subscriptions.append(QuerySubscription("Task", where: "count == 1")) }
        expectTrue(subscriptions.version == 2 && device.errors.withLock { $0.isEmpty })
        await expectTrue(eventually { server.outcomes.contains { $0.contains(#""result":"discarded""#) } })
    }

    @Test func recoveryThatIsNotAllowedDiscardsIfItMay() async throws {
        let device = try await started()
        let realm = try await offline(
            device, .recoverOrDiscardUnsyncedChanges(), action: .clientResetNoRecovery)
        realm.syncSession?.resume()
        await expectTrue(eventually { realm.titles().keys.sorted() == ["a", "other"] })
        expectEqual(realm.subscriptions.version, 1)
        try await realm.syncSession?.wait(for: .download)
        expectTrue(device.errors.withLock { $0.isEmpty })
    }

    @Test func aQueryThatIsRefusedNowIsLeftToTheApp() async throws {
        let device = try await started()
        let realm = try await offline(device, .recoverOrDiscardUnsyncedChanges())
        server.refuses = "no queryable field"
        realm.syncSession?.resume()
        await expectTrue(eventually { device.errors.withLock { $0.map(\.code) } == [.clientResetError] })
        let error = try #require(device.errors.withLock { $0.first })
        expectTrue(error.message.contains("no queryable field") && error.clientResetInfo() != nil)
        expectEqual(realm.titles().keys.sorted(), ["a", "b", "c"])
        expectTrue(realm.subscriptions.version == 2 && realm.syncSession?.state == .inactive)
    }

    @Test func theModeManualLeavesEverythingToTheApp() async throws {
        let device = try await started()
        let handled = Mutex<[String]>([])
        let realm = try await offline(
            device, .manual(errorHandler: { error, _ in handled.withLock { $0.append("\(error)") } }))
        realm.syncSession?.resume()
        await expectTrue(eventually { handled.withLock { $0.count } == 1 })
        expectTrue(realm.titles().keys.sorted() == ["a", "b", "c"] && device.errors.withLock { $0.isEmpty })
    }

    @Test func aResetThatTheProcessDiedInGoesOn() async throws {
        let device = try await started()
        var opened: Realm? = try await offline(device, .recoverUnsyncedChanges())
        server.sending = .never
        opened?.syncSession?.resume()
        // The fresh copy waits for its set.
        await expectTrue(eventually { !server.queries.isEmpty })
        try await device.relaunch(without: &opened)
        server.sending = .inBatches
        let realm = try await Realm(configuration: device.configuration())
        try await realm.subscriptions.wait()
        try await realm.syncSession?.wait(for: .upload)
        expectEqual(realm.titles().keys.sorted(), ["a", "b", "c", "other"])
        expectEqual(server.keys, ["a", "b", "c", "other"])
    }
}

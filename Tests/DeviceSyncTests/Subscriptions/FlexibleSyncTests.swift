import Changesets
import Dispatch
import Foundation
import RealmState
import SyncModel
import SyncProtocol
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// Flexible sync over a real socket.
@Suite(.hangGuard)
struct FlexibleSyncTests {
    private let server = FlexibleServer()

    private func started() async throws -> FlexibleDevice {
        try await server.start()
        return FlexibleDevice(server)
    }

    private func wire(_ messages: [ClientMessage]) -> [String] {
        messages.reduce(into: []) { names, message in
            switch message {
            case .query(let query): names.append("query \(query.query.version)")
            // Progress alone comes and goes with the timing, as does a second mark.
            case .upload(let upload): if !upload.entries.isEmpty { names.append("upload") }
            case .mark: if names.last != "mark" { names.append("mark") }
            case .ident(let ident): names.append("ident \(ident.query?.version ?? 99)")
            default: names.append(message.name)
            }
        }
    }

    @Test func subscriptionsBringWhatTheySelect() async throws {
        let device = try await started()
        _ = try await device.login()
        let realm = try await Realm(
            configuration: device.configuration(subscribing: ["count > 1"]), downloadBeforeOpen: .always)
        expectEqual(realm.subscriptions.state, .complete)
        expectEqual(wire(server.messages), ["bind", "ident 0", "mark", "upload", "query 1", "mark"])
        expectEqual(server.queries, [QuerySet(version: 1, text: #"{"Task":"(count > 1)"}"#)])

        // What others write comes if it is selected; what leaves goes.
        try server.create("a", title: "in", count: 2)
        try server.create("b", title: "out", count: 1)
        await expectTrue(eventually { realm.titles() == ["a": "in"] })
        try server.edit { try $0.set(FieldAddress(.init("Task", .string("a")), "count"), to: .int(0)) }
        await expectTrue(eventually { realm.titles().isEmpty })

        // Another set brings what the first did not select, and takes what it does not select any more.
        try server.edit { try $0.set(FieldAddress(.init("Task", .string("a")), "count"), to: .int(5)) }
        await expectTrue(eventually { realm.titles() == ["a": "in"] })
        let subscriptions = realm.subscriptions
        try await subscriptions.update { subscriptions.first?.updateQuery(to: "count == 1") }
        expectEqual(realm.titles(), ["b": "out"])
        expectTrue(subscriptions.version == 2 && subscriptions.state == .complete)
    }

    @Test func aWriteIsUploadedUnderTheSetThatItWasMadeUnder() async throws {
        let device = try await started()
        let realm = try await device.open().suspended()
        await expectTrue(eventually { server.messages.last?.name == "unbind" })
        server.forgetMessages()
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "before"]) }
        let subscriptions = realm.subscriptions
        subscriptions.updateNow { subscriptions.first?.updateQuery(to: "count == 0") }
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "between"]) }
        subscriptions.updateNow { subscriptions.first?.updateQuery(to: "count < 9") }
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "after"]) }
        realm.syncSession?.resume()
        try await subscriptions.wait()
        try await realm.syncSession?.wait(for: .upload)
        expectEqual(
            wire(server.messages).filter { $0 != "mark" },
            ["bind", "ident 1", "upload", "query 2", "upload", "query 3", "upload"])
        expectEqual(server.keys, ["before", "between", "after"])
    }

    @Test func setsMadeWithoutAConnectionDoNotPileUp() async throws {
        let device = try await started()
        let realm = try await device.open().suspended()
        await expectTrue(eventually { server.messages.last?.name == "unbind" })
        server.forgetMessages()
        let subscriptions = realm.subscriptions
        for number in 1...40 {
            subscriptions.updateNow { subscriptions.first?.updateQuery(to: "count < \(number)") }
            if number == 20 { try realm.write { realm.dynamicCreate("Task", value: ["_id": "between"]) } }
        }
        await expectTrue(eventually { realm.instance.core.subscriptions.sets.count <= 2 * SubscriptionSets.room })
        realm.syncSession?.resume()
        try await subscriptions.wait()
        try await realm.syncSession?.wait(for: .upload)
        let sent = wire(server.messages)
        expectTrue(sent.filter { $0.hasPrefix("query") }.count <= 2 * SubscriptionSets.room)
        // What was written under a set is uploaded under it.
        let upload = try #require(sent.firstIndex(of: "upload"))
        expectTrue(sent[..<upload].contains("query 21") && !sent[..<upload].contains("query 22"))
        expectTrue(server.keys == ["between"] && subscriptions.state == .complete)
    }

    @Test func aRefusedSetIsAnErrorAndTheOneBeforeStays() async throws {
        let device = try await started()
        let realm = try await device.open()
        server.refuses = "no queryable field \"count\""
        let subscriptions = realm.subscriptions
        let error = await #expect(throws: Realm.Error.self) {
            try await subscriptions.update { subscriptions.append(QuerySubscription("Task", where: "count == 1")) }
        }
        expectTrue(error?.code == .subscriptionFailed && error?.message == "no queryable field \"count\"")
        expectEqual(subscriptions.state, .error(Realm.Error.refusedSubscriptions("no queryable field \"count\"")))
        expectTrue(subscriptions.error != nil && subscriptions.count == 2)
        await expectTrue(
            eventually { device.errors.withLock { $0.map(\.code) } == [.invalidFlexibleSyncSubscriptions] })
        // The session goes on, and the app can put it right.
        try server.create("a", title: "still")
        await expectTrue(eventually { realm.titles() == ["a": "still"] })
        server.refuses = nil
        try await subscriptions.update { subscriptions.removeAll(unnamedOnly: true) }
        expectTrue(subscriptions.state == .complete && realm.titles().isEmpty)
    }

    @Test func aSupersededSetIsNoError() async throws {
        let device = try await started()
        let realm = try await device.open()
        server.sending = .never
        let subscriptions = realm.subscriptions
        let results = Mutex<[String]>([])
        func note(_ name: String) -> @Sendable ((any Error)?) -> Void {
            { error in results.withLock { $0.append(error.map { "\(name): \($0)" } ?? name) } }
        }
        subscriptions.update({ subscriptions.first?.updateQuery(to: "count == 1") }, onComplete: note("first"))
        await expectTrue(eventually { server.queries.count == 2 })
        expectTrue(results.withLock { $0 }.isEmpty && subscriptions.state == .pending)
        server.sending = .whole
        subscriptions.update({ subscriptions.first?.updateQuery(to: "count == 2") }, onComplete: note("second"))
        await expectTrue(eventually { results.withLock { $0 } == ["first", "second"] })
    }

    @Test func aWaitFailsWithItsSession() async throws {
        let device = try await started()
        let realm = try await device.open()
        server.sending = .never
        let subscriptions = realm.subscriptions
        let waiting = Task { try await subscriptions.update { subscriptions.removeAll() } }
        await expectTrue(eventually { server.queries.count == 2 })
        realm.syncSession?.suspend()
        await #expect(throws: SyncError.self) { try await waiting.value }
        // The set is still asked for.
        server.sending = .whole
        realm.syncSession?.resume()
        try await subscriptions.wait()
        expectEqual(subscriptions.state, .complete)
    }

    // MARK: Bootstraps

    private func threeTasks() throws {
        for key in ["a", "b", "c"] { try server.create(key, title: key) }
    }

    @Test func aBootstrapInBatchesComesInAtOnce() async throws {
        let device = try await started()
        let realm = try await device.open()
        let subscriptions = realm.subscriptions
        try await subscriptions.update { subscriptions.removeAll() }
        try threeTasks()
        let counts = Mutex<[Int]>([])
        let token = realm.dynamicObjects("Task").observe(on: DispatchQueue(label: "observer")) { change in
            switch change {
            case .initial(let tasks), .update(let tasks, _, _, _): counts.withLock { $0.append(tasks.count) }
            case .error: break
            }
        }
        server.sending = .inBatches
        try await subscriptions.update { subscriptions.append(QuerySubscription("Task")) }
        expectEqual(realm.titles(), ["a": "a", "b": "b", "c": "c"])
        await expectTrue(eventually { counts.withLock { $0.last } == 3 })
        expectEqual(counts.withLock { $0 }, [0, 3])
        try expectTrue(realm.instance.core.file.pendingBootstrap() == nil)
        token.invalidate()
    }

    @Test func aBootstrapThatIsCutOffLeavesNothing() async throws {
        let device = try await started()
        var realm: Realm? = try await device.open()
        try await emptySet(realm)
        try threeTasks()
        server.sending = .withoutTheLast
        let file = try askForAll(realm)
        try await expectTrue(eventually { try file() == PendingBootstrap(version: 3, batches: 2) })
        expectEqual(realm?.titles().isEmpty, true)

        // The process dies; meanwhile an object is gone that the half had brought.
        try await device.relaunch(without: &realm)
        try server.edit { try $0.deleteObject(.init("Task", .string("a"))) }
        server.sending = .inBatches
        server.forgetMessages()
        let later = try await Realm(configuration: device.configuration())
        try await later.subscriptions.wait()
        expectEqual(later.titles(), ["b": "b", "c": "c"])
        expectEqual(wire(server.messages).prefix(4), ["bind", "ident 2", "mark", "query 3"])
    }

    private func emptySet(_ realm: Realm?) async throws {
        let subscriptions = try #require(realm).subscriptions
        try await subscriptions.update { subscriptions.removeAll() }
    }

    /// Subscribes to every task.
    /// - Returns: what is stored of bootstraps.
    private func askForAll(_ realm: Realm?) throws -> () throws -> PendingBootstrap? {
        let realm = try #require(realm)
        let subscriptions = realm.subscriptions
        subscriptions.updateNow { subscriptions.append(QuerySubscription("Task")) }
        return { [weak core = realm.instance.core] in try core?.file.pendingBootstrap() }
    }

    @Test func aLostConnectionBeginsTheBootstrapAnew() async throws {
        let device = try await started()
        let realm = try await device.open()
        let subscriptions = realm.subscriptions
        try await subscriptions.update { subscriptions.removeAll() }
        try threeTasks()
        server.sending = .withoutTheLast
        subscriptions.updateNow { subscriptions.append(QuerySubscription("Task")) }
        let file = realm.instance.core.file
        try await expectTrue(eventually { try file.pendingBootstrap()?.batches == 2 })
        try server.edit { try $0.deleteObject(.init("Task", .string("a"))) }
        server.sending = .inBatches
        server.dropConnections()
        try await subscriptions.wait()
        expectEqual(realm.titles(), ["b": "b", "c": "c"])
    }

    @Test func aBootstrapStoredWholeSurvivesTheProcess() async throws {
        let device = try await started()
        var opened: Realm? = try await device.open().suspended()
        // An UNBIND that is still on its way would have the server send what comes next, and take the client to have it.
        await expectTrue(eventually { !server.hasSessions })
        // So that there is a version of the server's that the bootstrap can be of.
        try server.create("c", title: "server")
        try storeBootstrap(try #require(opened))
        try await device.relaunch(without: &opened)
        server.forgetMessages()
        let realm = try await Realm(configuration: device.configuration())
        await expectTrue(eventually { realm.titles().count == 5 })
        expectEqual(realm.titles().keys.sorted(), ["b", "c", "own", "sa", "sb"])
        try expectTrue(realm.instance.core.file.pendingBootstrap() == nil)
        // The server hears that the set is here.
        await expectTrue(eventually { wire(server.messages).prefix(2) == ["bind", "ident 2"] })
        await expectTrue(eventually { realm.subscriptions.state == .complete })
    }

    /// Stores a bootstrap as if the process had died between the last batch and its integration.
    private func storeBootstrap(_ realm: Realm) throws {
        let subscriptions = realm.subscriptions
        subscriptions.updateNow { subscriptions.append(QuerySubscription("Task", name: "again")) }
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "b", "count": 8]) }
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "own"]) }
        let core = realm.instance.core
        for (index, key) in ["a", "b"].enumerated() {
            var state = core.snapshot.state
            let (_, bytes) = try state.record {
                let address = ObjectAddress("Task", .string(ByteString("s\(key)")))
                try $0.createObject(address)
                try $0.set(FieldAddress(address, "title"), to: .string(ByteString(key)))
            }
            var progress = core.sync.progress
            progress.download.serverVersion = ServerVersion(progress.download.serverVersion.rawValue + 1)
            progress.latest.version = progress.download.serverVersion
            let entry = SyncModel.HistoryEntry(
                serverVersion: progress.download.serverVersion, clientVersion: progress.upload.clientVersion,
                originFile: 1, timestamp: 1, changeset: bytes)
            let bootstrap = PendingBootstrap(version: 2, batches: index + 1, progress: index == 1 ? progress : nil)
            try core.file.write { try BootstrapRows($0).store([entry], of: bootstrap) }
        }
    }

    @Test func theSetInForceMayComeAgain() async throws {
        let device = try await started()
        let realm = try await device.open()
        try threeTasks()
        await expectTrue(eventually { realm.titles().count == 3 })
        server.hides = ["b"]
        server.sending = .inBatches
        server.sendSetsAgain()
        await expectTrue(eventually { realm.titles().keys.sorted() == ["a", "c"] })
        expectTrue(realm.subscriptions.state == .complete && device.errors.withLock { $0.isEmpty })
    }

    // MARK: Writes

    @Test func anUndoneWriteIsToldWhenItIsUndone() async throws {
        let device = try await started()
        _ = try await device.login()
        let realm = try await Realm(
            configuration: device.configuration(subscribing: ["count == 1"]), downloadBeforeOpen: .always)
        server.withholdsUndoing = true
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "outside", "count": 2]) }
        let core = realm.instance.core
        let before = core.snapshot.version
        await expectTrue(
            eventually { server.messages.last.map { if case .upload = $0 { true } else { false } } == true })
        // The error alone changes nothing. What is asked for after the upload is answered after it.
        try await realm.syncSession?.wait(for: .download)
        expectTrue(
            device.errors.withLock { $0.isEmpty } && realm.titles().count == 1 && core.snapshot.version == before)
        server.withholdsUndoing = false
        await expectTrue(eventually { device.errors.withLock { $0.count } == 1 })
        expectTrue(realm.titles().isEmpty)
        let error = try #require(device.errors.withLock { $0.first })
        expectTrue(error.code == .writeRejected && !error.isFatal)
        let info = try #require(error.compensatingWriteInfo)
        expectTrue(info.map(\.objectType) == ["Task"] && info.map(\.reason) == ["outside of the view"])
        expectEqual(info.first?.primaryKey.stringValue, "outside")
        // The session goes on.
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "inside", "count": 1]) }
        try await realm.syncSession?.wait(for: .upload)
        expectEqual(server.keys, ["inside"])
    }

    @Test func asymmetricObjectsAreUploadedAndNotKept() async throws {
        let device = try await started()
        _ = try await device.login()
        var schema = Device.schema
        schema.append(
            ObjectSchemaDescription(
                "Event", primaryKey: PropertyDescription("_id", .string),
                properties: [PropertyDescription("what", .string)], isAsymmetric: true))
        let realm = try await Realm(configuration: device.configuration(subscribing: ["TRUEPREDICATE"], schema: schema))
        try realm.write { realm.dynamicCreate("Event", value: ["_id": "e", "what": "seen"]) }
        expectEqual(realm.instance.core.snapshot.state.objectCount(of: "Event"), 0)
        try await realm.syncSession?.wait(for: .upload)
        let uploaded = server.messages.contains { message in
            guard case .upload(let upload) = message else { return false }
            return upload.entries.contains { String(decoding: $0.changeset, as: UTF8.self).contains("seen") }
        }
        expectTrue(uploaded)
    }

    @Test func onlyFlexibleRealmsHaveClassesThatAreOnlyUploaded() async throws {
        let device = try await started()
        let user = try await device.login()
        let event = ObjectSchemaDescription(
            "Event", primaryKey: PropertyDescription("_id", .string),
            properties: [PropertyDescription("what", .string)], isAsymmetric: true)
        func refusal(_ schema: [ObjectSchemaDescription], _ configuration: Realm.Configuration) async -> Realm.Error? {
            var configuration = configuration
            configuration.dynamicSchema = schema
            return await #expect(throws: Realm.Error.self) { _ = try await Realm(configuration: configuration) }
        }
        let local = Realm.Configuration(inMemoryIdentifier: "asymmetric-\(UUID())")
        await expectEqual(refusal([event], local)?.code, .schemaMismatch)
        await expectEqual(
            refusal([event], user.configuration(partitionValue: "p"))?.message.contains("asymmetric"), true)
        // The objects of asymmetric classes may link to others, and nothing links to them.
        let flexible = user.flexibleSyncConfiguration()
        var linked = Device.schema
        linked[0].properties.append(PropertyDescription("event", .object("Event"), isOptional: true))
        await expectEqual(refusal(linked + [event], flexible)?.message.contains("not kept"), true)
        // No stock client can have a property that links to objects of any class.
        linked = Device.schema
        linked[0].properties.append(PropertyDescription("anything", .object(""), isOptional: true))
        await expectTrue(refusal(linked, flexible)?.message.contains("declare it as .any") == true)
    }

    // MARK: Opening

    @Test func aDownloadingOpeningWaitsForInitialSubscriptions() async throws {
        let device = try await started()
        let first = try await device.open()
        try first.write { first.dynamicCreate("Task", value: ["_id": "a", "title": "t"]) }
        try await first.syncSession?.wait(for: .upload)
        let other = FlexibleDevice(server)
        _ = try await other.app.login(credentials: .emailPassword(email: "second@example.test", password: "secret"))
        let realm = try await Realm(
            configuration: other.configuration(subscribing: ["title == 't'"]), downloadBeforeOpen: .always)
        expectEqual(realm.titles(), ["a": "t"])
    }

    @Test func aCollectionIsSubscribedToAndLeft() async throws {
        let device = try await started()
        let first = try await device.open()
        try first.write { first.dynamicCreate("Task", value: ["_id": "a", "title": "t"]) }
        try await first.syncSession?.wait(for: .upload)
        let other = FlexibleDevice(server)
        _ = try await other.app.login(credentials: .emailPassword(email: "second@example.test", password: "secret"))
        let realm = try await Realm(configuration: other.configuration())
        let tasks = try await realm.dynamicObjects("Task").filter("title == 't'").subscribe(name: "mine")
        expectEqual(tasks.count, 1)
        try await tasks.subscribe(name: "mine", waitForSync: .always, timeout: 60)
        tasks.unsubscribe()
        try await realm.subscriptions.wait()
        expectTrue(tasks.count == 0 && realm.subscriptions.count == 0)
    }

    @Test func aCopyForTheSameModeBeginsWithWhatTheOriginalHas() async throws {
        let device = try await started()
        let realm = try await device.open()
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a", "title": "t"]) }
        try await realm.syncSession?.wait(for: .upload)
        try await realm.syncSession?.wait(for: .download)
        let folder = Folder()
        var configuration = try device.configuration()
        configuration.fileURL = folder.file
        try realm.writeCopy(configuration: configuration)
        let copy = try await Realm(configuration: configuration)
        expectEqual(copy.titles(), ["a": "t"])
        expectTrue(copy.subscriptions.map(\.queryString) == ["TRUEPREDICATE"] && copy.subscriptions.state == .complete)
        try copy.write { copy.dynamicCreate("Task", value: ["_id": "b"]) }
        await expectTrue(eventually { realm.titles().count == 2 })
    }
}

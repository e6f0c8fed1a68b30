import Foundation
import SyncModel
import TestSupport
import Testing

@testable import DeviceSync

/// Subscriptions as an app sees them, without a server.
@Suite(.hangGuard)
struct SubscriptionAPITests {
    private let device = FlexibleDevice()

    private func open() async throws -> Realm {
        _ = try await device.login()
        return try await Realm(configuration: device.configuration())
    }

    @Test func anUpdateMakesOneNewSet() async throws {
        let realm = try await open()
        let subscriptions = realm.subscriptions
        expectTrue(subscriptions.version == 0 && subscriptions.count == 0 && subscriptions.state == .pending)
        subscriptions.updateNow {
            subscriptions.append(
                QuerySubscription("Task", name: "mine", where: "title == %@", "x"), QuerySubscription("Task"))
            expectEqual(subscriptions.count, 2)
        }
        expectTrue(subscriptions.version == 1 && subscriptions.state == .pending && subscriptions.error == nil)
        expectEqual(subscriptions.map(\.name), ["mine", nil])
        expectEqual(subscriptions.map(\.queryString), [#"title == "x""#, "TRUEPREDICATE"])
        expectTrue(subscriptions.first?.name == "mine" && subscriptions.last?.objectClassName == "Task")
        expectTrue(subscriptions[1]?.name == nil && subscriptions[2] == nil && subscriptions[-1] == nil)
        expectTrue(subscriptions.first(named: "mine") != nil && subscriptions.first(named: "other") == nil)
        expectEqual(subscriptions.first(ofType: "Task", where: "title == 'x'")?.name, "mine")
        expectTrue(subscriptions.first(ofType: "Task", where: "title == 'y'") == nil)
        // Another handle sees the same.
        expectEqual(realm.subscriptions.count, 2)
    }

    @Test func theSameQueryWithoutANameIsThereOnce() async throws {
        let subscriptions = try await open().subscriptions
        subscriptions.updateNow {
            subscriptions.append(QuerySubscription("Task", where: "count > 3"))
            subscriptions.append(QuerySubscription("Task", where: "count  >  %d", 3))
            subscriptions.append(QuerySubscription("Task", name: "named", where: "count > 3"))
        }
        expectEqual(subscriptions.map(\.name), [nil, "named"])
    }

    @Test func queriesChangeAndSubscriptionsGo() async throws {
        let subscriptions = try await open().subscriptions
        subscriptions.updateNow {
            subscriptions.append(QuerySubscription("Task", name: "a"), QuerySubscription("Task", where: "count == 1"))
            subscriptions.append(QuerySubscription("Task", name: "b", where: "count == 2"))
            subscriptions.append(QuerySubscription("Task", name: "c", where: "count == 3"))
        }
        let before = try #require(subscriptions.first(named: "a"))
        subscriptions.updateNow {
            before.updateQuery(to: "count == %d", 9)
            subscriptions.first(named: "b")?.updateQuery(toType: DynamicObject.self)
            subscriptions.remove(ofType: "Task", where: "count == 1")
            subscriptions.remove(named: "c")
            subscriptions.remove(named: "nobody")
        }
        expectEqual(subscriptions.map(\.queryString), ["count == 9", "TRUEPREDICATE"])
        let after = try #require(subscriptions.first(named: "a"))
        expectTrue(after.createdAt == before.createdAt && after.updatedAt > before.updatedAt)
        expectEqual(before.queryString, "TRUEPREDICATE")
        subscriptions.updateNow { subscriptions.append(QuerySubscription("Task", where: "count == 5")) }
        subscriptions.updateNow { subscriptions.removeAll(unnamedOnly: true) }
        expectEqual(subscriptions.map(\.name), ["a", "b"])
        subscriptions.updateNow { if let first = subscriptions.first { subscriptions.remove(first) } }
        expectEqual(subscriptions.map(\.name), ["b"])
        subscriptions.updateNow { subscriptions.removeAll(ofType: "Other") }
        expectEqual(subscriptions.count, 1)
        subscriptions.updateNow { subscriptions.removeAll(ofType: "Task") }
        expectTrue(subscriptions.count == 0 && subscriptions.version == 7)
    }

    @Test func subscriptionsAreInTheFile() async throws {
        let realm = try await open()
        let subscriptions = realm.subscriptions
        subscriptions.updateNow { subscriptions.append(QuerySubscription("Task", name: "mine", where: "count == 1")) }
        let stored = try #require(subscriptions.first?.stored)
        let url = try #require(realm.configuration.fileURL)
        expectEqual(url.lastPathComponent, "flx_sync_default.realm")
        let file = try RealmFile(url: url)
        let sets = try file.load().subscriptions
        expectEqual(sets, realm.instance.core.subscriptions)
        expectTrue(sets.latest.subscriptions == [stored] && sets.sets.count == 2)
    }

    @Test func initialSubscriptionsRunOnce() async throws {
        _ = try await device.login()
        var realm: Realm? = try await Realm(configuration: device.configuration(subscribing: ["count == 1"]))
        expectTrue(realm?.subscriptions.map(\.queryString) == ["count == 1"] && realm?.subscriptions.version == 1)
        realm = try await Realm(configuration: device.configuration(subscribing: ["count == 2"]))
        expectEqual(realm?.subscriptions.version, 1)
        try await device.relaunch(without: &realm)
        realm = try await Realm(configuration: device.configuration(subscribing: ["count == 2"]))
        expectEqual(realm?.subscriptions.version, 1)
    }

    @Test func initialSubscriptionsRunOnceAProcessIfTheyAreTo() async throws {
        _ = try await device.login()
        var realm: Realm? = try await Realm(configuration: device.configuration(subscribing: ["count == 1"]))
        expectEqual(realm?.subscriptions.version, 1)
        try await device.relaunch(without: &realm)
        for query in ["count == 2", "count == 3"] {
            let later = try await Realm(configuration: device.configuration(subscribing: [query], rerunOnOpen: true))
            expectEqual(later.subscriptions.map(\.queryString), ["count == 1", "count == 2"])
            expectEqual(later.subscriptions.version, 2)
        }
    }

    @Test func aConfigurationSaysThatItIsFlexible() async throws {
        _ = try await device.login()
        let sync = try #require(
            try device.configuration(subscribing: ["count == 1"], rerunOnOpen: true).syncConfiguration)
        expectTrue(sync.partitionValue == nil && sync.initialSubscriptions?.rerunOnOpen == true)
        expectEqual(sync.clientResetMode.mode, .recover)
        let user = try #require(device.app.currentUser)
        expectTrue(user.flexibleSyncConfiguration().syncConfiguration?.initialSubscriptions == nil)
        expectTrue(user.flexibleSyncConfiguration() != user.configuration(partitionValue: AnyBSON.null))
    }

    @Test func aFileIsOfOneMode() async throws {
        let realm = try await open()
        let user = try #require(device.app.currentUser)
        var configuration = user.configuration(partitionValue: "p")
        configuration.fileURL = realm.configuration.fileURL
        await #expect(throws: Realm.Error.self) { try await Realm(configuration: configuration) }
    }

    @Test func copiesAreOfTheSameModeOrLocal() async throws {
        let realm = try await open()
        let user = try #require(device.app.currentUser)
        let folder = Folder()
        var partition = user.configuration(partitionValue: "p")
        partition.fileURL = folder.file
        let refused = #expect(throws: Realm.Error.self) { try realm.writeCopy(configuration: partition) }
        expectEqual(refused?.code, .invalidInput)
        let local = try await Realm(configuration: Folder().configuration)
        var flexible = user.flexibleSyncConfiguration()
        flexible.fileURL = folder.file
        #expect(throws: Realm.Error.self) { try local.writeCopy(configuration: flexible) }
        expectTrue(!FileManager.default.fileExists(atPath: folder.file.path))
        try realm.writeCopy(configuration: folder.configuration)
        expectTrue(FileManager.default.fileExists(atPath: folder.file.path))
    }

    @Test func collectionsAreSubscribedToByTheirConditions() async throws {
        let realm = try await open()
        let tasks = realm.dynamicObjects("Task")
        try await tasks.subscribe(waitForSync: .never)
        let some = tasks.filter("count > %d", 3).filter("done == true").sorted(byKeyPath: "count")
        try await some.subscribe(name: "some", waitForSync: .never)
        expectEqual(realm.subscriptions.map(\.queryString), ["TRUEPREDICATE", "count > 3 and done == true"])
        expectEqual(realm.subscriptions.version, 2)
        // The same once more changes nothing; the name with another query gets that.
        try await tasks.subscribe(waitForSync: .never)
        try await some.subscribe(name: "some", waitForSync: .never)
        expectEqual(realm.subscriptions.version, 2)
        try await tasks.filter("count == 1").subscribe(name: "some", waitForSync: .never)
        expectEqual(realm.subscriptions.map(\.queryString), ["TRUEPREDICATE", "count == 1"])
        tasks.unsubscribe()
        tasks.unsubscribe()
        expectEqual(realm.subscriptions.map(\.name), ["some"])
        expectEqual(realm.subscriptions.version, 4)
    }

    @Test func aSubscriptionWhoseTimeIsOverStays() async throws {
        let realm = try await open()
        let error = await #expect(throws: POSIXError.self) {
            try await realm.dynamicObjects("Task").subscribe(timeout: 0.05)
        }
        expectEqual(error?.code, .ETIMEDOUT)
        expectEqual(realm.subscriptions.count, 1)
    }

    @Test func filtersMeetQueries() async throws {
        let realm = try await open()
        let subscriptions = realm.subscriptions
        subscriptions.updateNow { subscriptions.append(QuerySubscription("Task")) }
        try realm.write {
            for (key, count) in [("a", 1), ("b", 2), ("c", 3)] {
                realm.dynamicCreate("Task", value: ["_id": key, "count": count, "tags": ["t\(count)"]])
            }
            realm.dynamicObject(ofType: "Task", forPrimaryKey: "a")?["best"] =
                realm.dynamicObject(ofType: "Task", forPrimaryKey: "c")
        }
        func keys(_ results: Results<DynamicObject>) -> [String] { results.compactMap { $0.primaryKey as? String } }
        let tasks = realm.dynamicObjects("Task")
        expectEqual(keys(tasks.filter("count >= %d", 2)), ["b", "c"])
        expectEqual(keys(tasks.filter("count >= 2").filter("'t3' IN tags")), ["c"])
        // Links are followed, both ways.
        expectEqual(keys(tasks.filter("best.count == 3")), ["a"])
        expectEqual(keys(tasks.filter("@links.Task.best.count == 1")), ["c"])
        let many = tasks.filter("count > 2").where { $0["done"] as? Bool == false }
        expectEqual(keys(many), ["c"])
        try realm.write { realm.dynamicObject(ofType: "Task", forPrimaryKey: "a")?["count"] = 7 }
        expectEqual(keys(many), ["a", "c"])
    }
}

/// Mistakes of the program, which trap and say which rule they break.
@Suite(.hangGuard)
struct SubscriptionTrapTests {
    private static func realm() async throws -> Realm {
        let device = FlexibleDevice()
        _ = try await device.login()
        return try await Realm(configuration: device.configuration())
    }

    private func says(_ text: String, _ result: ExitTest.Result?) -> Bool {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).contains(text)
    }

    @Test func aWriteOutsideOfAllSubscriptions() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try await Self.realm()
            try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        }
        expectTrue(
            says(
                "noSubscriptionForWrite: Cannot write to class Task when no flexible sync subscription has been created.",
                result))
    }

    @Test func aChangeOutsideOfAnUpdate() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let subscriptions = try await Self.realm().subscriptions
            subscriptions.append(QuerySubscription("Task"))
        }
        expectTrue(says("only inside of an update", result))
    }

    @Test func aNestedUpdate() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let subscriptions = try await Self.realm().subscriptions
            let update: () -> Void = { subscriptions.update {} }
            subscriptions.updateNow(update)
        }
        expectTrue(says("an update of subscriptions is under way already", result))
    }

    @Test func aNameThatIsThereAlready() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let subscriptions = try await Self.realm().subscriptions
            let update: () -> Void = {
                subscriptions.append(QuerySubscription("Task", name: "a"), QuerySubscription("Task", name: "a"))
            }
            subscriptions.updateNow(update)
        }
        expectTrue(says("a subscription named 'a' already exists", result))
    }

    @Test func aQueryThatDoesNotFitTheClass() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let subscriptions = try await Self.realm().subscriptions
            let update: () -> Void = { subscriptions.append(QuerySubscription("Task", where: "colour == 'red'")) }
            subscriptions.updateNow(update)
        }
        expectTrue(says("colour", result))
    }

    @Test func aSubscriptionToEmbeddedObjects() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let subscriptions = try await Self.realm().subscriptions
            let update: () -> Void = { subscriptions.append(QuerySubscription("Address")) }
            subscriptions.updateNow(update)
        }
        expectTrue(says("cannot be subscribed to: it is embedded", result))
    }

    @Test func theSubscriptionsOfAPartitionRealm() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let device = FlexibleDevice()
            let user = try await device.login()
            _ = try await Realm(configuration: user.configuration(partitionValue: "p")).subscriptions
        }
        expectTrue(says("only a realm opened with flexibleSyncConfiguration has subscriptions", result))
    }
}

import Foundation
import TestSupport
import Testing

@testable import DeviceSync

private final class OldTask: TestObject, ObjectKeyIdentifiable {
    override class func primaryKey() -> String? { "key" }
    override class func indexedProperties() -> [String] { ["title"] }
    override class func ignoredProperties() -> [String] { ["scratch"] }

    @Persisted var key = 0
    @Persisted var title = ""
    @Persisted var due: Date?
    @Persisted var scratch = ""
}

/// Names that programs for Realm Swift use everywhere.
@Suite(.hangGuard)
struct FamiliarNamesTests {
    private let folder = Folder()

    private func tasks() throws -> Realm {
        try Realm(configuration: Realm.Configuration(fileURL: folder.file, objectTypes: [OldTask.self]))
    }

    @Test func classesNameTheirKeyAndIndexesByOverride() throws {
        let realm = try tasks()
        try realm.write { realm.add(OldTask(value: ["key": 7, "title": "a", "scratch": "x"])) }
        expectEqual(realm.object(ofType: OldTask.self, forPrimaryKey: 7)?.title, "a")
        let schema = OldTask().objectSchema
        expectEqual(schema.primaryKeyProperty?.name, "key")
        expectEqual(schema.properties.map(\.name), ["key", "title", "due"])
        expectEqual(schema.properties.filter(\.isIndexed).map(\.name), ["key", "title"])
        expectEqual(OldTask.className(), "OldTask")
    }

    @Test func objectsAreIdentifiedByWhatTheyAre() throws {
        let realm = try tasks()
        let task = OldTask(value: ["key": 1])
        try realm.write { realm.add([task, OldTask(value: ["key": 2])]) }
        let again = try #require(realm.object(ofType: OldTask.self, forPrimaryKey: 1))
        expectTrue(again !== task && again.id == task.id && task.freeze().id == task.id)
        expectEqual(Set(realm.objects(OldTask.self).map(\.id)).count, 2)
    }

    @Test func optionalsAreInRanges() throws {
        let realm = try tasks()
        let day = Date(timeIntervalSince1970: 86_400)
        try realm.write {
            realm.add([OldTask(value: ["key": 1, "due": day]), OldTask(value: ["key": 2])])
        }
        let tasks = realm.objects(OldTask.self)
        expectEqual(tasks.where { $0.due.contains(day...day + 1) }.map(\.key), [1])
        expectEqual(tasks.where { $0.due.contains(day - 1..<day) }.count, 0)
    }

    @Test func entriesOfAMapArePairs() {
        let map: Map<String, Int> = ["a": 1, "b": 2]
        var pairs: [String] = []
        for (key, value) in map.asKeyValueSequence() { pairs.append("\(key)\(value)") }
        for (key, value) in map.asKeyValueSequence { pairs.append("\(key)\(value)") }
        expectEqual(pairs, ["a1", "b2", "a1", "b2"])
    }

    @Test func configurationsAreSetBeforeAnAppIsMade() {
        let configuration = AppConfiguration()
        configuration.baseURL = "http://localhost:1/"
        configuration.defaultRequestTimeoutMS = 500
        configuration.enableSessionMultiplexing = false
        let timers = SyncTimeoutOptions()
        timers.connectTimeout = 5
        timers.pingKeepalivePeriod = 90_000
        configuration.syncTimeouts = timers
        let directory = folder.file.deletingLastPathComponent().appendingPathComponent("app")
        let app = Device.launch(directory, configuration)
        configuration.defaultRequestTimeoutMS = 7
        expectTrue(app.baseURL == "http://localhost:1" && app.configuration.defaultRequestTimeoutMS == 500)
        expectTrue(!app.configuration.enableSessionMultiplexing)
        expectTrue(app.syncManager.timeoutOptions?.connectTimeout == 1000 && timers.pingKeepalivePeriod == 90_000)
        let named = AppConfiguration(baseURL: "http://localhost:1", localAppName: "Tasks", localAppVersion: "1")
        expectTrue(named.localAppName == "Tasks" && named.localAppVersion == "1")
    }

    @Test func profilesSayWhatServersSay() {
        let profile = UserProfile(metadata: ["birthday": "1.1.", "gender": "x", "min_age": "18", "max_age": "20"])
        expectTrue(profile.birthday == "1.1." && profile.gender == "x")
        expectTrue(profile.minAge == "18" && profile.maxAge == "20" && profile.name == nil)
    }

    @Test func queriesAndClassesAreHandedOn() {
        let query: QuerySubscription<OldTask>.QueryFunction = { $0.key > 3 }
        _ = QuerySubscription<OldTask>(name: "some", query: query)
        func name(_ type: any RealmFetchable.Type) -> String { type.className() }
        expectTrue(name(OldTask.self) == "OldTask" && Street.isEmbedded())
        expectEqual(Realm.Error.callFailed.code, .fail)
    }

    @Test func errorsAreCaughtByName() {
        expectTrue(SyncError.clientResetError ~= SyncError(.clientResetError, ""))
        expectTrue(!(SyncError.clientUserError ~= SyncError(.clientResetError, "")))
        do {
            throw Realm.Error(.outOfDiskSpace, "full")
        } catch Realm.Error.outOfDiskSpace {
        } catch {
            expectTrue(false, "\(error)")
        }
        expectEqual(AppError.Code(serverName: "UserNotFound"), .userNotFound)
        expectEqual(AppError.Code(serverName: "APIKeyAlreadyExists"), .apiKeyAlreadyExists)
    }
}

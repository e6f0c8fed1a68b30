import Dispatch
import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// A live realm belongs to the thread, queue or actor that opened it.
@Suite(.hangGuard, .serialized)
struct ConfinementTests {
    /// An actor that opens a realm of its own.
    actor Keeper {
        func open(_ configuration: Realm.Configuration) throws -> Realm { try Realm(configuration: configuration) }

        func download(_ configuration: Realm.Configuration) async throws -> Realm {
            try await Realm(configuration: configuration, actor: self)
        }

        func count(_ realm: Realm) async throws -> Int {
            try realm.write { _ = realm.create(City.self, value: ["_id": UUID().uuidString]) }
            try await realm.asyncWrite { _ = realm.create(City.self, value: ["_id": UUID().uuidString]) }
            await realm.asyncRefresh()
            return realm.objects(City.self).count
        }
    }

    enum Mistake: String, CaseIterable, Codable, Sendable {
        case main, queue, thread, actor, actorAsync, callback, results, object, write, observed, asyncWrite
        case writeAsync, unmanaged, deleted

        var message: String {
            switch self {
            case .main: "was opened on the main thread or queue"
            case .queue, .object, .write, .asyncWrite, .callback: "was opened on the queue 'test.mine'"
            case .thread, .results: "was opened on another thread"
            case .actor, .actorAsync: "expected 'DeviceSyncTests.ConfinementTests.Keeper' executor"
            case .observed: "was opened on the queue 'test.other'"
            case .writeAsync: "writeAsync needs a realm that was opened on the main thread or with a queue"
            case .unmanaged: "this one is unmanaged"
            case .deleted: "what was deleted cannot be handed over"
            }
        }

        func make() async throws {
            let folder = Folder()
            let configuration = folder.modelConfiguration
            let (mine, strange) = (DispatchQueue(label: "test.mine"), DispatchQueue(label: "test.other"))
            let free = try await Realm(configuration: configuration)
            try await free.asyncWrite { _ = free.create(City.self, value: ["_id": "Graz"]) }
            let ofQueue = try Realm(configuration: configuration, queue: mine)
            switch self {
            case .main: _ = try await MainActor.run { try Realm(configuration: configuration) }.isEmpty
            case .queue: _ = strange.sync { ofQueue.isEmpty }
            case .thread: _ = try await onThread { try Realm(configuration: configuration) }.isEmpty
            case .actor: _ = try await Keeper().open(configuration).isEmpty
            case .actorAsync: _ = try await Keeper().download(configuration).isEmpty
            case .callback:
                let realm = try await withCheckedThrowingContinuation { continuation in
                    Realm.asyncOpen(configuration: configuration, callbackQueue: mine) { continuation.resume(with: $0) }
                }
                _ = realm.isEmpty
            case .results:
                _ = try await onThread { try Realm(configuration: configuration).objects(City.self) }.count
            case .object:
                let city = mine.sync { ofQueue.dynamicObject(ofType: "City", forPrimaryKey: "Graz") }
                _ = city?["people"]
            case .write: try ofQueue.write {}
            case .observed:
                let realm = await withCheckedContinuation { continuation in
                    mine.sync {
                        let token = ofQueue.observe(on: strange) { _, realm in continuation.resume(returning: realm) }
                        try? ofQueue.write { _ = ofQueue.create(City.self, value: ["_id": "Linz"]) }
                        strange.sync {}
                        token.invalidate()
                    }
                }
                _ = realm.isEmpty
            case .asyncWrite: try await ofQueue.asyncWrite {}
            case .writeAsync: free.writeAsync {}
            case .unmanaged: _ = ThreadSafeReference(to: City())
            case .deleted:
                let city = try #require(free.object(ofType: City.self, forPrimaryKey: "Graz"))
                try free.write { free.delete(city) }
                _ = ThreadSafeReference(to: city)
            }
        }
    }

    @Test(arguments: Mistake.allCases)
    func aMistakeStopsTheProgramAndNamesTheRule(mistake: Mistake) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [mistake = mistake as Mistake] in
            try await mistake.make()
            exit(0)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        expectTrue(text.contains(mistake.message), "\(text.prefix(600))")
    }

    @Test func anActorUsesTheRealmThatItOpened() async throws {
        let folder = Folder()
        let keeper = Keeper()
        try await expectEqual(keeper.count(keeper.open(folder.modelConfiguration)), 2)
        try await expectEqual(keeper.count(keeper.download(folder.modelConfiguration)), 4)
    }

    @MainActor
    @Test func theMainActorAndTheMainQueueAreOne() async throws {
        let folder = Folder()
        let realm = try await Realm(configuration: folder.modelConfiguration)
        try await realm.asyncWrite { _ = realm.create(City.self, value: ["_id": "Graz"]) }
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async {
                expectEqual(realm.objects(City.self).count, 1)
                continuation.resume()
            }
        }
        let second = try await Realm(configuration: folder.modelConfiguration, actor: MainActor.shared)
        let third = try await Realm.open(configuration: folder.modelConfiguration)
        expectEqual(second.objects(City.self).count + third.objects(City.self).count, 2)
    }

    @Test func aQueueUsesTheRealmThatWasOpenedForIt() async throws {
        let folder = Folder()
        let queue = DispatchQueue(label: "test.mine")
        let realm = try Realm(configuration: folder.modelConfiguration, queue: queue)
        try queue.sync { try realm.write { _ = realm.create(City.self, value: ["_id": "Graz"]) } }
        await withCheckedContinuation { continuation in
            queue.async {
                expectEqual(realm.objects(City.self).first?._id, "Graz")
                continuation.resume()
            }
        }
    }

    /// What is frozen has no place.
    @Test func frozenObjectsMayBeReadAnywhere() async throws {
        let folder = Folder()
        let results = try await onThread {
            let realm = try Realm(configuration: folder.modelConfiguration)
            try realm.write { _ = realm.create(City.self, value: ["_id": "Graz"]) }
            return realm.objects(City.self).freeze()
        }
        expectEqual(results.map(\._id), ["Graz"])
        try await expectEqual(onThread { try #require(results.thaw()).count }, 1)
    }
}

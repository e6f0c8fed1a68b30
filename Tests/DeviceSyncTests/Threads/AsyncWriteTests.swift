import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// Writes that begin when their turn comes, on the realm's queue or actor.
@Suite(.hangGuard)
struct AsyncWriteTests {
    private let folder = Folder()
    private let queue = DispatchQueue(label: "test.writer")
    private let realm: Realm
    private let heard = ModelNotificationTests.Heard()

    init() throws { realm = try Realm(configuration: folder.modelConfiguration, queue: queue) }

    private func create(_ id: String) { _ = realm.create(City.self, value: ["_id": id]) }

    private var cities: [String] { queue.sync { realm.objects(City.self).map(\._id) } }

    @Test func writesRunInTheirOrderAndTellWhenTheyAreDurable() async throws {
        queue.sync {
            realm.writeAsync {
                create("a")
                heard.hear("a runs")
            } onComplete: { error in
                heard.hear("a \(error == nil)")
            }
            realm.beginAsyncWrite {
                create("b")
                realm.commitAsyncWrite { _ in heard.hear("b done") }
            }
            realm.beginAsyncWrite {
                create("c")
                realm.cancelWrite()
            }
            // Neither commits nor cancels.
            realm.beginAsyncWrite { create("d") }
            expectTrue(realm.isPerformingAsynchronousWriteOperations)
            expectTrue(heard.all.isEmpty)
        }
        await expectTrue(heard.ends(with: "b done"))
        expectEqual(heard.all.first, "a runs")
        await expectTrue(eventually { queue.sync { !realm.isPerformingAsynchronousWriteOperations } })
        expectEqual(cities, ["a", "b"])
    }

    @Test func aWriteThatHasNotBegunCanBeCancelled() async throws {
        let other = try await Realm(configuration: folder.modelConfiguration)
        other.beginWrite()
        let ids = queue.sync { [realm.writeAsync { create("a") }, realm.writeAsync { create("b") }] }
        try queue.sync { try realm.cancelAsyncWrite(ids[0]) }
        #expect(throws: Realm.Error.self) { try queue.sync { try realm.cancelAsyncWrite(ids[0]) } }
        other.cancelWrite()
        await expectTrue(eventually { queue.sync { !realm.isPerformingAsynchronousWriteOperations } })
        expectEqual(cities, ["b"])
        #expect(throws: Realm.Error.self) { try queue.sync { try realm.cancelAsyncWrite(ids[1]) } }
    }

    /// The queue that an asynchronous write is to run on may itself be waiting for the lock.
    @Test func aWriteThatBlocksTheQueueGoesFirst() async throws {
        let other = try await Realm(configuration: folder.modelConfiguration)
        other.beginWrite()
        queue.async {
            realm.writeAsync {
                create("late")
            } onComplete: { _ in
                heard.hear("late")
            }
            try? realm.write { create("soon") }
            heard.hear("soon")
        }
        let lock = realm.instance.core.lock
        await expectTrue(eventually { lock.waitingCount == 2 })
        other.cancelWrite()
        await expectTrue(heard.ends(with: "late"))
        expectEqual(heard.all, ["soon", "late"])
    }

    private actor Writer {
        private var realm: Realm?

        private func open(_ configuration: Realm.Configuration) throws -> Realm {
            let realm = try Realm(configuration: configuration)
            self.realm = realm
            return realm
        }

        func begin(_ configuration: Realm.Configuration) async throws {
            let realm = try open(configuration)
            try await realm.asyncWrite { _ = realm.create(City.self, value: ["_id": "late"]) }
        }

        func block() throws {
            guard let realm else { return }
            try realm.write { _ = realm.create(City.self, value: ["_id": "soon"]) }
        }
    }

    /// The same on an actor.
    @Test func aWriteThatBlocksTheActorGoesFirst() async throws {
        let (other, writer) = (try await Realm(configuration: folder.modelConfiguration), Writer())
        let lock = other.instance.core.lock
        let configuration = folder.modelConfiguration
        other.beginWrite()
        let late = Task { try await writer.begin(configuration) }
        await expectTrue(eventually { lock.waitingCount == 1 })
        let soon = Task { try await writer.block() }
        await expectTrue(eventually { lock.waitingCount == 2 })
        other.cancelWrite()
        try await soon.value
        try await late.value
        expectEqual(other.objects(City.self).map(\._id), ["late", "soon"])
    }
}

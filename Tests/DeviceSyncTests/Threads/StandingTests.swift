import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// A live realm stands still while code runs, and goes on when the thread, queue or actor turns to something else.
@Suite(.hangGuard)
struct StandingTests {
    private let folder = Folder()
    private let heard = ModelNotificationTests.Heard()

    /// Runs `body` on another thread, and waits as code does that cannot suspend.
    private static func elsewhere(_ body: @escaping @Sendable () throws -> Void) {
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            expectTrue((try? body()) != nil)
            done.signal()
        }
        done.wait()
    }

    /// Writes in another realm.
    private static func write(
        _ configuration: Realm.Configuration, _ body: @escaping @Sendable (Realm) -> Void
    ) {
        elsewhere {
            let realm = try Realm(configuration: configuration)
            try realm.write { body(realm) }
        }
    }

    private static func fill(_ configuration: Realm.Configuration, count: Int = 10) {
        write(configuration) { realm in
            for number in 0..<count { _ = realm.create(Dog.self, value: ["name": "\(number)"]) }
        }
    }

    /// Walks over dogs that are deleted elsewhere meanwhile.
    private static func walk(_ realm: Realm, _ configuration: Realm.Configuration) throws {
        let dogs = realm.objects(Dog.self)
        let old = dogs.where { $0.age == 1 }
        let first = try #require(dogs.first)
        for number in 0..<dogs.count {
            expectTrue(!dogs[number].isInvalidated)
            if number == 0 { write(configuration) { $0.delete($0.objects(Dog.self)) } }
            expectTrue(!old[number].name.isEmpty)
        }
        expectTrue(!first.isInvalidated)
        expectEqual(dogs.count, 10)
    }

    @Test func aThreadStandsStillUntilItRefreshes() async throws {
        let configuration = folder.modelConfiguration
        try await onThread {
            Self.fill(configuration)
            let realm = try Realm(configuration: configuration)
            try Self.walk(realm, configuration)
            expectTrue(realm.refresh())
            expectTrue(realm.objects(Dog.self).isEmpty)
            expectTrue(!realm.refresh())
        }
    }

    @Test(arguments: [true, false])
    func aThreadStandsStillUntilItWrites(asBlock: Bool) async throws {
        let configuration = folder.modelConfiguration
        try await onThread {
            Self.fill(configuration)
            let realm = try Realm(configuration: configuration)
            try Self.walk(realm, configuration)
            if asBlock {
                try realm.write { expectTrue(realm.objects(Dog.self).isEmpty) }
            } else {
                realm.beginWrite()
                expectTrue(realm.objects(Dog.self).isEmpty)
                realm.cancelWrite()
            }
            expectTrue(realm.objects(Dog.self).isEmpty)
        }
    }

    /// What comes after one's own commit is not seen either.
    @Test func aThreadStandsAtItsOwnCommit() async throws {
        let configuration = folder.modelConfiguration
        try await onThread {
            let realm = try Realm(configuration: configuration)
            let dog = try realm.write { realm.create(Dog.self, value: ["name": "a"]) }
            Self.write(configuration) { $0.deleteAll() }
            expectEqual(dog.name, "a")
            realm.refresh()
            expectTrue(dog.isInvalidated)
        }
    }

    @Test func aQueueTurnsBetweenItsBlocks() throws {
        let configuration = folder.modelConfiguration
        let queue = DispatchQueue(label: "test.mine")
        Self.fill(configuration)
        let realm = try Realm(configuration: configuration, queue: queue)
        try queue.sync { try Self.walk(realm, configuration) }
        queue.sync { expectTrue(realm.objects(Dog.self).isEmpty) }
    }

    private actor Walker {
        private var realm: Realm?

        func walk(_ configuration: Realm.Configuration) throws {
            let realm = try Realm(configuration: configuration)
            self.realm = realm
            try StandingTests.walk(realm, configuration)
        }

        var count: Int { realm?.objects(Dog.self).count ?? -1 }
    }

    @Test func anActorTurnsBetweenItsJobs() async throws {
        Self.fill(folder.modelConfiguration)
        let walker = Walker()
        try await walker.walk(folder.modelConfiguration)
        try await eventually("the actor turns") { await walker.count == 0 }
    }

    @MainActor
    @Test func theMainQueueTurns() async throws {
        Self.fill(folder.modelConfiguration)
        let realm = try await Realm(configuration: folder.modelConfiguration)
        try Self.walk(realm, folder.modelConfiguration)
        try await eventually("the main queue turns") { realm.objects(Dog.self).isEmpty }
    }

    /// Writes that keep two values equal, until `body` returns.
    private static func whileWriting<Result>(
        _ configuration: Realm.Configuration, _ body: () throws -> Result
    ) throws -> Result {
        let (isOver, done) = (Flag(), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            defer { done.signal() }
            guard let realm = try? Realm(configuration: configuration) else { return }
            while !isOver.isSet {
                try? realm.write {
                    for city in realm.objects(City.self) { city.people += 1 }
                }
            }
        }
        defer {
            isOver.set()
            done.wait()
        }
        return try body()
    }

    @Test func twoReadsNeverSeeHalfOfAWrite() throws {
        let configuration = folder.modelConfiguration
        Self.write(configuration) { realm in
            for name in ["a", "b"] { _ = realm.create(City.self, value: ["_id": name]) }
        }
        let queue = DispatchQueue(label: "test.mine")
        let realm = try Realm(configuration: configuration, queue: queue)
        let seen = try Self.whileWriting(configuration) {
            var seen: Set<Int> = []
            while seen.count < 20 {
                queue.sync {
                    let cities = realm.objects(City.self)
                    let people = cities.map(\.people)
                    expectEqual(people.first, people.last)
                    expectEqual(cities.map(\.people), people)
                    seen.insert(people[0])
                }
            }
            return seen
        }
        expectTrue(seen.count == 20)
    }

    @Test func withoutAutorefreshATurnChangesNothing() throws {
        let configuration = folder.modelConfiguration
        let queue = DispatchQueue(label: "test.mine")
        Self.fill(configuration)
        let realm = try Realm(configuration: configuration, queue: queue)
        let heard = heard
        let token = queue.sync {
            realm.autorefresh = false
            return realm.objects(Dog.self).observe { change in
                switch change {
                case .update(let dogs, let deletions, _, _): heard.hear("\(dogs.count) -\(deletions.count)")
                default: heard.hear("initial")
                }
            }
        }
        queue.sync {}
        Self.write(configuration) { $0.deleteAll() }
        queue.sync { expectEqual(realm.objects(Dog.self).count, 10) }
        expectEqual(heard.all, ["initial"])
        queue.sync {
            expectTrue(realm.refresh())
            expectEqual(heard.all, ["initial", "0 -10"])
            realm.autorefresh = true
        }
        Self.fill(configuration, count: 3)
        queue.sync {}
        queue.sync { expectEqual(realm.objects(Dog.self).count, 3) }
        token.invalidate()
    }

    /// The collection of a notification is what the positions are about, whatever is written meanwhile.
    @Test func anObserverSeesWhatItIsToldOf() async throws {
        let configuration = folder.modelConfiguration
        let queue = DispatchQueue(label: "test.mine")
        let realm = try Realm(configuration: configuration, queue: queue)
        let count = Flag()
        let token = queue.sync {
            realm.objects(Dog.self).sorted(byKeyPath: "name").observe { change in
                switch change {
                case .update(let dogs, let deletions, let insertions, _):
                    expectEqual(dogs.count, count.count - deletions.count + insertions.count)
                    for position in insertions { expectTrue(!dogs[position].isInvalidated) }
                    expectEqual(dogs.realm?.objects(Dog.self).count, dogs.count)
                    count.set(dogs.count)
                case .initial(let dogs): count.set(dogs.count)
                case .error: Issue.record()
                }
            }
        }
        Self.elsewhere {
            let realm = try Realm(configuration: configuration)
            for round in 0..<100 {
                try realm.write {
                    if round % 3 == 2, let dog = realm.objects(Dog.self).first { realm.delete(dog) }
                    for number in 0..<5 { _ = realm.create(Dog.self, value: ["name": "\(round) \(number)"]) }
                }
            }
        }
        await expectTrue(
            eventually { queue.sync { realm.objects(Dog.self).count == 500 - 33 && count.count == 500 - 33 } })
        token.invalidate()
    }

    @Test func refreshingTellsObserversAtOnce() throws {
        let configuration = folder.modelConfiguration
        let queue = DispatchQueue(label: "test.mine")
        let realm = try Realm(configuration: configuration, queue: queue)
        let heard = heard
        let token = queue.sync {
            realm.objects(Dog.self).observe { change in
                if case .update(let dogs, _, _, _) = change { heard.hear("\(dogs.count)") }
            }
        }
        queue.sync {}
        try queue.sync {
            Self.fill(configuration, count: 2)
            realm.refresh()
            expectEqual(heard.all, ["2"])
            Self.fill(configuration, count: 1)
            try realm.write { expectEqual(heard.all, ["2", "3"]) }
        }
        queue.sync {}
        expectEqual(heard.all, ["2", "3"])
        token.invalidate()
    }

    @Test func aCommitIsHeardOfWhereItIsMadeAtOnce() throws {
        let queue = DispatchQueue(label: "test.mine")
        let realm = try Realm(configuration: folder.modelConfiguration, queue: queue)
        let heard = heard
        try queue.sync {
            let token = realm.observe { notification, _ in heard.hear(notification.rawValue) }
            try realm.write {}
            expectEqual(heard.all, [Realm.Notification.didChange.rawValue])
            token.invalidate()
        }
    }

    /// The commit shows before it is in the file.
    @Test func anAsynchronousCommitShowsAtOnce() async throws {
        let queue = DispatchQueue(label: "test.mine")
        let realm = try Realm(configuration: folder.modelConfiguration, queue: queue)
        let heard = heard
        queue.sync {
            _ = realm.beginAsyncWrite {
                _ = realm.create(Dog.self, value: ["name": "a"])
                realm.commitAsyncWrite { _ in heard.hear("\(realm.objects(Dog.self).count)") }
                expectTrue(!realm.isInWriteTransaction)
                for _ in 0..<100 { expectEqual(realm.objects(Dog.self).map(\.name), ["a"]) }
            }
        }
        await expectTrue(heard.ends(with: "1"))
        queue.sync { expectEqual(realm.objects(Dog.self).count, 1) }
    }

    /// What a reference leads to is there once more, if the realm has not been read before.
    @Test func aReferenceBringsItsVersion() async throws {
        let configuration = folder.modelConfiguration
        let (old, recent) = try await onThread {
            let realm = try Realm(configuration: configuration)
            let dog = try realm.write { realm.create(Dog.self, value: ["name": "a"]) }
            let old = ThreadSafeReference(to: dog)
            try realm.write { dog.name = "b" }
            return (old, ThreadSafeReference(to: dog))
        }
        Self.write(configuration) { $0.deleteAll() }
        try await onThread {
            let realm = try Realm(configuration: configuration)
            expectTrue(!old.isInvalidated)
            expectEqual(realm.resolve(old)?.name, "a")
            expectTrue(old.isInvalidated)
            // The realm goes on, as far as it must.
            expectTrue(realm.resolve(recent) == nil)
        }
    }
}

/// A number that two threads know.
private final class Flag: Sendable {
    private let number = Mutex(0)

    var count: Int { number.withLock { $0 } }
    var isSet: Bool { count > 0 }
    func set(_ new: Int = 1) { number.withLock { $0 = new } }
}

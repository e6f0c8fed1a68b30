import Dispatch
import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// A realm opened twice on one thread, queue or actor is one realm.
@Suite(.hangGuard)
struct OneRealmTests {
    private let folder = Folder()
    private let heard = ModelNotificationTests.Heard()

    /// Adds a city, in the transaction that there is or in one of its own, as helpers of apps do.
    private static func add(_ id: String, _ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        if realm.isInWriteTransaction {
            realm.create(City.self, value: ["_id": id])
        } else {
            try realm.write { _ = realm.create(City.self, value: ["_id": id]) }
        }
    }

    /// What holds of two realms of one place.
    private static func expectOne(_ first: Realm, _ second: Realm, _ id: String) throws {
        expectTrue(first == second)
        first.beginWrite()
        expectTrue(second.isInWriteTransaction)
        let city = first.create(City.self, value: ["_id": id])
        let same = try #require(second.object(ofType: City.self, forPrimaryKey: id))
        expectTrue(city == same && city.realm == second)
        same.people = 3
        expectEqual(city.people, 3)
        try second.commitWrite()
        expectTrue(!first.isInWriteTransaction)
        try second.write { city.people += 1 }
        expectEqual(same.people, 4)
    }

    @Test func aThreadHasOne() async throws {
        let configuration = folder.modelConfiguration
        try await onThread {
            let first = try Realm(configuration: configuration)
            try Self.expectOne(first, Realm(configuration: configuration), "Graz")
            try Self.add("Linz", configuration)
            try first.write { try Self.add("Wels", configuration) }
            expectEqual(first.objects(City.self).map(\._id), ["Graz", "Linz", "Wels"])
        }
    }

    @Test func aQueueHasOneWhetherItIsNamedOrNot() throws {
        let configuration = folder.modelConfiguration
        let queue = DispatchQueue(label: "test.mine")
        let named = try Realm(configuration: configuration, queue: queue)
        try queue.sync {
            try Self.expectOne(named, Realm(configuration: configuration, queue: queue), "Graz")
            try named.write {
                try expectTrue(Realm(configuration: configuration, queue: queue).isInWriteTransaction)
            }
        }
        queue.async { try? Self.expectOne(named, Realm(configuration: configuration), "Linz") }
        queue.sync { expectEqual(named.objects(City.self).count, 2) }
    }

    private actor Keeper {
        private func open(_ configuration: Realm.Configuration) throws -> Realm {
            try Realm(configuration: configuration)
        }

        func expectOne(_ configuration: Realm.Configuration) async throws {
            let first = try await Realm(configuration: configuration)
            try OneRealmTests.expectOne(first, open(configuration), "Graz")
            let awaited = try await Realm(configuration: configuration, actor: self)
            try OneRealmTests.expectOne(first, awaited, "Linz")
            // Not in a macro, whose closures are of no actor.
            let thawed = first.objects(City.self).freeze().thaw()?.first
            let object = first.objects(City.self).first?.freeze().thaw()
            try first.write {
                thawed?.people = 10
                object?.people += 1
            }
            expectEqual(first.objects(City.self).first?.people, 11)
        }
    }

    @Test func anActorHasOne() async throws { try await Keeper().expectOne(folder.modelConfiguration) }

    @MainActor
    @Test func theMainActorHasOne() async throws {
        let configuration = folder.modelConfiguration
        let first = try await Realm(configuration: configuration)
        try Self.expectOne(first, Realm(configuration: configuration, queue: .main), "Graz")
        try await Self.expectOne(first, Realm(configuration: configuration), "Linz")
        @ThreadSafe var shared: City? = first.objects(City.self).first
        try first.write { shared?.people = 7 }
        expectEqual(shared?.people, 7)
    }

    @Test func aTaskHasOne() async throws {
        let configuration = folder.modelConfiguration
        let first = try await Realm(configuration: configuration)
        try await Self.expectOne(first, Realm(configuration: configuration), "Graz")
        let other = try await Task { try await Realm(configuration: configuration) }.value
        expectTrue(first != other)
    }

    @Test func placesHaveTheirOwn() async throws {
        let configuration = folder.modelConfiguration
        let first = try await onThread { try Realm(configuration: configuration) }
        // The system may give the next thread the first one's number.
        let others = try await [
            onThread { try Realm(configuration: configuration) },
            Realm(configuration: configuration, queue: DispatchQueue(label: "test.mine")),
            Realm(configuration: configuration, queue: .main),
        ]
        for (position, other) in others.enumerated() {
            expectTrue(first != other)
            expectTrue(others.dropFirst(position + 1).allSatisfy { $0 != other })
        }
    }

    @Test func frozenRealmsOfOneVersionAreEqual() async throws {
        let realm = try await Realm(configuration: folder.modelConfiguration)
        let frozen = realm.freeze()
        expectTrue(frozen == realm.freeze() && frozen != realm)
        try await realm.asyncWrite { _ = realm.create(City.self, value: ["_id": "Graz"]) }
        expectTrue(frozen != realm.freeze())
    }

    /// Nothing is left of a realm that is gone, and its transaction with it.
    @Test func aRealmGoesWithItsLastHandle() async throws {
        let configuration = folder.modelConfiguration
        try await onThread {
            do {
                let realm = try Realm(configuration: configuration)
                realm.beginWrite()
                _ = realm.create(City.self, value: ["_id": "Graz"])
            }
            let realm = try Realm(configuration: configuration)
            expectTrue(!realm.isInWriteTransaction && realm.isEmpty)
            try realm.write {}
        }
    }

    /// Whatever comes from elsewhere is of the realm of the place where it arrives.
    @Test func whatIsHandedOverBelongsToTheRealmThatIsThere() async throws {
        let configuration = folder.modelConfiguration
        let free = try await Realm(configuration: configuration)
        try await free.asyncWrite { _ = free.create(City.self, value: ["_id": "Graz"]) }
        let city = try #require(free.object(ofType: City.self, forPrimaryKey: "Graz"))
        @ThreadSafe var shared: City? = city
        let (copy, reference) = (_shared, ThreadSafeReference(to: city))
        let frozen = free.objects(City.self).freeze()
        try await onThread {
            let realm = try Realm(configuration: configuration)
            let thawed = try #require(frozen.thaw()?.first)
            try realm.write {
                copy.wrappedValue?.people += 1
                realm.resolve(reference)?.people += 1
                thawed.people += 1
            }
            expectEqual(realm.objects(City.self).first?.people, 3)
        }
    }

    @Test func anObserverWritesThroughARealmThatItOpens() async throws {
        let configuration = folder.modelConfiguration
        let queue = DispatchQueue(label: "test.observer")
        let free = try await onThread {
            let realm = try Realm(configuration: configuration)
            try realm.write { _ = realm.create(City.self, value: ["_id": "Graz"]) }
            return realm
        }
        let heard = heard
        let token = try await onThread {
            let realm = try Realm(configuration: configuration)
            return realm.objects(City.self).observe(on: queue) { change in
                guard case .initial(let cities) = change, let here = try? Realm(configuration: configuration) else {
                    return
                }
                try? here.write { cities.first?.people = 5 }
                heard.hear("\(cities.first?.people ?? 0) \(here == cities.realm)")
            }
        }
        await expectTrue(heard.ends(with: "5 true"))
        token.invalidate()
        withExtendedLifetime(free) {}
    }
}

import Dispatch
import Foundation
import OpenCombine
import TestSupport
import Testing

@testable import DeviceSync

/// What can be observed, as publishers.
@Suite(.hangGuard)
struct PublisherTests {
    private let folder = Folder()
    private let queue = DispatchQueue(label: "test.publishers")
    private let heard = ModelNotificationTests.Heard()

    @Test func changesArePublished() async throws {
        let realm = try Realm(configuration: folder.modelConfiguration, queue: queue)
        let heard = heard
        let subscriptions = try queue.sync {
            try realm.write { realm.add(Person(value: ["_id": 1, "name": "Ada", "dogs": [["name": "a"]]])) }
            let person = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
            return [
                realm.objects(Person.self).collectionPublisher.assertNoFailure().map { $0.map(\.name) }
                    .sink { heard.hear("results \($0)") },
                realm.objects(Person.self).changesetPublisher(keyPaths: ["name"]).sink { change in
                    if case .update(_, _, _, let modifications) = change { heard.hear("changes \(modifications)") }
                },
                person.dogs.collectionPublisher.assertNoFailure().map(\.count).removeDuplicates()
                    .sink { heard.hear("dogs \($0)") },
                valuePublisher(person).sink(
                    receiveCompletion: { _ in heard.hear("finished") }, receiveValue: { heard.hear("value \($0.name)") }
                ),
                realm.objectWillChange.sink { heard.hear("realm") },
                changesetPublisher(person).sink(
                    receiveCompletion: { _ in heard.hear("changes of the object finished") },
                    receiveValue: { if case .deleted = $0 { heard.hear("deleted") } }),
            ]
        }
        await expectTrue(eventually { Set(heard.all) == [#"results ["Ada"]"#, "dogs 1"] })
        try queue.sync { try realm.write { realm.objects(Person.self).first?.name = "Eve" } }
        await expectTrue(
            eventually {
                Set(heard.all.dropFirst(2)) == [#"results ["Eve"]"#, "changes [0]", "value Eve", "realm"]
            })
        subscriptions[0].cancel()
        try queue.sync { try realm.write { realm.deleteAll() } }
        await expectTrue(
            eventually { heard.all.contains("finished") && heard.all.contains("changes of the object finished") })
        queue.sync {}
        expectTrue(!heard.all.contains("results []") && !heard.all.contains("deleted"))
    }

    @Test func whatIsPublishedIsFrozenOrHandedOver() async throws {
        let realm = try Realm(configuration: folder.modelConfiguration, queue: queue)
        let heard = heard
        let subscriptions = try queue.sync {
            try realm.write { realm.add(Person(value: ["_id": 1, "name": "Ada"])) }
            let people = realm.objects(Person.self)
            let person = try #require(people.first)
            return [
                people.collectionPublisher.freeze().assertNoFailure().sink {
                    heard.hear("frozen \($0.isFrozen) \($0.count)")
                },
                people.changesetPublisher.freeze().sink { change in
                    if case .initial(let people) = change { heard.hear("frozen initial \(people.isFrozen)") }
                },
                people.collectionPublisher.threadSafeReference().receive(on: ImmediateScheduler.shared)
                    .assertNoFailure().sink { heard.hear("handed over \($0.isFrozen) \($0.count)") },
                changesetPublisher(person).threadSafeReference().receive(on: ImmediateScheduler.shared).sink { change in
                    if case .change(let person, _) = change { heard.hear("changed \(person.name)") }
                },
            ]
        }
        let first = Set(["frozen true 1", "frozen initial true", "handed over false 1"])
        await expectTrue(eventually { Set(heard.all) == first })
        try queue.sync { try realm.write { realm.objects(Person.self).first?.name = "Eve" } }
        await expectTrue(eventually { heard.all.contains("changed Eve") })
        for subscription in subscriptions { subscription.cancel() }
    }

    @Test func aSessionPublishesItsConnection() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        let session = try #require(realm.syncSession)
        let heard = heard
        let subscription = session.publisher(for: \.connectionState).sink { heard.hear("\($0)") }
        await expectTrue(heard.ends(with: "connected"))
        subscription.cancel()
    }
}

/// What can be observed, as sequences.
@Suite(.hangGuard)
struct RealmChangesTests {
    private let folder = Folder()

    private func text<C: Collection>(_ change: RealmCollectionChange<C>?) -> String {
        switch change {
        case .initial(let all): "initial \(all.count)"
        case .update(let all, let deletions, let insertions, let modifications):
            "\(all.count) -\(deletions.count) +\(insertions.count) ~\(modifications.count)"
        case .error, nil: "none"
        }
    }

    @MainActor
    @Test func aSlowReaderLosesNothing() async throws {
        let realm = try await Realm(configuration: folder.modelConfiguration)
        func write(_ block: () -> Void) throws { try realm.write(block) }
        try write { realm.add(Person(value: ["_id": 1, "tags": ["a"]])) }
        let person = try #require(realm.object(ofType: Person.self, forPrimaryKey: 1))
        let people = realm.objects(Person.self).changes().makeAsyncIterator()
        let tags = person.tags.changes().makeAsyncIterator()
        let names = person.changes(keyPaths: ["name"]).makeAsyncIterator()
        expectEqual(text(await people.next()), "initial 1")
        expectEqual(text(await tags.next()), "initial 1")
        for number in 2...5 { try write { realm.add(Person(value: ["_id": number])) } }
        try write { person.name = "Ada" }
        try write { person.name = "Eve" }
        try write { person.tags.append("b") }
        // One change for all of it.
        expectEqual(text(await people.next()), "5 -0 +4 ~1")
        expectEqual(text(await tags.next()), "2 -0 +1 ~0")
        guard case .change(let changed, let properties)? = await names.next() else {
            Issue.record("expected a change of the name")
            return
        }
        expectTrue(changed.name == "Eve" && properties.map(\.name) == ["name"])
        expectTrue(properties.first?.oldValue as? String == "nobody")
    }

    @Test func aReaderEndsWithItsTask() async throws {
        let (configuration, heard) = (folder.modelConfiguration, ModelNotificationTests.Heard())
        let reader = Task {
            let realm = try await Realm(configuration: configuration)
            for await change in realm.objects(Person.self).changes() { heard.hear("\(change)") }
            heard.hear("ended")
        }
        await expectTrue(eventually { heard.all.count == 1 })
        reader.cancel()
        try await reader.value
        expectTrue(heard.all.count == 2 && heard.all.last == "ended")
    }
}

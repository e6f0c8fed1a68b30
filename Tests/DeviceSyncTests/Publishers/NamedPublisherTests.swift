import Dispatch
import Foundation
import OpenCombine
import TestSupport
import Testing

@testable import DeviceSync

private final class TokenOwner {
    var token: NotificationToken?
}

private final class NameRow: Projection<Person> {
    @Projected(\Person.name) var title
}

/// Publishers by the names that programs for Realm Swift write.
@Suite(.hangGuard)
struct NamedPublisherTests {
    private let folder = Folder()
    private let queue = DispatchQueue(label: "test.publishers.named")
    private let other = DispatchQueue(label: "test.publishers.other")
    private let heard = ModelNotificationTests.Heard()

    private func realm() throws -> Realm {
        let realm = try Realm(configuration: folder.modelConfiguration, queue: queue)
        try queue.sync {
            try realm.write {
                realm.add(Person(value: ["_id": 1, "name": "Ada", "tags": ["x"], "scores": ["a": 1]]))
            }
        }
        return realm
    }

    private func rename(_ realm: Realm, _ name: String) throws {
        try queue.sync { try realm.write { realm.objects(Person.self).first?.name = name } }
    }

    @Test func eachKindOfPublisherHasItsName() async throws {
        let realm = try realm()
        let heard = heard
        let subscriptions = try queue.sync {
            let people = realm.objects(Person.self)
            let person = try #require(people.first)
            let value: RealmPublishers.Value<Results<Person>> = people.collectionPublisher
            let changes: RealmPublishers.CollectionChangeset<List<String>> = person.tags.changesetPublisher
            let entries: RealmPublishers.MapChangeset<Map<String, Int>> = person.scores.changesetPublisher
            let object: RealmPublishers.ObjectChangeset<Person> = changesetPublisher(person, keyPaths: ["name"])
            let any: RealmPublishers.Value<AnyRealmCollection<Person>> =
                AnyRealmCollection(people).collectionPublisher(keyPaths: ["name"])
            let sections: RealmPublishers.SectionedResultsChangeset<SectionedResults<String, Person>> =
                people.sectioned(by: \.name).changesetPublisher
            let erased: AnyPublisher<Person, any Error> = valuePublisher(person).eraseToAnyPublisher()
            return [
                value.sink(receiveCompletion: { _ in }, receiveValue: { heard.hear("value \($0.count)") }),
                changes.sink { if case .initial(let tags) = $0 { heard.hear("tags \(tags.count)") } },
                entries.sink { if case .initial(let scores) = $0 { heard.hear("scores \(scores.count)") } },
                object.sink { if case .change(let person, _) = $0 { heard.hear("object \(person.name)") } },
                any.assertNoFailure().sink { heard.hear("any \($0.count)") },
                sections.sink { if case .initial(let sections) = $0 { heard.hear("sections \(sections.allKeys)") } },
                erased.sink(receiveCompletion: { _ in }, receiveValue: { heard.hear("erased \($0.name)") }),
                person.objectWillChange.sink { heard.hear("will change") },
            ]
        }
        let first = Set(["value 1", "tags 1", "scores 1", "any 1", #"sections ["Ada"]"#])
        await expectTrue(eventually { Set(heard.all) == first })
        try rename(realm, "Eve")
        await expectTrue(eventually { Set(heard.all).isSuperset(of: ["object Eve", "erased Eve", "will change"]) })
        for subscription in subscriptions { subscription.cancel() }
    }

    @Test func aSubscriptionOnAQueueBelongsThere() async throws {
        let realm = try realm()
        let (heard, other) = (heard, other)
        let subscriptions = queue.sync {
            let people = realm.objects(Person.self)
            let scheduler = QueueScheduler(queue: other)
            return [
                people.collectionPublisher.subscribe(on: scheduler).assertNoFailure().sink { people in
                    dispatchPrecondition(condition: .onQueue(other))
                    heard.hear("there \(people.map(\.name))")
                },
                people.changesetPublisher.subscribe(on: scheduler).sink { change in
                    dispatchPrecondition(condition: .onQueue(other))
                    switch change {
                    case .update(_, _, _, let modifications): heard.hear("changed \(modifications)")
                    default: heard.hear("initial")
                    }
                },
            ]
        }
        await expectTrue(eventually { Set(heard.all) == [#"there ["Ada"]"#, "initial"] })
        try rename(realm, "Eve")
        await expectTrue(eventually { Set(heard.all.dropFirst(2)) == [#"there ["Eve"]"#, "changed [0]"] })
        for subscription in subscriptions { subscription.cancel() }
    }

    @Test func whatIsReceivedOnAQueueIsHandedOver() async throws {
        let realm = try realm()
        let (heard, other) = (heard, other)
        let subscriptions = try queue.sync {
            let people = realm.objects(Person.self)
            let person = try #require(people.first)
            let scheduler = QueueScheduler(queue: other)
            return [
                people.collectionPublisher.receive(on: scheduler).assertNoFailure().sink { people in
                    dispatchPrecondition(condition: .onQueue(other))
                    heard.hear("value \(people.map(\.name)) \(people.isFrozen)")
                },
                person.scores.changesetPublisher.receive(on: scheduler).sink { change in
                    dispatchPrecondition(condition: .onQueue(other))
                    if case .initial(let scores) = change { heard.hear("scores \(scores["a"] ?? 0)") }
                },
                people.sectioned(by: \.name).changesetPublisher.threadSafeReference().receive(on: scheduler).sink {
                    change in
                    dispatchPrecondition(condition: .onQueue(other))
                    if case .initial(let sections) = change { heard.hear("sections \(sections.allKeys)") }
                },
                people.collectionPublisher.freeze().threadSafeReference().receive(on: scheduler).assertNoFailure()
                    .sink { heard.hear("frozen \($0.isFrozen)") },
            ]
        }
        let first = Set([#"value ["Ada"] false"#, "scores 1", #"sections ["Ada"]"#, "frozen true"])
        await expectTrue(eventually { Set(heard.all) == first })
        for subscription in subscriptions { subscription.cancel() }
    }

    @Test func aSavedTokenEndsTheObservation() async throws {
        let realm = try realm()
        let (heard, owner) = (heard, TokenOwner())
        let subscription = queue.sync {
            realm.objects(Person.self).collectionPublisher.saveToken(on: owner, at: \.token).assertNoFailure()
                .sink { heard.hear($0.map(\.name).joined()) }
        }
        let token = try #require(owner.token)
        await expectTrue(heard.ends(with: "Ada"))
        try rename(realm, "Eve")
        await expectTrue(heard.ends(with: "Eve"))
        token.invalidate()
        try rename(realm, "Ida")
        queue.sync {}
        expectEqual(heard.all, ["Ada", "Eve"])
        subscription.cancel()
    }

    @Test func anOpeningIsPublished() async throws {
        _ = try realm()
        let (heard, other) = (heard, other)
        let subscription = Realm.asyncOpen(configuration: folder.modelConfiguration)
            .receive(on: QueueScheduler(queue: other))
            .sink(
                receiveCompletion: { heard.hear("\($0)") },
                receiveValue: { heard.hear("opened \($0.objects(Person.self).count)") })
        await expectTrue(eventually { heard.all == ["opened 1", "finished"] })
        subscription.cancel()
        var configuration = folder.modelConfiguration
        configuration.encryptionKey = Data([1])
        let failing = Realm.asyncOpen(configuration: configuration).receive(on: QueueScheduler(queue: other))
            .sink(
                receiveCompletion: { if case .failure = $0 { heard.hear("failed") } },
                receiveValue: { _ in heard.hear("opened") })
        await expectTrue(heard.ends(with: "failed"))
        failing.cancel()
    }

    @Test func projectionsArePublished() async throws {
        let realm = try realm()
        let (heard, scheduler) = (heard, QueueScheduler(queue: other))
        let subscriptions = try queue.sync {
            let row = NameRow(projecting: try #require(realm.objects(Person.self).first))
            return [
                valuePublisher(row).freeze().sink(
                    receiveCompletion: { _ in heard.hear("finished") }, receiveValue: { heard.hear($0.title) }),
                changesetPublisher(row, keyPaths: ["title"]).receive(on: scheduler).sink { change in
                    if case .change(let row, let properties) = change {
                        heard.hear("\(row.title) \(properties.map(\.name)) \(row.isFrozen)")
                    }
                },
            ]
        }
        try rename(realm, "Eve")
        await expectTrue(eventually { Set(heard.all) == ["Eve", #"Eve ["title"] false"#] })
        try queue.sync { try realm.write { realm.deleteAll() } }
        await expectTrue(eventually { heard.all.contains("finished") })
        for subscription in subscriptions { subscription.cancel() }
    }
}

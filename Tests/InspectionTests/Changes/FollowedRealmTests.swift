import Changesets
import Documents
import ExtendedJSON
import Messages
import RealmState
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Inspection

/// What somebody is told of a realm's documents who goes on with the changes behind them.
@Suite struct FollowedRealmTests {
    private static let app = AppRecord(id: "tasks", createdAt: 1)

    private func read(
        _ realm: StoredRealm, class className: ByteString? = nil, since place: String? = nil
    ) async throws -> (documents: [String], place: FeedPlace?) {
        let reader = try await realm.readers.reader(for: SliceNumber(0))
        var told: [String] = []
        let place = try await FollowedRealm.read(
            StoredRealm.name, of: className, since: place.flatMap { FeedPlace($0) }, in: reader, app: Self.app
        ) { documents, _ in
            told += documents.map {
                "\($0.className) \(ExtendedJSONWriter.text(of: $0.key)) \($0.content == nil ? "gone" : "there")"
            }
        }
        return (told, place)
    }

    @Test func allDocumentsAreToldAtOneVersion() async throws {
        let realm = try await StoredRealm()
        let all = try await read(realm)
        expectEqual(all.documents, ["Dog 7 there", "Dog 8 there", "Dog 9 there"])
        expectEqual(all.place?.place, ChangePlace("1.3"))
        expectEqual(all.place?.history, Self.app.history(after: nil))
        try await expectEqual(read(realm, class: "Cat").documents, [])
        let reader = try await realm.readers.reader(for: SliceNumber(0))
        let none = try await FollowedRealm.read(
            RealmName(app: "tasks", partition: "\"other\""), of: nil, in: reader, app: Self.app, tell: { _, _ in })
        expectTrue(none == nil)
    }

    @Test func whoComesBackIsToldWhatWasTouchedSince() async throws {
        let realm = try await StoredRealm()
        let dog = try realm.dog(9)
        try await realm.commit { $0.objectRemovals[realm.record.id] = [dog] }
        try await expectEqual(read(realm, since: "1.1").documents, ["Dog 8 there", "Dog 9 gone"])
        // All changes are told again of a version of which some are known.
        try await expectEqual(read(realm, since: "1.2.0").documents, ["Dog 8 there", "Dog 9 gone"])
        try await expectEqual(read(realm, since: "1.3").documents, [])
    }

    @Test(arguments: ["1.4", "2.1", "0.9"])
    func aPlaceThatIsNotToBeHadIsSaidToBeGone(place: String) async throws {
        let realm = try await StoredRealm()
        let failure = await #expect(throws: FollowedRealm.Failure.self) { _ = try await read(realm, since: place) }
        guard case .placeGone = failure else { return expectTrue(false, "\(String(describing: failure))") }
    }

    @Test func aPlaceWhoseHistoryWasDroppedIsGone() async throws {
        let realm = try await StoredRealm()
        let key = realm.key
        try await realm.commit { $0.compactions = [key: ServerVersion(2)] }
        await #expect(throws: FollowedRealm.Failure.self) { _ = try await read(realm, since: "1.1") }
        try await expectEqual(read(realm, since: "1.2").documents, ["Dog 9 there"])
    }

    /// A realm that was put back has versions of the same numbers with other changes.
    @Test func aPlaceFromBeforeTheStoreWasPutBackIsGone() async throws {
        let realm = try await StoredRealm()
        let before = try #require(try await read(realm).place)
        try await expectEqual(read(realm, since: "1.2@\(before.history ?? "")").documents, ["Dog 9 there"])
        try await realm.store.putBack(RestoreRecord(id: "restore-1", at: 5), epoch: Epoch(1_000))
        await #expect(throws: FollowedRealm.Failure.self) {
            _ = try await read(realm, since: "1.2@\(before.history ?? "")")
        }
        let after = try #require(try await read(realm).place)
        expectTrue(after.place == before.place && after.history != before.history)
        try await expectEqual(read(realm, since: "1.2@\(after.history ?? "")").documents, ["Dog 9 there"])
        // An app that was made anew has another history, too.
        expectTrue(AppRecord(id: "tasks", createdAt: 2).history(after: nil) != before.history)
    }

    @Test func onlyChangesBehindWhatWasToldCount() throws {
        var places = FollowedPlaces(isOfOneClass: false)
        places.told("a", at: FeedPlace(ChangePlace(generation: 1, version: 5, index: .max), of: "h1"))
        places.isGone("b")
        try expectEqual(places.take(change("a", "1.4.0@h1")), .dropped)
        try expectEqual(places.take(change("a", "1.5.7@h1")), .dropped)
        try expectEqual(places.take(change("a", "1.6.0@h1")), .told)
        try expectEqual(places.take(change("a", "1.6.0@h1")), .dropped)
        try expectEqual(places.take(change("a", "2.1.0@h1")), .told)
        // A realm that nobody was told of, until another one has its name.
        try expectEqual(places.take(change("b", "1.9.0@h1")), .dropped)
        try expectEqual(places.take(change("b", "1.10.0@h1", isErasure: true)), .dropped)
        try expectEqual(places.take(change("b", "1.12.0@h1")), .told)
        try expectEqual(places.take(change("c", "1.1.0@h1")), .told)
    }

    @Test func aChangeThatFollowsOneThatHasNotComeTellsThatItIsMissing() throws {
        var places = FollowedPlaces(isOfOneClass: false)
        places.told("a", at: FeedPlace(ChangePlace(generation: 1, version: 5, index: .max), of: "h1"))
        // The change that this one follows is among those that were told.
        try expectEqual(places.take(change("a", "1.6.0@h1", follows: "1.4.0")), .told)
        try expectEqual(places.take(change("a", "1.6.1@h1", follows: "1.6.0")), .told)
        try expectEqual(places.take(change("a", "1.8.0@h1", follows: "1.7.0")), .missed)
        // Until that one comes.
        try expectEqual(places.take(change("a", "1.7.0@h1", follows: "1.6.1")), .told)
        try expectEqual(places.take(change("a", "1.8.0@h1", follows: "1.7.0")), .told)
        // The changes before the first one of a realm are not known.
        try expectEqual(places.take(change("b", "1.9.0@h1", follows: "1.8.0")), .told)
        try expectEqual(places.take(change("b", "1.11.0@h1", follows: "1.10.0")), .missed)
        // Places of another history say nothing of this one's, nor those of a worker that says none.
        try expectEqual(places.take(change("b", "1.3.0@h2", follows: "1.2.0")), .told)
        try expectEqual(places.take(change("b", "1.4.0@h2")), .told)
    }

    @Test func whoFollowsOneClassMissesOnlyChangesOfTheClass() throws {
        var places = FollowedPlaces(isOfOneClass: true)
        try expectEqual(places.take(change("a", "1.1.0@h1")), .told)
        try expectEqual(places.take(change("a", "1.3.0@h1", follows: "1.2.0", inClass: "1.1.0")), .told)
        try expectEqual(places.take(change("a", "1.6.0@h1", follows: "1.5.0", inClass: "1.4.0")), .missed)
    }

    private func change(
        _ realm: String, _ place: String, follows: String? = nil, inClass: String? = nil, isErasure: Bool = false
    ) throws -> PassingChange {
        PassingChange(
            realm: realm, place: try #require(FeedPlace(place)),
            follows: ChangePredecessors(
                inRealm: follows.flatMap { ChangePlace($0) }, inClass: inClass.flatMap { ChangePlace($0) }),
            isErasure: isErasure, body: [])
    }
}

import TestSupport
import Testing

@testable import DeviceSync

/// Embedded objects that somebody holds while the place that they are in changes.
@Suite(.hangGuard)
struct EmbeddedMovesTests {
    private let folder = Folder()
    private let realm: Realm
    private let person: Person

    init() throws {
        realm = try folder.models()
        person = Person(value: [
            "_id": 1, "streets": [["name": "a"], ["name": "b"], ["name": "c"]], "home": ["name": "h"],
        ])
        try realm.write { [realm, person] in realm.add(person) }
    }

    @Test func aHeldObjectFollowsItsList() throws {
        let (a, b, c) = (person.streets[0], person.streets[1], person.streets[2])
        try realm.write { person.streets.insert(Street(value: ["name": "new"]), at: 0) }
        expectEqual([a, b, c].map(\.name), ["a", "b", "c"])
        try realm.write { person.streets.move(from: 1, to: 3) }
        expectEqual(person.streets.map(\.name), ["new", "b", "c", "a"])
        expectEqual([a, b, c].map(\.name), ["a", "b", "c"])
        try realm.write { person.streets.swapAt(1, 2) }
        expectEqual([a, b, c].map(\.name), ["a", "b", "c"])
        try realm.write { person.streets.remove(at: 0) }
        try realm.write { b.name = "changed" }
        expectEqual(person.streets.map(\.name), ["c", "changed", "a"])
    }

    @Test func anObjectThatIsReplacedIsInvalidated() throws {
        let (first, second) = (person.streets[0], person.streets[1])
        let home = try #require(person.home)
        let new = Street(value: ["name": "new"])
        try realm.write {
            person.streets[0] = new
            person.home = Street(value: ["name": "other"])
        }
        expectTrue(first.isInvalidated && home.isInvalidated && !second.isInvalidated && !new.isInvalidated)
        expectTrue(person.streets[0].isSameObject(as: new) && new.name == "new")
        try realm.write { realm.delete(second) }
        expectTrue(second.isInvalidated && person.streets.map(\.name) == ["new", "c"])
        try realm.write { person.streets.removeAll() }
        expectTrue(new.isInvalidated)
    }

    @Test func whatIsNotKeptMovesNothing() throws {
        let second = person.streets[1]
        realm.beginWrite()
        person.streets.remove(at: 0)
        expectEqual(second.name, "b")
        realm.cancelWrite()
        expectTrue(second.name == "b" && person.streets[1].isSameObject(as: second))
    }
}

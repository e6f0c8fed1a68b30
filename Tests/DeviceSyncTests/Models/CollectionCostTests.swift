import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// What collections cost grows with what is touched of them.
@Suite(.hangGuard)
struct CollectionCostTests {
    private let folder = Folder()

    /// The processor time of the calling thread.
    private static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// How many times longer four times as much takes: 4 if the cost is linear, 16 if it is the square.
    ///
    /// - Returns: the least of a few trials: what else the machine does can only make one of them look worse.
    private func growth(_ work: (_ count: Int) throws -> Void) rethrows -> Double {
        func time(_ count: Int) throws -> Double {
            let start = Self.seconds
            try work(count)
            return Self.seconds - start
        }
        var (least, less, more) = (Double.infinity, Double.infinity, Double.infinity)
        for _ in 0..<8 where least >= 9 {
            less = try min(less, time(1000))
            more = try min(more, time(4000))
            least = min(least, more / less)
        }
        return least
    }

    @Test func aListOfObjectsInAWrite() throws {
        let realm = try folder.models()
        var last = 0
        let growth = try growth { count in
            last += 1
            try realm.write {
                let person = realm.create(Person.self, value: ["_id": last])
                let dog = realm.create(Dog.self, value: ["name": "x"])
                for _ in 0..<count { person.dogs.append(dog) }
                for position in 0..<person.dogs.count { expectTrue(person.dogs[position].age == 1) }
                person.dogs.append(objectsIn: repeatElement(dog, count: count))
            }
            expectEqual(realm.object(ofType: Person.self, forPrimaryKey: last)?.dogs.count, 2 * count)
        }
        expectTrue(growth < 9, "\(growth)")
    }

    @Test func whatAQuerySelectsInAWrite() throws {
        let growth = try growth { count in
            let folder = Folder()
            let realm = try folder.models()
            try realm.write { for number in 0..<count { realm.add(Entry(value: ["text": "\(number)"])) } }
            try realm.write {
                let some = realm.objects(Entry.self).filter("text != ''")
                for position in 0..<count { expectTrue(!some[position].text.isEmpty) }
            }
        }
        expectTrue(growth < 9, "\(growth)")
    }

    @Test func aSetByItsPositions() throws {
        let realm = try folder.models()
        let growth = try growth { count in
            let note = Scalars(value: ["_id": UUID(), "anySet": (0..<count).map { $0 }])
            try realm.write { realm.add(note) }
            let members = note.anySet
            for position in 0..<members.count { expectTrue(members[position].intValue != nil) }
        }
        expectTrue(growth < 9, "\(growth)")
    }

    @Test func aListThatNoRealmHas() {
        let growth = growth { count in
            let list = List<Int>()
            for number in 0..<20 * count { list.append(number) }
        }
        expectTrue(growth < 9, "\(growth)")
    }

    @Test func whatATransactionKnowsOfAListEndsWithIt() throws {
        let realm = try folder.models()
        let person = Person(value: ["_id": 1, "dogs": [["name": "a"], ["name": "b"], ["name": "c"]]])
        try realm.write { realm.add(person) }
        try realm.write {
            expectEqual(person.dogs.count, 3)
            realm.delete(person.dogs[1])
            expectEqual(person.dogs.map(\.name), ["a", "c"])
            person.dogs.append(Dog(value: ["name": "d"]))
            expectTrue(person.dogs.last?.name == "d" && person.dogs.count == 3)
        }
        let gone = try #require(person.dogs.first?.managedHandle().address)
        try realm.write { realm.instance.edit { try $0.replayDeletion(of: gone) } }
        try realm.write {
            expectEqual(person.dogs.map(\.name), ["c", "d"])
            person.dogs[0] = person.dogs[1]
            expectEqual(person.dogs.map(\.name), ["d", "d"])
        }
        let selected = realm.objects(Dog.self).filter("name != 'c'")
        try realm.write {
            expectEqual(selected.count, 1)
            person.dogs.append(Dog(value: ["name": "e"]))
            expectEqual(selected.count, 2)
        }
    }
}

import Dispatch
import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Collections in sections: live, frozen and observed.
@Suite(.hangGuard)
struct SectionTests {
    private let folder = Folder()
    private let realm: Realm
    private let person: Person
    private let queue = DispatchQueue(label: "test.sections")

    init() throws {
        realm = try folder.models()
        person = Person(value: [
            "_id": 1, "tags": ["box", "banana", "apple", "chalk"],
            "dogs": [["name": "box", "age": 2], ["name": "banana"], ["name": "apple", "age": 2], ["name": "chalk"]],
        ])
        try realm.write { [realm, person] in realm.add(person) }
    }

    private var dogs: Results<Dog> { realm.objects(Dog.self) }
    private var byName: [DeviceSync.SortDescriptor] { [SortDescriptor(keyPath: "name")] }
    private var byLetter: SectionedResults<String, Dog> { dogs.sectioned(by: \.letter, ascending: true) }

    private func lines<Key>(_ sections: SectionedResults<Key, Dog>) -> [String] {
        sections.map { "\($0.key): \($0.map(\.name).joined(separator: ","))" }
    }

    @Test func objectsAreSectionedByPropertiesAndClosures() throws {
        let expected = ["a: apple", "b: banana,box", "c: chalk"]
        expectEqual(lines(byLetter), expected)
        expectEqual(lines(dogs.sectioned(by: \.letter, ascending: false)), ["c: chalk", "b: box,banana", "a: apple"])
        expectEqual(lines(dogs.sectioned(by: \.letter, sortDescriptors: byName)), expected)
        expectEqual(lines(dogs.sectioned(by: { String($0.name.prefix(1)) }, sortDescriptors: byName)), expected)
        expectEqual(lines(person.dogs.sectioned(by: \.letter)), expected)
        // As they stand in the list.
        expectEqual(
            lines(person.dogs.sectioned(by: { $0.letter }, sortDescriptors: [])),
            [
                "b: box,banana", "a: apple", "c: chalk",
            ])
        let byAge = dogs.where { $0.name != "chalk" }.sectioned(
            by: \.age, sortDescriptors: [SortDescriptor(keyPath: "age", ascending: false)] + byName)
        expectTrue(byAge.allKeys == [2, 1] && lines(byAge) == ["2: apple,box", "1: banana"])
        expectEqual(dogs.first?.owners.sectioned(by: \.name).allKeys, ["nobody"])
        expectTrue(
            realm.objects(Person.self).sectioned(by: \.nick).allKeys == [nil]
                && realm.objects(Person.self).sectioned(by: \.mood).allKeys == [.calm])
    }

    @Test func valuesAreSectioned() throws {
        let tags = person.tags.sectioned(by: { String($0.prefix(1)) })
        expectEqual(tags.map { "\($0.key)\(Array($0))" }, [#"a["apple"]"#, #"b["banana", "box"]"#, #"c["chalk"]"#])
        expectEqual(person.tags.sectioned(by: { $0.count }, ascending: false).allKeys, [5, 3, 6])
        let scalars = try realm.write {
            realm.create(
                Scalars.self, value: ["_id": UUID(), "optionals": [3, nil, 4], "anySet": [1, "x", 2] as [Any]])
        }
        expectEqual(scalars.optionals.sectioned(by: { ($0 ?? 0) % 2 }).map { Array($0) }, [[nil, 4], [3]])
        expectEqual(scalars.anySet.sectioned(by: { $0.intValue != nil }).map(\.count), [2, 1])
    }

    @Test func sectionsAreLive() throws {
        let sections = byLetter
        let section = sections[1]
        expectTrue(sections.count == 3 && section.count == 2 && section[1].name == "box" && section.id == "b")
        expectTrue(sections[IndexPath(item: 1, section: 1)].name == "box" && sections.last?.first?.name == "chalk")
        try realm.write {
            realm.create(Dog.self, value: ["name": "bag"])
            expectTrue(section.count == 3 && sections.allKeys.count == 3)
            realm.delete(dogs.where { $0.name == "apple" })
            expectEqual(sections.allKeys, ["b", "c"])
        }
        expectTrue(
            lines(sections) == ["b: bag,banana,box", "c: chalk"] && section.map(\.name) == ["bag", "banana", "box"])
        expectTrue(sections.realm == realm && !sections.isInvalidated && !section.isFrozen)
        try realm.write { realm.delete(dogs) }
        expectTrue(sections.isEmpty && section.isEmpty)
        let listed = person.tags.sectioned(by: { $0 })
        try realm.write { realm.delete(person) }
        expectTrue(listed.isInvalidated && listed.isEmpty)
    }

    @Test func frozenSectionsStay() throws {
        let frozen = byLetter.freeze()
        let section = byLetter[0].freeze()
        let ofFrozen = dogs.freeze().sectioned(by: \.letter)
        try realm.write {
            for name in ["z", "alarm"] { realm.create(Dog.self, value: ["name": name]) }
        }
        for sections in [frozen, ofFrozen] {
            expectTrue(sections.isFrozen && sections.allKeys == ["a", "b", "c"])
            let thawed = try #require(sections.thaw())
            expectTrue(!thawed.isFrozen && thawed.allKeys == ["a", "b", "c", "z"])
        }
        expectTrue(section.map(\.name) == ["apple"] && section.first?.isFrozen == true)
        expectEqual(section.thaw()?.map(\.name), ["alarm", "apple"])
    }

    private static func text<C>(_ change: RealmSectionedResultsChange<C>, _ contents: (C) -> Int) -> String {
        switch change {
        case .initial(let collection): return "initial \(contents(collection))"
        case .update(let collection, let deletions, let insertions, let modifications, let inserted, let deleted):
            let rows = [deletions, insertions, modifications].map { paths in
                paths.map { "\($0.section).\($0.item)" }.joined(separator: ",")
            }
            return
                "\(contents(collection)) -[\(rows[0])] +[\(rows[1])] ~[\(rows[2])] +\(Array(inserted)) -\(Array(deleted))"
        }
    }

    @Test func sectionsReportPositions() async throws {
        let (all, b) = (ModelNotificationTests.Heard(), ModelNotificationTests.Heard())
        let tokens = [
            byLetter.observe(keyPaths: [\.name], on: queue) { all.hear(Self.text($0) { $0.count }) },
            byLetter[1].observe(on: queue) { b.hear(Self.text($0) { $0.count }) },
        ]
        defer { for token in tokens { token.invalidate() } }
        await expectTrue(all.ends(with: "initial 3"))
        await expectTrue(b.ends(with: "initial 2"))
        try realm.write { realm.delete(dogs.where { $0.name.in(["apple", "banana"]) }) }
        await expectTrue(all.ends(with: "2 -[1.0] +[] ~[] +[] -[0]"))
        await expectTrue(b.ends(with: "1 -[1.0] +[] ~[] +[] -[]"))
        // Neither what nobody observes, nor what the section has not.
        try realm.write { dogs.where { $0.name == "chalk" }.first?.age = 9 }
        try realm.write {
            realm.create(Dog.self, value: ["name": "app"])
            realm.create(Dog.self, value: ["name": "app"])
        }
        await expectTrue(all.ends(with: "3 -[] +[0.0,0.1] ~[] +[0] -[]"))
        try realm.write { dogs.where { $0.name == "box" }.first?.age = 10 }
        await expectTrue(b.ends(with: "1 -[] +[] ~[1.0] +[] -[]"))
        try realm.write { dogs.where { $0.name == "box" }.first?.name = "cat" }
        await expectTrue(all.ends(with: "2 -[] +[1.0] ~[] +[] -[1]"))
        await expectTrue(b.ends(with: "0 -[] +[] ~[] +[] -[1]"))
        try realm.write { realm.create(Dog.self, value: ["name": "bag"]) }
        await expectTrue(b.ends(with: "1 -[] +[1.0] ~[] +[1] -[]"))
        await expectTrue(all.ends(with: "3 -[] +[1.0] ~[] +[1] -[]"))
        expectTrue(all.all.count == 5 && b.all.count == 5)
    }

    @Test func sectionsOfValuesReportPositions() async throws {
        let heard = ModelNotificationTests.Heard()
        let token = person.tags.sectioned(by: { String($0.prefix(1)) }).observe(on: queue) {
            heard.hear(Self.text($0) { $0.count })
        }
        defer { token.invalidate() }
        await expectTrue(heard.ends(with: "initial 3"))
        try realm.write { person.tags.append(objectsIn: ["bag", "zoo"]) }
        await expectTrue(heard.ends(with: "4 -[] +[1.0,3.0] ~[] +[3] -[]"))
    }

    @MainActor @Test func anActorHearsOfSections() async throws {
        let heard = ModelNotificationTests.Heard()
        let token = await byLetter.observe(on: MainActor.shared) { _, change in
            heard.hear(Self.text(change) { $0.count })
        }
        await expectTrue(heard.ends(with: "initial 3"))
        token.invalidate()
    }
}

extension Dog {
    fileprivate var letter: String { String(name.prefix(1)) }
}

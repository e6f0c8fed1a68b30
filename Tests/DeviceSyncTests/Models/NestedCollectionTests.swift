import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Lists and dictionaries in values of any type, nested: unmanaged, live, frozen and copied.
@Suite(.hangGuard)
struct NestedCollectionTests {
    private let folder = Folder()
    private let realm: Realm
    private static var tree: AnyRealmValue {
        ["title": "plan", "steps": ["buy", ["cook", 2, ["deep": true]], .none], "empty": [:], "none": []]
    }

    init() throws { realm = try folder.models() }

    private func note(_ id: String = "a", _ content: AnyRealmValue = NestedCollectionTests.tree) throws -> Note {
        try realm.write { realm.create(Note.self, value: ["_id": id, "content": content]) }
    }

    /// Runs `body` with an unmanaged object and with one of the realm.
    private func both(_ body: (Note) throws -> Void) throws {
        try body(Note(value: ["_id": "unmanaged"]))
        try realm.write { try body(realm.create(Note.self, value: ["_id": "managed"])) }
    }

    @Test func collectionsChangeAlikeWhereverTheyAre() throws {
        try both { note in
            note.content = .fromDictionary(["steps": .fromArray(["a"]), "n": 1])
            let steps = try #require(note.content.dictionaryValue?["steps"]?.listValue)
            steps.append(objectsIn: ["b", .fromArray([1, 2])])
            steps[2].listValue?.append(.fromDictionary(["k": .none]))
            steps[2].listValue?[2].dictionaryValue?["k"] = .fromArray([3.5])
            steps.insert("first", at: 0)
            steps.swapAt(0, 1)
            note.content.dictionaryValue?["n"] = nil
            note.content.dictionaryValue?["new"] = [:]
            expectEqual(note.content, ["steps": ["a", "first", "b", [1, 2, ["k": [3.5]]]], "new": [:]])
            expectTrue(note.content["steps"]?[3]?[2]?["k"]?[0] == 3.5 && note.content["steps"]?[9] == nil)
            note.content.dictionaryValue?["steps"]?.listValue?[3] = 7
            note.content.dictionaryValue?["steps"]?.listValue?.remove(at: 0)
            expectEqual(note.content, ["steps": ["first", "b", 7], "new": [:]])

            note.list.append(["in": ["a", "list"]])
            note.list[0].dictionaryValue?["in"]?.listValue?.removeAll()
            note.list.insert([1], at: 0)
            note.list.move(from: 0, to: 1)
            expectEqual(Array(note.list), [["in": []], [1]])
            note.map["a"] = [["b": 1]]
            note.map["a"]?.listValue?[0].dictionaryValue?["b"] = 2
            expectEqual(note.map["a"], [["b": 2]])
            note.content = "text"
            expectTrue(note.content.stringValue == "text" && note.content.listValue == nil)
        }
    }

    @Test func embeddedObjectsHoldThemToo() throws {
        let note = try note()
        try realm.write {
            note.part = NotePart(value: ["content": ["a": [1]]])
            note.part?.content.dictionaryValue?["a"]?.listValue?.append(2)
        }
        expectEqual(note.part?.content, ["a": [1, 2]])
    }

    @Test func aLiveCollectionLastsAsLongAsItIsThere() throws {
        let note = try note()
        let steps = try #require(note.content["steps"]?.listValue)
        let deep = try #require(steps[1][2]?.dictionaryValue)
        expectTrue(steps.count == 3 && deep["deep"] == true && steps.realm == realm && !steps.isFrozen)
        try realm.write { deep["more"] = [1] }
        expectEqual(note.content["steps"]?[1]?[2], ["deep": true, "more": [1]])
        // A list that takes the place of the list is the same list.
        try realm.write { note.content.dictionaryValue?["steps"] = ["other"] }
        expectTrue(!steps.isInvalidated && Array(steps) == ["other"])
        expectTrue(deep.isInvalidated && deep.isEmpty && deep["deep"] == nil)
        try realm.write { note.content.dictionaryValue?["steps"] = ["a": 1] }
        expectTrue(steps.isInvalidated && steps.isEmpty && steps.first == nil)
        let map = try #require(note.content["steps"]?.dictionaryValue)
        try realm.write { note.content = .none }
        expectTrue(map.isInvalidated && map.count == 0 && map.keys.isEmpty)
        let list = try #require(try self.note("b").content["steps"]?.listValue)
        try realm.write { realm.delete(realm.objects(Note.self)) }
        expectTrue(list.isInvalidated && list.isEmpty)
    }

    @Test func assignedCollectionsAreCopied() throws {
        let template = List<AnyRealmValue>()
        template.append(objectsIn: [1, ["k": "v"]])
        let (first, second) = (try note("a", .list(template)), try note("b", .list(template)))
        expectTrue(template.realm == nil)
        template.append("later")
        try realm.write {
            first.content.listValue?.append("first")
            // A part of itself, and a part of another object.
            second.content = try #require(second.content[1])
            first.content.listValue?.append(second.content)
            first.list = try #require(first.content.listValue)
        }
        expectTrue(first.content == [1, ["k": "v"], "first", ["k": "v"]] && second.content == ["k": "v"])
        try realm.write { second.content.dictionaryValue?["k"] = 0 }
        expectTrue(first.content[3] == ["k": "v"] && Array(first.list) == [1, ["k": "v"], "first", ["k": "v"]])
        // Itself: nothing is done, and nothing is lost.
        let list = try #require(first.content.listValue)
        try realm.write { first.content = first.content }
        expectTrue(!list.isInvalidated && list.count == 4)
    }

    @Test func objectsAreMadeOfSwiftCollections() throws {
        let values: [String: Any] = [
            "_id": "a",
            "content": ["numbers": [1, 2.5, true] as [Any], "text": "x", "nested": [["a": [NSNull()]]]]
                as [String: Any],
            "list": [[1], ["k": 2]] as [Any], "map": ["a": [1, [2]] as [Any]],
        ]
        let unmanaged = Note(value: values)
        let managed = try realm.write { realm.create(Note.self, value: values) }
        for note in [unmanaged, managed] {
            expectEqual(note.content, ["numbers": [1, 2.5, true], "text": "x", "nested": [["a": [.none]]]])
            expectTrue(Array(note.list) == [[1], ["k": 2]] && note.map["a"] == [1, [2]])
        }
        // By name, and of collections of the SDK.
        let list = List<AnyRealmValue>()
        list.append(1)
        try realm.write {
            managed["content"] = ["x": list] as [String: Any]
            managed["list"] = [list, managed.map] as [Any]
        }
        expectTrue(managed.content == ["x": [1]] && Array(managed.list) == [[1], ["a": [1, [2]]]])
        // An object without a class of its own.
        let dynamic = try #require(realm.dynamicObject(ofType: "Note", forPrimaryKey: "a"))
        let any = try #require((dynamic["content"] as? AnyRealmValue)?.dictionaryValue)
        try realm.write {
            any["y"] = [["z"]]
            dynamic["map"] = ["b": dynamic["list"], "c": [managed.content]] as [String: Any?]
        }
        expectTrue(managed.content == ["x": [1], "y": [["z"]]] && managed.map["c"] == [["x": [1], "y": [["z"]]]])
    }

    @Test func anUnmanagedObjectIsAddedWithAllThatItHolds() throws {
        let note = Note(value: ["_id": "a"])
        note.content = Self.tree
        note.list.append(Self.tree)
        note.map["k"] = Self.tree
        try realm.write { realm.add(note) }
        let again = try #require(realm.object(ofType: Note.self, forPrimaryKey: "a"))
        expectTrue(again.content == Self.tree && Array(again.list) == [Self.tree] && again.map["k"] == Self.tree)
        // What the object shows from then on is the realm's.
        try realm.write { note.content.dictionaryValue?["title"] = "changed" }
        expectEqual(again.content["title"], "changed")
        let dog = Dog(value: ["name": "Rex"])
        try realm.write {
            realm.add(dog)
            note.content = [["dog": .object(dog)]]
        }
        expectEqual(again.content[0]?["dog"]?.object(Dog.self)?.name, "Rex")
        try realm.write { realm.delete(dog) }
        expectEqual(again.content, [["dog": .none]])
    }

    @Test func objectsAreCopiedBetweenRealms() throws {
        let other = Folder()
        let original = try note()
        let second = try other.models()
        let copy = try second.write { second.create(Note.self, value: original) }
        try realm.write { original.content.dictionaryValue?["title"] = "changed" }
        expectEqual(copy.content, Self.tree)
        let unmanaged = Note(value: copy)
        try second.write { copy.content = .none }
        expectTrue(unmanaged.content == Self.tree && unmanaged.content.dictionaryValue?.realm == nil)

        let file = folder.url.appendingPathComponent("copy.realm")
        let configuration = Realm.Configuration(fileURL: file, objectTypes: Folder.models)
        try realm.writeCopy(configuration: configuration)
        let copied = try Realm(configuration: configuration).objects(Note.self).first
        expectTrue(copied?.content["title"] == "changed" && copied?.content["steps"] == Self.tree["steps"])
    }

    @Test func frozenCollectionsStayAsTheyWere() throws {
        let note = try note()
        let frozen = note.freeze()
        let steps = try #require(note.content["steps"]?.listValue)
        let frozenSteps = steps.freeze()
        let frozenMap = try #require(note.content.dictionaryValue).freeze()
        try realm.write { note.content.dictionaryValue?["steps"]?.listValue?.removeAll() }
        expectTrue(frozen.content == Self.tree && frozen.content["steps"]?.listValue?.isFrozen == true)
        expectTrue(frozenSteps.count == 3 && frozenSteps[1][2] == ["deep": true] && frozenMap["steps"]?[0] == "buy")
        expectTrue(frozenSteps.thaw()?.isEmpty == true && frozenMap.thaw()?["title"] == "plan")
        try realm.write { note.content = 1 }
        expectTrue(frozenSteps.thaw() == nil && frozenMap.thaw() == nil && !frozenSteps.isInvalidated)
        expectEqual(frozen.thaw()?.content, 1)
    }

    @Test func aNestedListGoesToAnotherRealmByReference() throws {
        let note = try note()
        let steps = try #require(note.content["steps"]?.listValue)
        let (reference, second) = (ThreadSafeReference(to: steps), ThreadSafeReference(to: steps))
        let again = try folder.models()
        expectEqual(again.resolve(reference)?[1][2], ["deep": true])
        try realm.write { note.content = 1 }
        expectTrue(again.resolve(second) == nil)
    }

    @Test func valuesAreEqualThatHoldTheSame() throws {
        let note = try note()
        let unmanaged = Self.tree
        expectTrue(note.content == unmanaged && note.content.hashValue == unmanaged.hashValue)
        expectTrue(note.freeze().content == note.content && Set([note.content, unmanaged, 1, "1"]).count == 3)
        let values: [AnyRealmValue] = [.none, 0, false, 0.0, "", [], [:], [0], ["": 0], .float(0), [[]], [[:]]]
        for (index, value) in values.enumerated() {
            expectEqual(values.firstIndex(of: value), index)
        }
        expectTrue(
            AnyRealmValue.fromArray([1, 2]) != [2, 1] && AnyRealmValue.fromDictionary(["a": 1]) != ["a": 1, "b": 2])
    }

    @Test func unchangedContentIsNotWrittenByAnUpdate() throws {
        let note = try note()
        let version = realm.instance.core.snapshot.version
        try realm.write {
            realm.create(Note.self, value: ["_id": "a", "content": Self.tree], update: .modified)
        }
        expectTrue(realm.instance.core.snapshot.version == version && note.content == Self.tree)
    }

    @Test func aHundredLevelsFit() throws {
        var deep: AnyRealmValue = []
        for level in 1..<100 { deep = level.isMultiple(of: 2) ? [deep] : ["k": deep] }
        let note = try note("a", deep)
        expectEqual(note.content, deep)
    }
}

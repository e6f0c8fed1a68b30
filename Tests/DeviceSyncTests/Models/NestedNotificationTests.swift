import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// Notifications of changes inside of values of any type, and who hears of them.
@Suite(.hangGuard)
struct NestedNotificationTests {
    private let folder = Folder()
    private let realm: Realm
    private let note: Note
    private let queue = DispatchQueue(label: "test.nested")

    init() throws {
        realm = try folder.models()
        note = try realm.write { [realm] in
            realm.create(
                Note.self, value: ["_id": "a", "content": ["steps": ["a", ["b"]], "map": ["x": 1]] as AnyRealmValue])
        }
    }

    @Test func theObjectReportsItsProperty() async throws {
        let heard = ModelNotificationTests.Heard()
        let tokens = [
            note.observe(keyPaths: [\.content], on: queue) { (change: ObjectChange<Note>) in
                if case .change(let note, let properties) = change {
                    heard.hear("\(properties.map(\.name)) \(note.content["steps"]?.listValue?.count ?? 0)")
                }
            },
            realm.objects(Note.self).observe(on: queue) { change in
                switch change {
                case .initial: heard.hear("initial")
                case .update(_, _, _, let modifications): heard.hear("results \(modifications)")
                case .error: heard.hear("error")
                }
            },
        ]
        defer { for token in tokens { token.invalidate() } }
        await expectTrue(eventually { heard.all == ["initial"] })
        try realm.write { note.content["steps"]?[1]?.listValue?.append("c") }
        await expectTrue(eventually { Set(heard.all) == ["initial", #"["content"] 2"#, "results [0]"] })
        try realm.write { note.map["k"] = 1 }
        try realm.write { note.content["steps"]?.listValue?.append("d") }
        await expectTrue(eventually { heard.all.contains(#"["content"] 3"#) })
        expectEqual(heard.all.count { $0.hasPrefix("[") }, 2)
    }

    @Test func aNestedListReportsPositions() async throws {
        let heard = ModelNotificationTests.Heard()
        let steps = try #require(note.content["steps"]?.listValue)
        let token = steps.observe(on: queue) { change in
            switch change {
            case .initial(let list): heard.hear("initial \(list.count)")
            case .update(let list, let deletions, let insertions, let modifications):
                heard.hear("\(list.count) -\(deletions) +\(insertions) ~\(modifications)")
            case .error: heard.hear("error")
            }
        }
        defer { token.invalidate() }
        await expectTrue(heard.ends(with: "initial 2"))
        try realm.write { steps.insert("new", at: 1) }
        await expectTrue(heard.ends(with: "3 -[] +[1] ~[]"))
        // What is inside of an element is the element.
        try realm.write { steps[2].listValue?.append("c") }
        await expectTrue(heard.ends(with: "3 -[] +[] ~[2]"))
        try realm.write { note.content.dictionaryValue?["map"] = 1 }
        try realm.write { note.content.dictionaryValue?["steps"] = "no list" }
        await expectTrue(heard.ends(with: "0 -[0, 1, 2] +[] ~[]"))
        expectEqual(heard.all.count, 4)
    }

    @Test func aNestedDictionaryReportsKeys() async throws {
        let heard = ModelNotificationTests.Heard()
        let map = try #require(note.content["map"]?.dictionaryValue)
        let token = map.observe(on: queue) { change in
            switch change {
            case .initial(let map): heard.hear("initial \(map.keys)")
            case .update(_, let deletions, let insertions, let modifications):
                heard.hear("-\(deletions) +\(insertions) ~\(modifications)")
            case .error: heard.hear("error")
            }
        }
        defer { token.invalidate() }
        await expectTrue(heard.ends(with: #"initial ["x"]"#))
        try realm.write {
            map["x"] = [1]
            map["y"] = 2
        }
        await expectTrue(heard.ends(with: #"-[] +["y"] ~["x"]"#))
        try realm.write { map["x"]?.listValue?.append(2) }
        await expectTrue(heard.ends(with: #"-[] +[] ~["x"]"#))
        try realm.write { note.content.dictionaryValue?["map"] = [] }
        await expectTrue(heard.ends(with: #"-["x", "y"] +[] ~[]"#))
    }
}

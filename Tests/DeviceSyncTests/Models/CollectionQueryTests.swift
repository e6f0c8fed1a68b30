import Foundation
import TestSupport
import Testing

@testable import DeviceSync

private struct Weight: CustomPersistable {
    var grams: Int
    init(persistedValue: Int) { grams = persistedValue }
    var persistableValue: Int { grams }
}

private final class Box: TestObject {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted var numbers: List<Int>
    @Persisted var gaps: List<Int?>
    @Persisted var labels: MutableSet<String>
    @Persisted var moods: List<Mood>
    @Persisted var ranks: Map<String, Rank>
    @Persisted var prices: Map<String, Double>
    @Persisted var weight: Weight
    @Persisted var parts: List<Weight>
    @Persisted var bytes: Data
    @Persisted var mark: Data?
    @Persisted var rank: Rank
    @Persisted var best: Rank?
    @Persisted var name: String
    @Persisted var nick: String?
}

/// Typed queries of collections of values, of bytes, and of what enumerations and an app's own types are kept as.
@Suite(.hangGuard)
struct CollectionQueryTests {
    private let folder = Folder()
    private let boxes: Results<Box>

    init() throws {
        let realm = try Realm(configuration: Realm.Configuration(fileURL: folder.file, objectTypes: [Box.self]))
        try realm.write {
            realm.create(
                Box.self,
                value: [
                    "_id": 1, "numbers": [1, 5], "gaps": [3, nil], "labels": ["a", "b"], "moods": ["calm"],
                    "ranks": ["x": 1, "y": 3], "prices": ["x": 1.5, "y": 2], "weight": 250, "parts": [100, 150],
                    "bytes": Data([1, 2, 3]), "mark": Data([2]), "rank": 1, "best": 3, "name": "Grazer", "nick": "graz",
                ])
            realm.create(
                Box.self,
                value: [
                    "_id": 2, "numbers": [9], "gaps": [8], "labels": ["b"], "moods": ["angry", "happy"],
                    "ranks": ["x": 2], "prices": ["x": 7], "weight": 900, "parts": [900], "bytes": Data([9]),
                    "rank": 2, "name": "Linz",
                ])
        }
        boxes = realm.objects(Box.self)
    }

    private func ids(_ query: (Query<Box>) -> Query<Bool>) -> [Int] { boxes.where(query).map(\._id) }

    @Test func aCollectionIsComparedWithAnElement() {
        expectTrue(ids { $0.numbers == 5 } == [1] && ids { $0.numbers != 9 } == [1])
        expectTrue(ids { $0.numbers > 5 } == [2] && ids { $0.numbers >= 5 } == [1, 2])
        expectTrue(ids { $0.numbers < 5 } == [1] && ids { $0.numbers <= 1 } == [1])
        expectTrue(ids { $0.labels == "a" } == [1] && ids { $0.moods == .happy } == [2])
        expectTrue(ids { $0.gaps == nil } == [1] && ids { $0.gaps > 5 } == [2])
        expectEqual(ids { !($0.labels == "a") }, [2])
    }

    @Test func aCollectionIsWithinARange() {
        expectTrue(ids { $0.numbers.contains(1...5) } == [1] && ids { $0.numbers.contains(1..<5) }.isEmpty)
        expectTrue(ids { $0.gaps.contains(0...5) } == [1] && ids { $0.gaps.contains(0..<9) } == [1, 2])
        expectTrue(ids { $0.prices.contains(1.5...2) } == [1] && ids { $0.prices.contains(5..<8) } == [2])
    }

    @Test func whatIsKeptIsQueried() {
        expectTrue(ids { $0.moods.rawValue == "calm" } == [1] && ids { $0.moods.rawValue.contains("angry") } == [2])
        expectTrue(ids { $0.ranks.rawValue.values > 2 } == [1] && ids { $0.ranks.rawValue["x"] == 2 } == [2])
        expectTrue(ids { $0.weight.persistableValue > 500 } == [2] && ids { $0.parts.persistableValue == 150 } == [1])
        expectEqual(ids { $0.weight > Weight(persistedValue: 500) }, [2])
        expectTrue(
            ids { $0.rank < .middle } == [1] && ids { $0.rank >= .middle } == [2] && ids { $0.best > .low } == [1])
    }

    @Test func bytesAreComparedAndSearched() {
        expectTrue(ids { $0.bytes.contains(Data([2])) } == [1] && ids { $0.bytes.starts(with: Data([9])) } == [2])
        expectTrue(ids { $0.bytes.ends(with: Data([2, 3])) } == [1] && ids { $0.mark.equals(Data([2])) } == [1])
        expectTrue(ids { $0.bytes > Data([5]) } == [2] && ids { $0.bytes == Data([9]) } == [2])
        expectEqual(ids { $0.bytes.contains($0.mark) }, [1])
    }

    @Test func aTextIsComparedWithAnother() {
        expectEqual(ids { $0.name.starts(with: $0.nick, options: .caseInsensitive) }, [1])
        expectTrue(ids { $0.name.starts(with: $0.nick) }.isEmpty && ids { $0.name.contains($0.nick) }.isEmpty)
        expectEqual(ids { $0.name.contains($0.nick, options: .caseInsensitive) }, [1])
        expectEqual(ids { $0.name.notEquals($0.nick) }, [1, 2])
    }
}

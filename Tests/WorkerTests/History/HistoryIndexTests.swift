import Changesets
import Merge
import SyncModel
import TestSupport
import Testing

@testable import Worker

struct HistoryIndexTests {
    private func touches(_ keys: UInt32...) -> Touches { Touches(keys: keys.sorted()) }

    private func found(
        _ index: HistoryIndex, _ keys: [UInt32], after version: ServerVersion = 0, notBy origin: FileIdent = 0
    ) -> [ServerVersion] {
        var found: [ServerVersion] = []
        index.collect(keys, after: version, notBy: origin, into: &found)
        return Set(found).sorted()
    }

    @Test func aKeyLeadsToTheVersionsThatTouchIt() {
        var index = HistoryIndex(after: 10)
        index.append(origin: 2, touches(1, 2))
        index.append(origin: 3, touches(2, 3))
        index.append(origin: 2, touches(3))
        expectEqual(found(index, [2]), [11, 12])
        expectEqual(found(index, [2, 3], after: 11), [12, 13])
        expectEqual(found(index, [2, 3], notBy: 2), [12])
        expectEqual(found(index, [9]), [])
    }

    @Test func schemaErasuresAreFoundForEveryKey() {
        var index = HistoryIndex(after: 0)
        index.append(origin: 2, Touches(keys: [], isDestructive: true))
        index.append(origin: 3, touches(1))
        expectEqual(found(index, [7]), [1])
        expectEqual(found(index, [7], notBy: 2), [])
        expectEqual(found(index, [7], after: 1), [])
    }

    @Test func manyKeysInManySegmentsAreAllFoundAndTheOldestGoFirst() {
        var index = HistoryIndex(after: 0)
        let versions: UInt32 = 30_000
        for version in 1...versions { index.append(origin: 2, touches(version &* 7919, version % 1_000)) }
        for version in [1, 999, 15_000, versions] as [UInt32] {
            expectTrue(found(index, [version &* 7919]).contains(ServerVersion(UInt64(version))))
        }
        expectEqual(found(index, [5], after: 29_000), [29_005])
        let bytes = index.bytes
        index.trim(to: bytes / 2)
        expectTrue(index.bytes <= bytes / 2)
        expectTrue(index.base > 0)
        expectEqual(found(index, [versions &* 7919]), [ServerVersion(UInt64(versions))])
        expectEqual(found(index, [5], after: 29_000), [29_005])
    }

    @Test func olderVersionsArePutInFront() {
        var index = HistoryIndex(after: 2)
        index.append(origin: 2, touches(1))
        var older = IndexSegment(after: 0)
        older.append(origin: 2, touches(1))
        older.append(origin: 2, touches(4))
        index.prepend(older)
        expectEqual(index.base, 0)
        expectEqual(found(index, [1]), [1, 3])
        // A segment that does not end where the others begin would leave a hole.
        index.prepend(IndexSegment(after: 7))
        expectEqual(index.base, 0)
    }

    @Test func aSoleAuthorIsKnown() {
        var index = HistoryIndex(after: 5)
        expectTrue(!index.isAll(by: 2, after: 0))
        index.append(origin: 2, touches(1))
        expectTrue(index.isAll(by: 2, after: 5))
        expectTrue(!index.isAll(by: 2, after: 4))
        index.append(origin: 3, touches(1))
        expectTrue(!index.isAll(by: 2, after: 5))
        expectTrue(index.isAll(by: 3, after: 6))
    }

    @Test func digestsSayWhatTheyWereGiven() throws {
        let versions: [(origin: FileIdent, touches: Touches)] = [
            (2, touches(1, 0xffff_ffff)), (FileIdent(1 << 40), Touches(keys: [], isDestructive: true)), (3, touches()),
        ]
        var body: [UInt8] = []
        for (origin, touches) in versions { DigestCoding.append(origin: origin, touches, to: &body) }
        let decoded = try #require(DigestCoding.decode(body))
        expectEqual(decoded.map(\.origin), versions.map(\.origin))
        expectEqual(decoded.map(\.touches), versions.map(\.touches))
        expectTrue(DigestCoding.decode(Array(body.dropLast())) == nil)
        expectTrue(DigestCoding.decode([2, 0xff, 0xff, 0x7f]) == nil)
    }

    @Test func differentObjectsClassesAndColumnsAreDifferentKeys() throws {
        let changesets = try [
            Changes.create(1), Changes.create(2), Changes.schema(), Changes.set(1, title: "x"), Changes.erase(1),
        ].map { try Changeset(parsing: $0) }
        let touches = changesets.map { Touches(of: CollectionOfOne($0)) }
        expectEqual(touches[0].keys.count, 1)
        expectTrue(touches[0] != touches[1])
        expectEqual(touches[2].keys.count, 3)
        expectEqual(touches[3], touches[0])
        expectEqual(touches[4], touches[0])
        expectEqual(Touches(of: changesets).keys.count, 5)
    }
}

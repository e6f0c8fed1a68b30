import Storage
import SyncModel
import TestSupport
import Testing

/// The realms that leave their slices, and the numbers under which they arrive.
struct RealmDivisionTests {
    private static let counts = [(1, 2), (3, 7), (8, 16)]

    private func realms(_ number: Int, in slice: SliceNumber, of count: SliceCount) -> [StoredRealm] {
        (0..<10_000).lazy.map { RealmName(app: "tasks", partition: "\"p\($0)\"") }
            .filter { $0.slice(of: count) == slice }.prefix(number).enumerated()
            .map { StoredRealm(id: RealmID(Int64($0.offset + 1)), name: $0.element, bytes: 1_000) }
    }

    @Test(arguments: counts) func realmsGoToNewSlicesOnly(from: Int, to: Int) throws {
        let (old, new) = (try #require(SliceCount(from)), try #require(SliceCount(to)))
        var division = RealmDivision(among: new)
        var moving = 0
        for slice in old.all {
            for (target, chunks) in division.moves(of: realms(200, in: slice, of: old), in: slice) {
                expectTrue(target.value >= from)
                moving += chunks.joined().count
            }
        }
        let share = Double(moving) / Double(200 * from)
        expectTrue(abs(share - Double(to - from) / Double(to)) < 0.15)
        expectEqual(division.realms.values.reduce(0, +), moving)
    }

    @Test func numbersAreTheSameHoweverRealmsArePaged() throws {
        let (old, new) = (try #require(SliceCount(2)), try #require(SliceCount(5)))
        func numbers(_ pageSize: Int) -> [SliceNumber: [RealmMove]] {
            var division = RealmDivision(among: new)
            var found: [SliceNumber: [RealmMove]] = [:]
            for slice in old.all {
                var left = realms(300, in: slice, of: old)[...]
                while !left.isEmpty {
                    for (target, chunks) in division.moves(of: Array(left.prefix(pageSize)), in: slice) {
                        found[target, default: []] += chunks.joined()
                    }
                    left = left.dropFirst(pageSize)
                }
            }
            return found
        }
        let whole = numbers(1_000)
        expectEqual(whole, numbers(7))
        for moves in whole.values {
            expectEqual(moves.map(\.new.value), (1...moves.count).map(Int64.init))
        }
    }

    @Test func aChunkIsBoundedAndHasAtLeastOneRealm() {
        let moves = (1...1_200).map { number in
            RealmMove(
                old: RealmID(Int64(number)), new: RealmID(Int64(number)), bytes: number == 700 ? 1 << 40 : 1_000)
        }
        let chunks = RealmMove.chunks(moves)
        expectEqual(Array(chunks.joined()), moves)
        expectTrue(chunks.allSatisfy { !$0.isEmpty && $0.count <= 500 })
        expectEqual(chunks.first { $0.contains { $0.old == RealmID(700) } }?.count, 1)
    }

    @Test func growthTextIsReadBackAndMalformedTextRefused() throws {
        let growth = SliceGrowth(
            from: try #require(SliceCount(8)), to: try #require(SliceCount(16)), step: .clearing)
        try expectEqual(SliceGrowth(growth.text), growth)
        expectEqual(growth.newSlices, (8..<16).map { SliceNumber($0) })
        for text in ["", "8 16", "8 16 sleeping", "16 8 copying", "8 99999 copying", "a b copying"] {
            #expect(throws: StoreError.self) { try SliceGrowth(text) }
        }
    }

    @Test func aTableThatNobodyKnowsIsRefused() throws {
        try expectEqual(
            SliceTable(StoredTable(name: "subscriptions", columns: ["realm", "ident"])), .ofRealms(column: "realm"))
        #expect(throws: StoreError.self) { try SliceTable(StoredTable(name: "novelties", columns: ["app"])) }
    }
}

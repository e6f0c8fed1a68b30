import Changesets
import Merge
import SeededRandom
import TestSupport
import Testing

/// Lists whose elements both sides change inside come out as a whole exactly as operation by operation.
@Suite struct ListsOfObjectsMergeTests {
    /// A list of objects, each with a number, a list, a set and another list of objects with numbers.
    private struct Model {
        struct Element {
            var listCount: UInt32 = 2
            var objectCount: UInt32 = 2
        }

        var elements: [Element]
        /// Whether elements are moved and cleared, and now and then the whole list.
        var hasMoves = false

        mutating func edit(_ marker: Int64, _ random: inout SeededGenerator) -> Instruction {
            let size = UInt32(elements.count)
            let index = UInt32.random(in: 0...size, using: &random)
            guard index < size, Int.random(in: 0..<6, using: &random) > 0 else {
                elements.insert(Element(listCount: 0, objectCount: 0), at: Int(index))
                return .insert(.at("l", .index(index)), .objectValue, of: size)
            }
            func at(_ path: PathElement...) -> FieldPath {
                var field = FieldPath.at("l", .index(index))
                for step in path { field.path.append(step) }
                return field
            }
            let element = elements[Int(index)]
            switch Int.random(in: 0..<(hasMoves ? 16 : 12), using: &random) {
            case 0:
                elements.remove(at: Int(index))
                return .remove(.at("l", .index(index)), of: size)
            case 1:
                elements[Int(index)] = Element(listCount: 0, objectCount: 0)
                return .set(.at("l", .index(index)), .objectValue, of: size)
            case 2:
                elements[Int(index)] = Element(listCount: 0, objectCount: 0)
                return .set(.at("l", .index(index)), .int(marker), of: size)
            case 3: return .set(at("x"), .int(marker))
            case 4: return .add(at("x"), marker)
            case 5: return .setInsert(at("s"), value: .int(marker % 3))
            case 6: return .setErase(at("s"), value: .string(marker % 2 == 0 ? "a" : "b"))
            case 7 where element.listCount > 0:
                elements[Int(index)].listCount -= 1
                return .remove(at("d", 0), of: element.listCount)
            case 8 where element.objectCount > 0:
                elements[Int(index)].objectCount -= 1
                return .remove(at("e", 0), of: element.objectCount)
            case 9 where element.objectCount > 1: return .set(at("e", 1, "x"), .int(marker))
            case 10 where element.listCount > 1: return .move(at("d", 0), to: 1, of: element.listCount)
            case 12...14 where size > 1:
                let to = (index + .random(in: 1..<size, using: &random)) % size
                elements.insert(elements.remove(at: Int(index)), at: Int(to))
                return .move(.at("l", .index(index)), to: to, of: size)
            case 15:
                guard Int.random(in: 0..<4, using: &random) == 0 else {
                    return .clear(.at("l", .index(index)), collection: .list)
                }
                elements = []
                return .clear(.at("l"), collection: .list)
            case 11:
                elements[Int(index)].listCount = 0
                return .clear(at("d"), collection: .list)
            default:
                elements[Int(index)].listCount += 1
                return .insert(
                    at("d", .index(.random(in: 0...element.listCount, using: &random))), .int(marker),
                    of: element.listCount)
            }
        }
    }

    private static func merge(
        _ local: [LocalChangeset], _ incoming: [IncomingChangeset], _ search: ConflictSearch,
        _ compatibility: PeerCompatibility
    ) -> Result<TransformResult, MergeError> {
        Result { () throws(MergeError) in
            try MergeEngine(compatibility: compatibility, search: search).transform(
                incoming: incoming, over: local, currentLocalVersion: UInt64(local.count))
        }
    }

    @Test(arguments: seedRanges(20, of: 50))
    func changesInsideElementsComeOutExactly(seeds: Range<UInt64>) throws {
        var merged = 0
        for seed in seeds {
            var random = SeededGenerator(seed: seed)
            let base = Model(
                elements: (0..<Int.random(in: 0...5, using: &random)).map { _ in Model.Element() },
                hasMoves: seed % 2 == 0)
            var (left, right) = (base, base)
            var (local, others): ([LocalChangeset], [IncomingChangeset]) = ([], [])
            for rank in 1...UInt64.random(in: 2...24, using: &random) {
                // Now and then both sides' clocks agree.
                let time = rank - rank % (seed / 2 % 2 + 1)
                if Bool.random(using: &random) {
                    let edit = left.edit(Int64(rank) + 100, &random)
                    local.append(
                        LocalChangeset(
                            version: UInt64(local.count + 1), originTimestamp: time, originFileIdent: 2,
                            changeset: changeset([edit])))
                } else {
                    let edit = right.edit(Int64(rank) + 200, &random)
                    others.append(
                        IncomingChangeset(
                            version: UInt64(others.count + 1), lastIntegratedLocalVersion: 0, originTimestamp: time,
                            originFileIdent: 3, changeset: changeset([edit])))
                }
            }
            for compatibility in [PeerCompatibility.convergent, .stockClients] {
                let exact = Self.merge(local, others, .exhaustive, compatibility)
                // Assigning an object to an element is nothing that our recorder does: some histories are refused, either way.
                for search in [ConflictSearch.indexedWithWholeLists, .indexedWithListPairs] {
                    let byItself = Self.merge(local, others, search, compatibility)
                    expectEqual((try? byItself.get()), (try? exact.get()), "seed \(seed), \(compatibility), \(search)")
                }
                if case .success = exact { merged += 1 }
            }
        }
        expectTrue(merged > seeds.count)
    }
}

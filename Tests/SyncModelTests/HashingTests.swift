import SyncModel
import TestSupport
import Testing

@Suite struct HashingTests {
    @Test(
        arguments: [
            ("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8),
        ] as [(String, UInt64)])
    func fnvMatchesItsPublishedVectors(text: String, hash: UInt64) {
        expectEqual(FNV1a.hash64(text.utf8), hash)
    }

    @Test func jumpHashSpreadsEvenlyAndStaysInRange() {
        var counts = [Int](repeating: 0, count: 8)
        for index in 0..<8000 { counts[JumpHash.bucket(of: FNV1a.hash64("realm \(index)".utf8), buckets: 8)] += 1 }
        expectTrue(counts.allSatisfy { (850...1150).contains($0) }, "\(counts)")
    }

    @Test func jumpHashMovesKeysOnlyToTheNewBucket() {
        for index in 0..<2000 {
            let key = FNV1a.hash64("realm \(index)".utf8)
            let before = JumpHash.bucket(of: key, buckets: 7)
            let after = JumpHash.bucket(of: key, buckets: 8)
            expectTrue(after == before || after == 7)
        }
    }

    @Test func jumpHashSurvivesTheLargestKey() {
        expectTrue((0..<4096).contains(JumpHash.bucket(of: .max, buckets: 4096)))
        expectEqual(JumpHash.bucket(of: .max, buckets: 1), 0)
    }

    @Test func rendezvousMovesOnlyTheSlicesOfAWorkerThatLeft() {
        let workers = ["worker-1", "worker-2", "worker-3"]
        for number in 0..<64 {
            let slice = SliceNumber(number)
            let ranking = Rendezvous.ranking(of: workers, for: slice)
            let without = Rendezvous.ranking(of: workers.filter { $0 != ranking[2] }, for: slice)
            expectEqual(Array(ranking.prefix(2)), without)
        }
    }

    @Test func rendezvousDividesSlicesFairly() {
        var counts: [String: Int] = [:]
        for number in 0..<300 {
            let first = Rendezvous.ranking(of: ["a", "b", "c"], for: SliceNumber(number)).first ?? ""
            counts[first, default: 0] += 1
        }
        expectTrue(counts.values.allSatisfy { $0 > 60 }, "\(counts)")
    }

    @Test func rendezvousIgnoresTheOrderOfWorkers() {
        let slice = SliceNumber(3)
        expectEqual(
            Rendezvous.ranking(of: ["a", "b", "c"], for: slice), Rendezvous.ranking(of: ["c", "a", "b"], for: slice))
    }
}

import Changesets
import SeededRandom
import SyncModel
import Testing

@testable import Views

/// What a client's writes to objects count while compensating writes about them are on their way to it.
@Suite struct PutRightTests {
    @Test func settledCompensationsMakeNoDifference() {
        for seed in UInt64(1)...300 {
            var random = SeededGenerator(seed: seed)
            var views = ClientViews()
            var kept = PutRight([])
            var all: [CompensatingWrite] = []
            var settled: UInt64 = 0
            let count = UInt64(1 + random.below(40))
            for version in 1...count {
                let compensation = random.compensation(ServerVersion(version)) {
                    ObjectAddress("Item", .int(Int64($0.below(4))))
                }
                all.append(compensation)
                views.add(compensation)
                kept.add(compensation)
                guard random.below(10) == 0 else { continue }
                settled = version - UInt64(random.below(Int(version - settled) + 1))
                views.settle(ServerVersion(settled))
            }
            let remembered = PutRight(views.compensations)
            for base in settled...count {
                for key in Int64(0)..<4 {
                    let address = ObjectAddress("Item", .int(key))
                    let expected = standing(of: address, for: base, by: all)
                    let found = [remembered, kept].map { $0.standing(of: address, for: ServerVersion(base)) }
                    guard found == [expected, expected] else {
                        Issue.record("seed \(seed): \(key) at \(base) is \(found), expected \(expected as Any): \(all)")
                        return
                    }
                }
            }
        }
    }

    private func standing(of address: ObjectAddress, for base: UInt64, by all: [CompensatingWrite]) -> PutRight
        .Standing?
    {
        let unseen = all.filter { $0.version.rawValue > base && $0.objects.contains(address) }
        if unseen.isEmpty { return nil }
        let isRefused = unseen.contains { $0.refused.contains { ObjectAddress($0.className, $0.key) == address } }
        return isRefused ? .refused : .renewed
    }
}

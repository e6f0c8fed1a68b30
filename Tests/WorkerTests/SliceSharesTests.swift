import SyncModel
import TestSupport
import Testing

@testable import Worker

/// The choice of whose turn it is, by what was taken and by the time.
@Suite struct SliceSharesTests {
    private let heavy = RealmName(app: "heavy", partition: "\"h\"")
    private let light = RealmName(app: "light", partition: "\"l\"")

    /// A reference, so that expectations can ask.
    private final class Shares {
        private var shares: SliceShares

        init() {
            var limits = WorkerLimits()
            limits.mergeStepsPerRealm = 1_000_000
            limits.mergeStepsPerApp = 1_000_000
            shares = SliceShares(limits)
        }

        func begin(_ waiting: Set<RealmName>, crowded: Bool = false, at time: UInt64) -> Bool {
            shares.beginBatch(waiting: waiting, hasOthers: false, isCrowded: crowded, at: time)
        }

        func mayGo(_ realm: RealmName?, app: String?) -> Bool { shares.mayGo(realm, app: app) }
        func took(_ steps: UInt64, for realm: RealmName) { shares.took(steps, for: realm) }
        func leave(_ realm: RealmName) { shares.leave(realm) }
        func owes(milliseconds: UInt64, _ realm: RealmName) { shares.owes(milliseconds: milliseconds, realm) }
    }

    @Test func oneThatIsAloneNeverWaits() {
        let shares = Shares()
        for time in 0..<100 as Range<UInt64> {
            expectTrue(shares.begin([heavy], at: time))
            expectTrue(shares.mayGo(heavy, app: nil))
            shares.took(50_000_000, for: heavy)
            expectTrue(!shares.mayGo(heavy, app: nil))
        }
    }

    @Test func whatHoldsUpTheDiskLeavesTheSliceToTheOthers() {
        let shares = Shares()
        expectTrue(shares.begin([heavy, light], at: 0))
        shares.owes(milliseconds: 2_000, heavy)
        for time in stride(from: 10, to: 1_980 as UInt64, by: 10) {
            expectTrue(shares.begin([heavy, light], at: time))
            expectTrue(!shares.mayGo(heavy, app: nil) && shares.mayGo(light, app: nil))
        }
        expectTrue(shares.begin([heavy, light], at: 2_000))
        expectTrue(shares.mayGo(heavy, app: nil))
        // Alone, nobody waits for a slow disk.
        shares.owes(milliseconds: .max, heavy)
        expectTrue(shares.begin([heavy], at: 20_000))
        expectTrue(shares.mayGo(heavy, app: nil))
    }

    @Test func whoHasWrittenMostOwesForASlowCommit() {
        func owed(_ heavyBytes: Int, _ lightBytes: Int, _ time: Duration) -> [RealmName: UInt64] {
            var toll = CommitToll()
            toll.wrote(heavyBytes, for: heavy)
            toll.wrote(lightBytes, for: light)
            return Dictionary(uniqueKeysWithValues: toll.owed(after: time).map { ($0.realm, $0.milliseconds) })
        }
        expectEqual(owed(9_000_000, 1_000, .seconds(2)).mapValues { $0 / 100 }, [heavy: 159])
        expectEqual(owed(3_000_000, 1_000_000, .seconds(1)), [heavy: 6_000, light: 2_000])
        // Something else keeps the disk busy.
        expectEqual(owed(300_000, 1_000, .seconds(60)), [heavy: 2_400])
        expectEqual(owed(100_000, 0, .seconds(60)), [:])
        expectEqual(owed(0, 0, .seconds(60)), [:])
    }

    /// A turn costs what waits in it: one message a turn would cost the square of a backlog.
    @Test func oneThatIsAloneHasAWholeShareInEachTurn() {
        let shares = Shares()
        let realms = Set((0..<50).map { RealmName(app: "heavy", partition: "\"\($0)\"") })
        for time in 0..<100 as Range<UInt64> {
            expectTrue(shares.begin(realms, at: time))
            var gone = 0
            for realm in realms where shares.mayGo(realm, app: nil) {
                shares.took(100_000, for: realm)
                gone += 1
            }
            expectEqual(gone, 10)
        }
    }

    @Test func oneInCompanyGetsAPartOfTheTime() {
        let shares = Shares()
        var gone: [UInt64] = []
        for time in stride(from: 0, to: 10_000 as UInt64, by: 10) {
            expectTrue(shares.begin([heavy, light], at: time))
            if shares.mayGo(heavy, app: nil) {
                // As much as is merged in 15 ms.
                shares.took(5_000_000, for: heavy)
                gone.append(time)
            }
            expectTrue(shares.mayGo(light, app: nil))
            shares.took(40_000, for: light)
        }
        // A fifth of 10 s.
        expectTrue((110...130).contains(gone.count))
    }

    @Test func oneThatOwesMuchWaitsAlsoWhereOthersHaveNothingNow() {
        let shares = Shares()
        expectTrue(shares.begin([heavy, light], at: 0))
        shares.took(40_000, for: light)
        shares.took(1_000_000_000, for: heavy)
        expectTrue(!shares.begin([heavy], at: 4_000))
        // Nobody else has had any for five seconds.
        expectTrue(shares.begin([heavy], at: 5_001))
    }

    /// A slice is not idle while a backlog waits, and is free for others within milliseconds.
    @Test func oneThatOwesLittleGoesOnInShortTurnsWhereOthersHaveNothingNow() {
        let shares = Shares()
        expectTrue(shares.begin([heavy, light], at: 0))
        shares.took(40_000, for: light)
        var gone: [Int] = []
        for time in 0..<200 as Range<UInt64> {
            expectTrue(shares.begin([heavy], at: time))
            gone.append(0)
            while shares.mayGo(heavy, app: nil) {
                shares.took(100_000, for: heavy)
                gone[gone.count - 1] += 1
            }
        }
        expectEqual(gone[0], 10)
        // No turn is empty, nor longer than a quarter of a share and the message that goes beyond.
        expectTrue(gone.dropFirst().allSatisfy { (1...4).contains($0) }, "\(gone)")
        // Others go first.
        expectTrue(shares.begin([heavy, light], at: 199))
        expectTrue(!shares.mayGo(heavy, app: nil) && shares.mayGo(light, app: nil))
    }

    @Test func nobodyWaitsWhereNoMoreAreTaken() {
        let shares = Shares()
        expectTrue(shares.begin([heavy, light], at: 0))
        shares.took(40_000, for: light)
        shares.took(1_000_000_000, for: heavy)
        expectTrue(!shares.begin([heavy], at: 10))
        expectTrue(shares.begin([heavy], crowded: true, at: 20))
        expectTrue(shares.mayGo(heavy, app: nil))
    }

    @Test func messagesBehindOneLeftWaitForTheNextTurn() {
        let shares = Shares()
        expectTrue(shares.begin([heavy, light], at: 0))
        shares.leave(heavy)
        expectTrue(!shares.mayGo(heavy, app: nil))
        expectTrue(!shares.mayGo(nil, app: "heavy"))
        expectTrue(shares.mayGo(nil, app: "light") && shares.mayGo(light, app: nil))
        expectTrue(shares.begin([heavy, light], at: 1))
        expectTrue(shares.mayGo(heavy, app: nil) && shares.mayGo(nil, app: "heavy"))
    }
}

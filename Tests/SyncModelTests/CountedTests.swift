import SyncModel
import TestSupport
import Testing

@Suite struct CountedTests {
    @Test func oneIsOneAndAllElseAreSeveral() {
        expectEqual(
            [0, 1, 2, 11, 101].map { $0.counted("slice") },
            ["0 slices", "1 slice", "2 slices", "11 slices", "101 slices"])
        expectEqual(UInt64(1).counted("dead letter"), "1 dead letter")
    }

    @Test func namesThatTakeNoSAreGivenWhole() {
        expectEqual([1, 2].map { $0.counted("policy", "policies") }, ["1 policy", "2 policies"])
        expectEqual([1, 2].map { $0.counted("slice has", "slices have") }, ["1 slice has", "2 slices have"])
    }
}

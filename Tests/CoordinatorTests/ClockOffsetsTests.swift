import TestSupport
import Testing

@testable import Coordinator

@Suite struct ClockOffsetsTests {
    @Test func whatTookLeastToArriveTellsTheOffset() {
        var clocks = ClockOffsets()
        clocks.heard("w1", saying: 1_009_000, isStaying: true, at: 1_000_000)
        clocks.heard("w1", saying: 1_012_000, isStaying: true, at: 1_002_000)
        clocks.heard("w2", saying: 1_000_000, isStaying: true, at: 1_004_000)
        clocks.heard("w2", saying: 1_005_990, isStaying: true, at: 1_006_000)
        expectEqual(clocks.seconds(at: 1_006_000), [["w1"]: 9, ["w2"]: -0.01])
    }

    @Test func aClockThatIsPutForwardShowsWithinTwoWindows() {
        var clocks = ClockOffsets()
        var now: UInt64 = 1_000_000
        for _ in 0..<10 {
            clocks.heard("w", saying: now - 5, isStaying: true, at: now)
            now += 2_000
        }
        expectEqual(clocks.seconds(at: now), [["w"]: -0.005])
        for _ in 0..<31 {
            clocks.heard("w", saying: now + 10_000, isStaying: true, at: now)
            now += 2_000
        }
        expectEqual(clocks.seconds(at: now), [["w"]: 10])
    }

    @Test func ofProcessesThatAreSilentOrHaveEndedNothingIsKnown() {
        var clocks = ClockOffsets()
        clocks.heard("silent", saying: 9, isStaying: true, at: 1_000)
        clocks.heard("ended", saying: 20_000, isStaying: true, at: 20_000)
        clocks.heard("ended", saying: 20_000, isStaying: false, at: 20_000)
        expectTrue(clocks.seconds(at: 20_000).isEmpty)
    }

    @Test func timesFromAnywhereAreTaken() {
        var clocks = ClockOffsets()
        clocks.heard("far", saying: .max, isStaying: true, at: 1)
        clocks.heard("back", saying: 0, isStaying: true, at: .max)
        clocks.heard("back", saying: 0, isStaying: true, at: 5)
        expectTrue((clocks.seconds(at: 5)[["far"]] ?? 0) > 1e15)
        expectEqual(clocks.seconds(at: 5)[["back"]], -0.005)
    }

    @Test func ofTooManyProcessesThoseFurthestOffAreToldOf() {
        var clocks = ClockOffsets()
        for number in 0..<3_000 {
            let now = UInt64(10_000 + number)
            clocks.heard("w\(number)", saying: now + UInt64(number), isStaying: true, at: now)
        }
        let seconds = clocks.seconds(at: 13_000)
        expectEqual(seconds.count, ClockOffsets.maxShown)
        expectEqual(seconds.values.max(), 2.999)
        expectTrue((seconds.values.min() ?? 0) > 2.7)
    }
}

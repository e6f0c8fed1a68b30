import AdminAPI
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

@Suite struct SliceFiguresTests {
    private func slice(_ number: Int, owner: String?, ready: Int?, oldestAt: UInt64? = nil) -> SliceDocument {
        var slice = SliceDocument(slice: SliceNumber(number))
        slice.owner = owner
        slice.ready = ready
        slice.oldestAt = oldestAt
        slice.unacknowledged = owner == nil ? nil : 4
        slice.inPerSecond = ready.map { Double($0) / 2 }
        slice.perSecond = owner == nil ? nil : 1.5
        return slice
    }

    @Test func whatIsNotKnownOfASliceIsLeftOut() {
        let figures = SliceFigures(
            [
                slice(0, owner: "w", ready: nil), slice(1, owner: nil, ready: 9),
                slice(2, owner: "w", ready: 0, oldestAt: 500),
            ], at: 3_000)
        expectEqual(figures.ready, [["1"]: 9, ["2"]: 0])
        expectEqual(figures.unacknowledged, [["0"]: 4, ["2"]: 4])
        expectEqual(figures.inPerSecond, [["1"]: 4.5, ["2"]: 0])
        expectEqual(figures.outPerSecond, [["0"]: 1.5, ["2"]: 1.5])
        // An owner that holds nothing is not behind.
        expectEqual(figures.oldestSeconds, [["0"]: 0, ["2"]: 2.5])
    }

    @Test func ofTooManySlicesThoseFurthestBehindAreShown() {
        let slices = (0..<300).map { slice($0, owner: "w", ready: $0, oldestAt: UInt64(1_000 - $0)) }
        let figures = SliceFigures(slices, at: 2_000)
        expectEqual(figures.ready.count, SliceFigures.maxSlices)
        expectEqual(figures.oldestSeconds[["299"]], 1.299)
        expectTrue(figures.ready[["49"]] == nil && figures.ready[["50"]] == 50)
    }
}

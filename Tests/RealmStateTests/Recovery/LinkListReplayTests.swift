import Changesets
import TestSupport
import Testing

@testable import RealmState

/// Recovery of lists of links: they begin as 1 2 3, with 4 and 5 to spare.
struct LinkListReplayTests {
    typealias Edit = @Sendable (inout RecordingTransaction) throws -> Void

    struct Line: CustomTestStringConvertible, Sendable {
        var name: String
        var here: Edit
        var there: Edit
        var expected: [Int64]
        var testDescription: String { name }

        init(_ name: String, here: @escaping Edit = { _ in }, there: @escaping Edit = { _ in }, _ expected: [Int64]) {
            self.name = name
            self.here = here
            self.there = there
            self.expected = expected
        }
    }

    static let lines: [Line] = [
        Line("F1", [1, 2, 3]),
        Line("F2", there: { try $0.clearList() }, []),
        Line("F3", here: { try $0.clearList() }, []),
        Line("F5", here: { try $0.drop(1) }, [2, 3]),
        Line("F6", here: { try $0.drop(2) }, [1, 3]),
        Line("F7", here: { try $0.drop(3) }, [1, 2]),
        Line("F8", there: { try $0.drop(1) }, [2, 3]),
        Line("F12", here: { try $0.drop(1) }, there: { try $0.drop(3) }, [2, 3]),
        Line("F13", here: { try $0.add(4) }, [1, 2, 3, 4]),
        Line("F14", there: { try $0.add(4) }, [1, 2, 3, 4]),
        Line(
            "F15", here: { try $0.add(4) },
            there: {
                try $0.add(5); try $0.drop(5); try $0.add(5)
            }, [1, 2, 3, 4, 5]),
        Line("F16", here: { try $0.add(4) }, there: { try $0.add(4) }, [1, 2, 3, 4, 4]),
        Line(
            "F17",
            here: {
                try $0.add(4); try $0.drop(4)
            },
            there: {
                try $0.add(5); try $0.drop(5); try $0.add(5)
            },
            [1, 2, 3, 5]),
        Line(
            "F18", here: { try $0.add(4) },
            there: {
                try $0.add(5); try $0.drop(5)
            }, [1, 2, 3, 4]),
        Line("F19", here: { try $0.drop(2) }, there: { try $0.add(4, 5) }, [1, 3]),
        Line("F20", here: { try $0.add(4) }, there: { try $0.delete(4) }, [1, 2, 3]),
        Line(
            "F24",
            here: {
                try $0.clearList(); try $0.add(1)
            },
            there: {
                try $0.clearList(); try $0.add(2)
            }, [1]),
        Line(
            "F26", here: { try $0.add(4) },
            there: {
                try $0.add(4); try $0.delete(4)
            }, [1, 2, 3]),
        Line("F28", here: { try $0.delete(4) }, there: { try $0.add(4, 5) }, [1, 2, 3, 5]),
        Line(
            "F43",
            here: {
                try $0.move(0, 1); try $0.add(5)
            }, there: { try $0.add(4) }, [2, 1, 3, 5]),
        Line(
            "F44",
            here: {
                try $0.move(0, 1); try $0.add(5)
            },
            there: {
                try $0.add(4); try $0.delete(1)
            }, [2, 3, 5]),
        Line(
            "F47",
            here: {
                try $0.add(5, 5); try $0.move(4, 3)
            },
            there: {
                try $0.add(4); try $0.delete(5)
            }, [1, 2, 3]),
        Line(
            "F50",
            here: {
                try $0.add(4, 5); try $0.move(3, 4)
            }, there: { try $0.move(0, 1) }, [2, 1, 3, 5, 4]),
        Line(
            "F51",
            here: {
                try $0.add(4, 5); try $0.move(3, 4)
            }, there: { try $0.add(1, 2) }, [1, 2, 3, 5, 4, 1, 2]),
        Line(
            "F52",
            here: {
                try $0.add(4, 5); try $0.move(3, 4)
            },
            there: {
                try $0.drop(1); try $0.drop(2)
            }, [3, 5, 4]),
        Line(
            "F53",
            here: {
                try $0.add(4, 5); try $0.move(4, 3)
            },
            there: {
                try $0.drop(1); try $0.drop(2)
            }, [3, 5, 4]),
        Line(
            "F54",
            here: {
                try $0.add(4, 5); try $0.move(3, 4); try $0.drop(5)
            },
            there: {
                try $0.drop(1); try $0.drop(2)
            }, [3, 4]),
    ]

    @Test(arguments: lines) func recovers(line: Line) throws {
        var bench = try ReplayBench { try $0.add(1, 2, 3) }
        try bench.here(line.here)
        try bench.there(line.there)
        _ = try bench.recover()
        expectEqual(bench.links("list"), line.expected)
    }

    @Test(arguments: lines) func discardingTakesTheServersList(line: Line) throws {
        var bench = try ReplayBench { try $0.add(1, 2, 3) }
        try bench.here(line.here)
        try bench.there(line.there)
        _ = try bench.discard()
    }

    @Test func aListIsCopiedOnceForSeveralChangesets() throws {
        var bench = try ReplayBench { try $0.add(1, 2, 3) }
        try bench.here { try $0.drop(2) }
        try bench.here { try $0.add(4) }
        try bench.here { try $0.add(5) }
        try bench.there { try $0.add(5) }
        let statistics = try bench.recover()
        expectEqual(bench.links("list"), [1, 3, 4, 5])
        expectEqual(statistics.listsCopied, 1)
        expectEqual(statistics.droppedAmbiguousList, 3)
    }

    @Test func anOwnerThatBothDeletedStaysDeleted() throws {
        var bench = try ReplayBench { try $0.add(1, 2, 3) }
        try bench.here { try $0.add(4) }
        try bench.there { try $0.deleteObject(ReplayBench.owner) }
        _ = try bench.recover()
        expectTrue(bench.value("list") == nil)
    }

    @Test func anOwnerThatWasMadeAgainHoldsOnlyWhatCameLater() throws {
        var bench = try ReplayBench { try $0.add(1, 2, 3) }
        try bench.here {
            try $0.deleteObject(ReplayBench.owner)
            try $0.createObject(ReplayBench.owner)
            try $0.add(1)
        }
        try bench.there { try $0.deleteObject(ReplayBench.owner) }
        _ = try bench.recover()
        expectEqual(bench.links("list"), [1])
    }
}

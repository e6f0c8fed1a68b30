import Changesets
import TestSupport
import Testing

@testable import RealmState

/// Recovery of sets and dictionaries of links: they begin as 1 2 3, with 4, 5 and 7 to
/// spare. In a dictionary the key of each entry is its target's number; 0 stands for null.
struct LinkCollectionReplayTests {
    typealias Edit = @Sendable (inout Edits) throws -> Void

    /// What the lines do, to the set and to the dictionary alike.
    struct Edits {
        var transaction: RecordingTransaction

        mutating func add(_ targets: Int64...) throws {
            for target in targets {
                try transaction.insertIntoSet(.link(ReplayBench.target(target)), in: ReplayBench.at("set"))
                try transaction.set(Self.entry(target), to: .link(ReplayBench.target(target)))
            }
        }
        mutating func drop(_ targets: Int64...) throws {
            for target in targets {
                try transaction.removeFromSet(.link(ReplayBench.target(target)), in: ReplayBench.at("set"))
                try transaction.removeKey(Self.entry(target))
            }
        }
        mutating func clear() throws {
            try transaction.clear(ReplayBench.at("set"))
            try transaction.clear(ReplayBench.at("map"))
        }
        mutating func make(_ target: Int64) throws { try transaction.createObject(ReplayBench.target(target)) }
        mutating func delete(_ target: Int64) throws { try transaction.delete(target) }
        mutating func deleteOwner() throws { try transaction.deleteObject(ReplayBench.owner) }
        mutating func makeOwner() throws { try transaction.createObject(ReplayBench.owner) }

        static func entry(_ target: Int64) -> FieldAddress {
            ReplayBench.at("map", .key(ByteString("\(target)")))
        }
    }

    struct Line: CustomTestStringConvertible, Sendable {
        var name: String
        var here: Edit
        var there: Edit
        var set: [Int64]?
        var map: [Int64]?
        var testDescription: String { name }

        /// - Parameter map: where the dictionary differs from the set.
        init(
            _ name: String, here: @escaping Edit = { _ in }, there: @escaping Edit = { _ in }, _ set: [Int64]?,
            map: [Int64]? = nil
        ) {
            self.name = name
            self.here = here
            self.there = there
            self.set = set
            self.map = map ?? set
        }
    }

    static let lines: [Line] = [
        Line("F1", [1, 2, 3]),
        Line("F2", there: { try $0.clear() }, []),
        Line("F3", here: { try $0.clear() }, []),
        Line("F4", here: { try $0.drop(1, 2, 3) }, there: { try $0.drop(1, 2, 3) }, []),
        Line("F5", here: { try $0.drop(1) }, [2, 3]),
        Line("F6", here: { try $0.drop(2) }, [1, 3]),
        Line("F7", here: { try $0.drop(3) }, [1, 2]),
        Line("F8", there: { try $0.drop(1) }, [2, 3]),
        Line("F9", there: { try $0.drop(2) }, [1, 3]),
        Line("F10", there: { try $0.drop(3) }, [1, 2]),
        Line("F12", here: { try $0.drop(1) }, there: { try $0.drop(3) }, [2]),
        Line("F13", here: { try $0.add(4) }, [1, 2, 3, 4]),
        Line("F14", there: { try $0.add(4) }, [1, 2, 3, 4]),
        Line(
            "F15", here: { try $0.add(4) },
            there: {
                try $0.add(5)
                try $0.drop(5)
                try $0.add(5)
            }, [1, 2, 3, 4, 5]),
        Line("F16", here: { try $0.add(4) }, there: { try $0.add(4) }, [1, 2, 3, 4]),
        Line(
            "F17",
            here: {
                try $0.add(4)
                try $0.drop(4)
            },
            there: {
                try $0.add(5)
                try $0.drop(5)
                try $0.add(5)
            }, [1, 2, 3, 5]),
        Line(
            "F18", here: { try $0.add(4) },
            there: {
                try $0.add(5)
                try $0.drop(5)
            }, [1, 2, 3, 4]),
        Line("F19", here: { try $0.drop(2) }, there: { try $0.add(4, 5) }, [1, 3, 4, 5]),
        Line("F20", here: { try $0.add(4) }, there: { try $0.delete(4) }, [1, 2, 3], map: [1, 2, 3, 0]),
        Line("F21", here: { try $0.clear() }, there: { try $0.drop(1) }, []),
        Line("F22", here: { try $0.drop(1) }, there: { try $0.clear() }, []),
        Line("F23", here: { try $0.clear() }, there: { try $0.clear() }, []),
        Line(
            "F24",
            here: {
                try $0.clear()
                try $0.add(1)
            },
            there: {
                try $0.clear()
                try $0.add(2)
            }, [1]),
        Line(
            "F25",
            here: {
                try $0.clear()
                try $0.add(1)
                try $0.drop(1)
                try $0.add(2, 3)
            },
            there: {
                try $0.clear()
                try $0.add(1)
                try $0.drop(1)
                try $0.add(2, 3)
            }, [2, 3]),
        Line(
            "F26", here: { try $0.add(4) },
            there: {
                try $0.add(4)
                try $0.delete(4)
            }, [1, 2, 3], map: [1, 2, 3, 0]),
        Line(
            "F27",
            here: {
                try $0.add(4)
                try $0.delete(4)
            }, there: { try $0.add(4, 5) }, [1, 2, 3, 5], map: [1, 2, 3, 0, 5]),
        Line(
            "F28", here: { try $0.delete(4) }, there: { try $0.add(4, 5) }, [1, 2, 3, 5], map: [1, 2, 3, 0, 5]),
        Line(
            "F29",
            here: {
                try $0.make(6)
                try $0.add(4, 5, 6)
            },
            there: {
                try $0.delete(4)
                try $0.delete(5)
            }, [1, 2, 3, 6], map: [1, 2, 3, 0, 0, 6]),
        Line(
            "F30",
            here: {
                try $0.delete(1)
                try $0.delete(2)
                try $0.make(6)
                try $0.add(6)
            }, [3, 6], map: [0, 0, 3, 6]),
        Line(
            "F37",
            here: {
                try $0.add(4)
                try $0.deleteOwner()
            }, there: { try $0.add(5) }, nil),
        Line(
            "F38",
            here: {
                try $0.drop(1)
                try $0.deleteOwner()
            }, nil),
        Line(
            "F39",
            here: {
                try $0.add(4)
                try $0.clear()
            }, there: { try $0.deleteOwner() }, nil),
        Line("F40", here: { try $0.drop(1) }, there: { try $0.deleteOwner() }, nil),
        Line(
            "F41",
            here: {
                try $0.deleteOwner()
                try $0.makeOwner()
                try $0.add(1)
            }, there: { try $0.deleteOwner() }, [1]),
        Line(
            "F56",
            here: {
                try $0.delete(4)
                try $0.delete(5)
                try $0.make(6)
                try $0.add(6)
                try $0.drop(1)
            },
            there: {
                try $0.drop(2)
                try $0.make(6)
                try $0.add(4, 5, 6, 7)
                try $0.delete(5)
            }, [3, 6, 7], map: [3, 0, 0, 6, 7]),
    ]

    private func bench(_ line: Line) throws -> ReplayBench {
        func run(_ edit: @escaping Edit) -> (inout RecordingTransaction) throws -> Void {
            { transaction in
                // Moved in and out: a second owner would make every change of the state a copy.
                var edits = Edits(transaction: transaction)
                try edit(&edits)
                transaction = edits.transaction
            }
        }
        var bench = try ReplayBench { transaction in
            try transaction.createObject(ReplayBench.target(7))
            try run { try $0.add(1, 2, 3) }(&transaction)
        }
        try bench.here(run(line.here))
        try bench.there(run(line.there))
        return bench
    }

    @Test(arguments: lines)
    func recoveredCollectionsAreAsTheChecklistSays(line: Line) throws {
        var bench = try bench(line)
        _ = try bench.recover()
        expectEqual(bench.local.contains(ReplayBench.owner), (line.set != nil))
        expectEqual(bench.links("set")?.sorted(), line.set)
        expectEqual(bench.links("map"), line.map)
    }

    @Test(arguments: lines)
    func discardedOnesAreAsTheServerHasThem(line: Line) throws {
        var bench = try bench(line)
        _ = try bench.discard()
    }
}

import Changesets
import TestSupport
import Testing

@testable import RealmState

/// Recovery of collections nested in mixed values.
struct MixedReplayTests {
    typealias Edit = @Sendable (inout RecordingTransaction) throws -> Void

    struct Line: CustomTestStringConvertible, Sendable {
        var name: String
        var begin: Value
        var here: Edit
        var there: Edit
        var expected: Value
        var copies = 0
        var testDescription: String { name }
    }

    private static func at(_ path: PathStep...) -> FieldAddress {
        FieldAddress(ReplayBench.owner, "any", path)
    }
    private static func ints(_ numbers: Int64...) -> Value { .list(numbers.map(Value.int)) }

    static let lines: [Line] = [
        Line(
            name: "H4 a list here and a dictionary there: the client's type", begin: .null,
            here: { try $0.set(at(), to: ints(1)) },
            there: { try $0.set(at(), to: .dictionary(["k": .int(2)])) }, expected: ints(1)),
        Line(
            name: "H6 both fill one list: all of it, the client's first", begin: ints(),
            here: {
                try $0.insert(ints(1), at: at(.index(0)))
                try $0.insert(.dictionary(["k": .int(1)]), at: at(.index(1)))
            },
            there: {
                try $0.insert(ints(2), at: at(.index(0)))
                try $0.insert(.dictionary(["k": .int(2)]), at: at(.index(1)))
            },
            expected: .list([ints(1), .dictionary(["k": .int(1)]), ints(2), .dictionary(["k": .int(2)])])),
        Line(
            name: "H8 a list here, a dictionary of a list there", begin: .null,
            here: { try $0.set(at(), to: ints(1, 2)) },
            there: { try $0.set(at(), to: .dictionary(["k": ints(3)])) }, expected: ints(1, 2)),
        Line(
            name: "H9 inserted before what the server removed", begin: .list([ints(1), ints(2)]),
            here: { try $0.insert(ints(9), at: at(.index(0))) }, there: { try $0.remove(at: at(.index(0))) },
            expected: .list([ints(9), ints(2)])),
        Line(
            name: "H10 inserted where the only one went", begin: .list([ints(1)]),
            here: { try $0.insert(ints(9), at: at(.index(0))) }, there: { try $0.remove(at: at(.index(0))) },
            expected: .list([ints(9)])),
        Line(
            name: "H12 removed here, appended there", begin: .list([ints(1)]),
            here: { try $0.remove(at: at(.index(0))) }, there: { try $0.insert(ints(2), at: at(.index(1))) },
            expected: .list([]), copies: 1),
        Line(
            name: "H13 moved inside a nested list", begin: .list([ints(1, 2)]),
            here: { try $0.move(at(.index(0), .index(0)), to: 1) },
            there: { try $0.insert(.int(3), at: at(.index(0), .index(2))) }, expected: .list([ints(2, 1)]), copies: 1),
        Line(
            name: "H14 a key is erased here and edited below there", begin: .dictionary(["k": ints(1)]),
            here: { try $0.removeKey(at(.key("k"))) },
            there: { try $0.insert(.int(2), at: at(.key("k"), .index(0))) }, expected: .dictionary([:])),
        Line(
            name: "H15 a deep edit of an old element", begin: .list([.dictionary(["k": ints(1)])]),
            here: { try $0.insert(.int(5), at: at(.index(0), .key("k"), .index(0))) },
            there: { try $0.insert(.int(2), at: at(.index(1))) },
            expected: .list([.dictionary(["k": ints(5, 1)])]), copies: 1),
        Line(
            name: "H17 different kinds at one place", begin: ints(),
            here: { try $0.insert(ints(1), at: at(.index(0))) },
            there: { try $0.insert(.dictionary(["k": .int(2)]), at: at(.index(0))) },
            expected: .list([ints(1), .dictionary(["k": .int(2)])])),
        Line(
            name: "H27 appended to what the server shortened", begin: .dictionary(["k": ints(1, 2, 3)]),
            here: { try $0.insert(.int(4), at: at(.key("k"), .index(3))) },
            there: {
                try $0.remove(at: at(.key("k"), .index(0)))
                try $0.remove(at: at(.key("k"), .index(0)))
            }, expected: .dictionary(["k": ints(3, 4)])),
        Line(
            name: "H28 own elements are edited and nested without a copy", begin: ints(1),
            here: {
                try $0.insert(.int(2), at: at(.index(1)))
                try $0.set(at(.index(1)), to: .dictionary(["k": ints(3)]))
                try $0.insert(.int(4), at: at(.index(1), .key("k"), .index(1)))
            }, there: { try $0.insert(.int(0), at: at(.index(0))) },
            expected: .list([.int(0), .dictionary(["k": ints(3, 4)]), .int(1)])),
        Line(
            name: "H29 a list became a dictionary", begin: .dictionary(["k": ints(1)]),
            here: { try $0.insert(.int(2), at: at(.key("k"), .index(0))) },
            there: { try $0.set(at(.key("k")), to: .dictionary(["x": .int(3)])) },
            expected: .dictionary(["k": .dictionary(["x": .int(3)])])),
        Line(
            name: "H30 a dictionary became a list", begin: .dictionary(["k": .dictionary(["x": .int(1)])]),
            here: { try $0.set(at(.key("k"), .key("x")), to: .int(2)) },
            there: { try $0.set(at(.key("k")), to: ints(3)) }, expected: .dictionary(["k": ints(3)])),
        Line(
            name: "H31 a list became a string", begin: ints(1),
            here: { try $0.insert(.int(2), at: at(.index(0))) }, there: { try $0.set(at(), to: .string("text")) },
            expected: .string("text")),
        Line(
            name: "H32 a key on the way is gone", begin: .dictionary(["k": .dictionary(["x": ints(1)])]),
            here: { try $0.insert(.int(2), at: at(.key("k"), .key("x"), .index(0))) },
            there: { try $0.removeKey(at(.key("k"))) }, expected: .dictionary([:])),
        Line(
            name: "H33 a key on the way became a string", begin: .dictionary(["k": .dictionary(["x": ints(1)])]),
            here: { try $0.insert(.int(2), at: at(.key("k"), .key("x"), .index(0))) },
            there: { try $0.set(at(.key("k")), to: .string("text")) },
            expected: .dictionary(["k": .string("text")])),
        Line(
            name: "H34 an ambiguous index below a key copies that list alone",
            begin: .dictionary(["k": ints(1, 2), "other": .int(1)]),
            here: { try $0.set(at(.key("k"), .index(0)), to: .int(9)) },
            there: {
                try $0.insert(.int(0), at: at(.key("k"), .index(0)))
                try $0.set(at(.key("other")), to: .int(2))
            }, expected: .dictionary(["k": ints(9, 2), "other": .int(2)]), copies: 1),
        Line(
            name: "H35 three lists deep", begin: .list([.list([ints(1)])]),
            here: { try $0.insert(.int(2), at: at(.index(0), .index(0), .index(0))) },
            there: { try $0.insert(ints(8), at: at(.index(0))) }, expected: .list([.list([ints(2, 1)])]), copies: 1),
        Line(
            name: "H36 the list to copy was removed here", begin: .dictionary(["k": ints(1)]),
            here: {
                try $0.set(at(.key("k"), .index(0)), to: .int(2))
                try $0.removeKey(at(.key("k")))
            }, there: { try $0.insert(.int(3), at: at(.key("k"), .index(1))) }, expected: .dictionary([:])),
        Line(
            name: "H37 the list to copy became a string here", begin: .dictionary(["k": ints(1)]),
            here: {
                try $0.set(at(.key("k"), .index(0)), to: .int(2))
                try $0.set(at(.key("k")), to: .string("mine"))
            }, there: { try $0.insert(.int(3), at: at(.key("k"), .index(1))) },
            expected: .dictionary(["k": .string("mine")])),
        Line(
            name: "H39 a cleared dictionary that the server made a scalar", begin: .dictionary(["k": .int(1)]),
            here: { try $0.clear(at()) }, there: { try $0.set(at(), to: .int(1)) }, expected: .dictionary([:])),
        Line(
            name: "H40 a cleared list that the server made a scalar", begin: ints(1),
            here: { try $0.clear(at()) }, there: { try $0.set(at(), to: .int(1)) }, expected: .list([])),
        Line(
            name: "H41 a list in a dictionary is cleared", begin: .dictionary(["k": ints(1)]),
            here: { try $0.clear(at(.key("k"))) },
            there: { try $0.insert(.int(2), at: at(.key("k"), .index(1))) }, expected: .dictionary(["k": ints()])),
        Line(
            name: "H42 the cleared list is gone there", begin: .dictionary(["k": ints(1)]),
            here: { try $0.clear(at(.key("k"))) }, there: { try $0.removeKey(at(.key("k"))) },
            expected: .dictionary(["k": ints()])),
        Line(
            name: "H43 a list in an old element is cleared", begin: .list([ints(1), ints(2)]),
            here: { try $0.clear(at(.index(0))) }, there: { try $0.insert(ints(3), at: at(.index(2))) },
            expected: .list([ints(), ints(2)]), copies: 1),
        Line(
            name: "H44 a list in an own element is cleared", begin: .list([ints(1)]),
            here: {
                try $0.insert(ints(5), at: at(.index(1)))
                try $0.clear(at(.index(1)))
            }, there: { try $0.insert(ints(3), at: at(.index(0))) },
            expected: .list([ints(3), ints(), ints(1)])),
    ]

    @Test(arguments: lines)
    func nestedCollectionsAreAsTheChecklistSays(line: Line) throws {
        let begin = line.begin
        var bench = try ReplayBench { if begin != .null { try $0.set(ReplayBench.at("any"), to: begin) } }
        try bench.here(line.here)
        try bench.there(line.there)
        let statistics = try bench.recover()
        expectEqual(bench.value("any"), line.expected)
        expectEqual(statistics.listsCopied, line.copies)
    }

    @Test func mixedListsCopyAndMixedDictionariesMergeByKey() throws {
        var bench = try ReplayBench {
            try $0.insert(.int(0), at: ReplayBench.at("anys", .index(0)))
            try $0.set(ReplayBench.at("anyMap", .key("k")), to: .int(0))
        }
        try bench.here {
            try $0.set(ReplayBench.at("anys", .index(0)), to: .list([.int(1)]))
            try $0.set(ReplayBench.at("anyMap", .key("k")), to: .list([.int(1)]))
        }
        try bench.there {
            try $0.insert(.string("server"), at: ReplayBench.at("anys", .index(1)))
            try $0.set(ReplayBench.at("anyMap", .key("k")), to: .string("server"))
            try $0.set(ReplayBench.at("anyMap", .key("x")), to: .string("server"))
        }
        try expectEqual(bench.recover().listsCopied, 1)
        expectEqual(bench.value("anys"), .list([.list([.int(1)])]))
        expectEqual(bench.value("anyMap"), .dictionary(["k": .list([.int(1)]), "x": .string("server")]))
    }

    @Test func aCopiedListLeavesOutDeadLinksAtAnyDepth() throws {
        var bench = try ReplayBench {
            try $0.set(ReplayBench.at("any"), to: .list([.list([.link(ReplayBench.target(1)), .int(1)])]))
        }
        try bench.here {
            try $0.set(ReplayBench.at("any", .index(0), .index(1)), to: .int(2))
        }
        try bench.there { try $0.delete(1) }
        try expectEqual(bench.recover().listsCopied, 1)
        expectEqual(bench.value("any"), .list([.list([.int(2)])]))
    }
}

import Changesets
import TestSupport
import Testing

@testable import RealmState

/// Recovery of sets and dictionaries of values: they begin with 0.
struct ValueCollectionReplayTests {
    typealias Numbers = [Int64]

    struct Line: CustomTestStringConvertible, Sendable {
        var name: String
        /// What each side writes in place of the 0; nil: nothing is done.
        var here: Numbers?
        var there: Numbers?
        var expected: Numbers
        var testDescription: String { name }
    }

    static let sets: [Line] = [
        Line(name: "E19 both modify", here: [1, 2], there: [3], expected: [1, 2, 3]),
        Line(name: "E21 the server's is empty", here: [1], there: [], expected: [1]),
        Line(name: "E22 the client's is empty", here: [], there: [1], expected: [1]),
        Line(name: "E23 both are empty", here: [], there: [], expected: []),
        Line(name: "E24 equal suffix", here: [1, 8, 9], there: [2, 8, 9], expected: [1, 2, 8, 9]),
        Line(name: "E25 equal prefix", here: [1, 2, 8], there: [1, 2, 9], expected: [1, 2, 8, 9]),
        Line(name: "E26 equal", here: [4, 5], there: [4, 5], expected: [4, 5]),
        Line(name: "only the client's", here: [0, 1], there: nil, expected: [0, 1]),
        Line(name: "only the server's", here: nil, there: [1], expected: [1]),
    ]

    private static func replace(_ numbers: Numbers?) -> (inout RecordingTransaction) throws -> Void {
        { transaction in
            guard let numbers else { return }
            if !numbers.contains(0) { try transaction.removeFromSet(.int(0), in: ReplayBench.at("values")) }
            for number in numbers { try transaction.insertIntoSet(.int(number), in: ReplayBench.at("values")) }
        }
    }

    @Test(arguments: sets)
    func setsUniteWithoutWhatEitherSideErased(line: Line) throws {
        var bench = try ReplayBench { try $0.insertIntoSet(.int(0), in: ReplayBench.at("values")) }
        try bench.here(Self.replace(line.here))
        try bench.there(Self.replace(line.there))
        _ = try bench.recover()
        expectEqual(bench.value("values"), .set(line.expected.map(Value.int)))
    }

    struct Entries: CustomTestStringConvertible, Sendable {
        var name: String
        var here: [ByteString: Int64?]
        var there: [ByteString: Int64?]
        var expected: [ByteString: Value]
        var testDescription: String { name }
    }

    static let dictionaries: [Entries] = [
        Entries(name: "E13 one key on both sides", here: ["k": 1], there: ["k": 2], expected: ["k": .int(1)]),
        Entries(
            name: "E15 five keys", here: ["k": nil, "a": 1, "b": 2], there: ["b": 3, "c": 4, "d": 5],
            expected: ["a": .int(1), "b": .int(2), "c": .int(4), "d": .int(5)]),
        Entries(name: "E16 the server's is empty", here: ["k": 1], there: ["k": nil], expected: ["k": .int(1)]),
        Entries(name: "E17 the client's is empty", here: ["k": nil], there: ["k": 2], expected: [:]),
        Entries(
            name: "E18 the server has more", here: ["k": 1], there: ["x": 2, "y": 3],
            expected: ["k": .int(1), "x": .int(2), "y": .int(3)]),
        Entries(name: "both erase", here: ["k": nil], there: ["k": nil], expected: [:]),
    ]

    @Test(arguments: dictionaries)
    func dictionariesUniteKeyByKeyAndTheClientsEntryWins(line: Entries) throws {
        func write(_ entries: [ByteString: Int64?]) -> (inout RecordingTransaction) throws -> Void {
            { transaction in
                for (key, value) in entries {
                    let address = ReplayBench.at("valueMap", .key(key))
                    if let value {
                        try transaction.set(address, to: .int(value))
                    } else {
                        try transaction.removeKey(address)
                    }
                }
            }
        }
        var bench = try ReplayBench { try $0.set(ReplayBench.at("valueMap", .key("k")), to: .int(0)) }
        try bench.here(write(line.here))
        try bench.there(write(line.there))
        _ = try bench.recover()
        expectEqual(bench.value("valueMap"), .dictionary(line.expected))
    }

    @Test func anErasedKeyThatTheServerErasedTooIsDropped() throws {
        var bench = try ReplayBench { try $0.set(ReplayBench.at("valueMap", .key("k")), to: .int(0)) }
        for side in [\ReplayBench.local, \ReplayBench.fresh] {
            let bytes = try bench[keyPath: side].record { try $0.removeKey(ReplayBench.at("valueMap", .key("k"))) }
            if side == \ReplayBench.local { bench.changesets.append(bytes.changeset) }
        }
        try expectEqual(bench.recover().droppedPath, 1)
    }

    @Test func keysMayBeEmptyOrHoldAnything() throws {
        var bench = try ReplayBench()
        try bench.here { try $0.set(ReplayBench.at("valueMap", .key("")), to: .int(1)) }
        try bench.there { try $0.set(ReplayBench.at("valueMap", .key("")), to: .int(2)) }
        try bench.here { try $0.set(ReplayBench.at("valueMap", .key("\0")), to: .int(3)) }
        _ = try bench.recover()
        expectEqual(bench.value("valueMap"), .dictionary(["": .int(1), "\0": .int(3)]))
    }
}

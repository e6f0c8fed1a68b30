import Changesets
import MergeConformance
import RealmState
import SeededRandom
import TestSupport
import Testing

/// Random local changes: whatever is recorded, a receiver reaches the author's state, and so does one that starts from
/// the state as changesets.
@Suite(.hangGuard) struct RandomRecordingTests {
    @Test(arguments: UInt64(1)...12)
    func receiversReachTheAuthorsState(seed: UInt64) throws {
        var replica = try Replica(seed % 2 == 0 ? .stockClients : .convergent, indexingIncomingLinks: seed % 3 != 0)
        try expectTrue(Self.write(to: &replica, seed: seed) > 100)
        var copy = RealmState(compatibility: replica.author.compatibility)
        for changeset in replica.author.changesets(byteBudget: 300) {
            try copy.apply(changeset)
        }
        expectEqual(StateDump.canonical(of: copy), StateDump.canonical(of: replica.author))
    }

    /// A client records before it knows the app's setting.
    @Test(arguments: UInt64(101)...108)
    func convergentRecordingsMeanTheSameToStockPeers(seed: UInt64) throws {
        var replica = try Replica(.convergent)
        replica.receiver.compatibility = .stockClients
        try expectTrue(Self.write(to: &replica, seed: seed) > 100)
    }

    /// - Returns: how many instructions were recorded.
    private static func write(to replica: inout Replica, seed: UInt64) throws -> Int {
        var random = SeededGenerator(seed: seed)
        var instructions = 0
        for _ in 0..<100 {
            try replica.write { transaction in
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    try? change(&transaction, &random)
                }
            }
            instructions += replica.last.instructions.count
            // Every recorded changeset has the recorder's form.
            let again = try Changeset(parsing: replica.last.encoded())
            expectEqual(again.instructions, replica.last.instructions)
        }
        return instructions
    }

    private static func change(_ transaction: inout RecordingTransaction, _ random: inout SeededGenerator) throws {
        let object = ObjectAddress("T", .int(Int64.random(in: 1...4, using: &random)))
        let target = ObjectAddress("U", .string(["a", "b", "c"].randomElement(using: &random) ?? "a"))
        let fields: [ByteString] = [
            "i", "ni", "mx", "li", "nli", "lm", "di", "dm", "si", "sm", "link", "ll", "dl", "sl", "emb", "lemb", "demb",
        ]
        let field = fields.randomElement(using: &random) ?? "i"
        switch Int.random(in: 0..<40, using: &random) {
        case 0, 1: try transaction.createObject(object)
        case 2, 3: try transaction.createObject(target)
        case 4: try transaction.deleteObject(Bool.random(using: &random) ? object : target)
        default:
            var address = FieldAddress(object, field)
            while let step = step(transaction.state.value(at: address), &random) {
                address = address.appending(step)
            }
            try edit(&transaction, address, target, &random)
        }
    }

    /// One step further into a value, or nil to stay.
    private static func step(_ value: Value?, _ random: inout SeededGenerator) -> PathStep? {
        guard Int.random(in: 0..<4, using: &random) > 0 else { return nil }
        switch value {
        case .list(let items): return .index(Int.random(in: 0...items.count, using: &random))
        case .dictionary: return .key(["x", "y", "z"].randomElement(using: &random) ?? "x")
        case .embedded: return .key(["v", "nums", "inner", "to"].randomElement(using: &random) ?? "v")
        default: return nil
        }
    }

    private static func edit(
        _ transaction: inout RecordingTransaction, _ address: FieldAddress, _ target: ObjectAddress,
        _ random: inout SeededGenerator
    ) throws {
        let place = try transaction.place(address)
        let embedded = transaction.state.schema.embeddedTarget(of: place.element) != nil
        let value = fitting(place.element, target, embedded, &random)
        switch place.kind {
        case .property where place.element.type == .int && Bool.random(using: &random):
            try transaction.increment(address, by: 3)
        case .property: try transaction.set(address, to: value)
        case .entry where Int.random(in: 0..<4, using: &random) == 0: try transaction.removeKey(address)
        case .entry: try transaction.set(address, to: value)
        case .slot:
            switch Int.random(in: 0..<8, using: &random) {
            case 0: try transaction.remove(at: address)
            case 1: try transaction.move(address, to: Int.random(in: 0..<max(1, place.listCount), using: &random))
            case 2, 3: try transaction.set(address, to: value)
            default: try transaction.insert(value, at: address)
            }
        case .list: try transaction.set(address, to: .list([value, value]))
        case .dictionary: try transaction.set(address, to: .dictionary(["x": value]))
        case .set:
            if Bool.random(using: &random) {
                try transaction.insertIntoSet(value, in: address)
            } else {
                try transaction.removeFromSet(value, in: address)
            }
        }
        if Int.random(in: 0..<12, using: &random) == 0 { try transaction.clear(address) }
    }

    private static func fitting(
        _ element: ElementType, _ target: ObjectAddress, _ embedded: Bool, _ random: inout SeededGenerator
    ) -> Value {
        if embedded { return .embedded(StoredObject()) }
        switch element.type {
        case .int: return .int(Int64.random(in: 0...5, using: &random))
        case .link: return .link(target)
        default: return value(target, depth: 0, &random)
        }
    }

    private static func value(_ target: ObjectAddress, depth: Int, _ random: inout SeededGenerator) -> Value {
        switch Int.random(in: 0..<(depth < 3 ? 9 : 7), using: &random) {
        case 0: return .null
        case 1, 2: return .int(Int64.random(in: 0...5, using: &random))
        case 3: return .string("s")
        case 4: return .double(bits: Double.random(in: -2...2, using: &random).bitPattern)
        case 5: return .link(target)
        case 6: return .embedded(StoredObject())
        case 7:
            let count = Int.random(in: 0...3, using: &random)
            return .list((0..<count).map { _ in value(target, depth: depth + 1, &random) })
        default:
            return .dictionary(["x": value(target, depth: depth + 1, &random), "y": .null])
        }
    }
}

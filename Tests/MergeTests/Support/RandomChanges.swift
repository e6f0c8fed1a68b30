import Changesets
import SeededRandom

/// Instructions of all kinds over so few names that they meet often. They are well-formed, but no honest history: what
/// two ways of merging them give, results and errors alike, has to be the same.
struct RandomChanges {
    var random: SeededGenerator
    /// Whether classes and columns may be erased.
    var erasesSchema = true
    var keys: [Int64] = [1, 1, 2]

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func changesets(upTo count: Int, instructions: Int) -> [Changeset] {
        (0..<Int.random(in: 1...count, using: &random)).map { _ in
            changeset((0..<Int.random(in: 0...instructions, using: &random)).map { _ in instruction() })
        }
    }

    mutating func longChangeset(of count: Int) -> Changeset { changeset((0..<count).map { _ in instruction() }) }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    private mutating func table() -> String { pick(["Dog", "Dog", "Person"]) }
    private mutating func field() -> String { pick(["x", "l", "any"]) }
    private mutating func key() -> Int64 { pick(keys) }

    private mutating func steps(endingInIndex: Bool) -> PathElements {
        var steps: [PathElement] = (0..<pick([0, 0, 1, 1, 2, 3])).map { _ in
            // Mostly lists where there are indexes and keys where there are keys, or nothing would ever pass.
            pick([0, 1, 0, 1, "k"] as [PathElement])
        }
        if endingInIndex { steps.append(pick([0, 1, 2] as [PathElement])) }
        return PathElements(steps)
    }

    private mutating func path(endingInIndex: Bool = false) -> FieldPath {
        FieldPath(
            table: Names.intern(table()), object: .int(key()), field: Names.intern(field()),
            path: pick([true, false]) && !endingInIndex ? [] : steps(endingInIndex: endingInIndex))
    }

    private mutating func value() -> Payload {
        pick([
            .int(1), .int(2), .null, .list, .dictionary, .objectValue, .string("s"), .erased,
            .link(table: Names.intern("Person"), key: .int(1)),
        ])
    }

    private mutating func element() -> Payload {
        pick([.int(1), .int(2), .string("s"), .string("t"), .double(bits: 0), .double(bits: 1 << 63)])
    }

    private mutating func instruction() -> Instruction {
        switch Int.random(in: erasesSchema ? 0..<40 : 2..<40, using: &random) {
        case 0: return .eraseTable(table())
        case 1: return .eraseColumn(field(), in: table())
        case 2: return .addTable(table())
        case 3: return .addColumn(pick(["x", "y"]), in: table())
        case 4: return .addColumn("dog", .link, nullable: true, target: table(), in: table())
        case 5, 6: return .create(key(), in: table())
        case 7: return .erase(key(), in: table())
        case 8...17:
            let path = path()
            if case .index? = path.path.last { return .set(path, value(), of: pick([2, 2, 2, 3])) }
            return .set(path, value(), isDefault: pick([false, false, true]))
        case 18...20: return .add(path(), pick([1, 5]))
        case 21...25: return .insert(path(endingInIndex: true), value(), of: pick([2, 2, 2, 3]))
        case 26...28: return .remove(path(endingInIndex: true), of: pick([2, 2, 2, 3]))
        case 29, 30: return .move(path(endingInIndex: true), to: pick([0, 1]), of: pick([2, 2, 2, 3]))
        case 31: return .clear(path(), collection: pick([.list, .dictionary, .set]))
        case 32...35: return .setInsert(path(), value: element())
        default: return .setErase(path(), value: element())
        }
    }
}

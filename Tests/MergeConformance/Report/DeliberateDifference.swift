package import Changesets

/// Where the convergent rules mean to give something else than the reference (docs/merge.md, "Where we differ").
package enum DeliberateDifference: String, CaseIterable, Sendable {
    /// A move of a list's element carries along what the other side changes inside of it.
    case nestedMove = "D1"
    /// Erasures from sets are compared by the values.
    case erasedValues = "D2"
    /// An erased column takes every change in it along.
    case erasedColumn = "D3"
    /// What the reference only asserts is an error.
    case assertions = "D6"
    /// A Clear of a list's element follows the element.
    case clearedElement = "clear"
    /// Numbers that a set takes for one member are one.
    case twins = "twins"

    /// Returns the differences that merging the two sides can show, judged by the instructions that are in them.
    package static func possible(
        between ours: some Sequence<Instruction>, and theirs: some Sequence<Instruction>
    ) -> [DeliberateDifference] {
        let ours = Kinds(ours)
        let theirs = Kinds(theirs)
        return allCases.filter { difference in
            let (one, other) = kinds(difference)
            return ours.contains(one) && theirs.contains(other) || theirs.contains(one) && ours.contains(other)
        }
    }

    private static func kinds(_ difference: DeliberateDifference) -> (Kinds, Kinds) {
        switch difference {
        case .nestedMove: (.move, .nested)
        case .erasedValues: (.setErase, .setErase)
        case .erasedColumn: (.destruction, .change)
        case .assertions: (.clear, .setMarker)
        case .clearedElement: (.nestedClear, .listChange)
        case .twins: (.membership, .membership)
        }
    }

    private struct Kinds: OptionSet {
        let rawValue: UInt16

        static let move = Kinds(rawValue: 1 << 0)
        /// A path of two steps at least.
        static let nested = Kinds(rawValue: 1 << 1)
        static let setErase = Kinds(rawValue: 1 << 2)
        static let destruction = Kinds(rawValue: 1 << 3)
        static let change = Kinds(rawValue: 1 << 4)
        static let clear = Kinds(rawValue: 1 << 5)
        static let nestedClear = Kinds(rawValue: 1 << 6)
        static let setMarker = Kinds(rawValue: 1 << 7)
        static let listChange = Kinds(rawValue: 1 << 8)
        static let membership = Kinds(rawValue: 1 << 9)

        init(rawValue: UInt16) { self.rawValue = rawValue }

        init(_ instructions: some Sequence<Instruction>) {
            self = []
            for instruction in instructions {
                if let path = instruction.fieldPath {
                    insert(.change)
                    if path.path.count > 1 { insert(.nested) }
                }
                switch instruction {
                case .arrayMove: formUnion([.move, .listChange])
                case .arrayInsert, .arrayErase: insert(.listChange)
                case .setInsert: insert(.membership)
                case .setErase: formUnion([.setErase, .membership])
                case .eraseTable, .eraseColumn: insert(.destruction)
                case .clear(let path, _): formUnion(path.path.isEmpty ? .clear : [.clear, .nestedClear])
                case .update(let update): if update.value == .set { insert(.setMarker) }
                default: break
                }
            }
        }
    }
}

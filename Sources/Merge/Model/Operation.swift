import Changesets

/// Kinds of instructions, numbered as on the wire. Of two different kinds the higher number is the rule's left side.
enum OperationCode: UInt8 {
    case addTable, eraseTable, createObject, eraseObject, update, addInteger, addColumn, eraseColumn
    case arrayInsert, arrayMove, arrayErase, clear, setInsert, setErase

    /// Whether it addresses a value inside an object, as opposed to an object or the schema.
    var hasPath: Bool {
        switch self {
        case .update, .addInteger, .arrayInsert, .arrayMove, .arrayErase, .clear, .setInsert, .setErase: true
        case .addTable, .eraseTable, .createObject, .eraseObject, .addColumn, .eraseColumn: false
        }
    }
}

/// One instruction as the rules see it: everything that a rule reads or writes, as plain numbers, in a fixed number
/// of bytes and without references. What no rule touches stays in the instruction it came from (`changeset`, `source`).
///
/// A path is kept in two parts, because the rules change them separately: the last step, which list rules shift, here;
/// the steps before it, the *container*, in `PathSteps`, where nested rules shift them. Most paths have no container.
struct Operation {
    struct Flags: OptionSet {
        var rawValue: UInt8
        static let discarded = Flags(rawValue: 1)
        /// An operand differs from the instruction it came from.
        static let changed = Flags(rawValue: 2)
        /// The path has steps, and the last is a list index.
        static let endsInIndex = Flags(rawValue: 4)
        static let isDefault = Flags(rawValue: 8)
        static let nullable = Flags(rawValue: 16)
        static let embedded = Flags(rawValue: 32)
        static let asymmetric = Flags(rawValue: 64)
        /// Put in by a rule; comes from no instruction.
        static let prepended = Flags(rawValue: 128)
    }

    /// The value of an Update to an integer, or what an AddInteger adds.
    var integer: Int64 = 0
    var table: Symbol
    var object = ObjectNumber.none
    /// The field of a path, the property of a column, or a new class's key property.
    var field = Symbol(0)
    /// Where the container's steps begin in `PathSteps`.
    var container: UInt32 = 0
    /// How many steps the path has; the container has one less.
    var depth: UInt32 = 0
    /// The last step: an index or the symbol of a key.
    var last: UInt32 = 0
    var priorSize: UInt32 = 0
    private var operand: UInt32 = 0
    /// The changeset's place in the total order of all changesets of the merge.
    var rank: UInt32
    /// The changeset of its side that the operation belongs to, and the instruction there that it came from.
    var changeset: UInt32
    var source: UInt32
    var code: OperationCode
    var flags: Flags = []
    /// The type of a value or column, or of a new class's key.
    var type = PayloadType.null
    var collection = CollectionType.single

    init(code: OperationCode, table: Symbol, rank: UInt32, changeset: UInt32, source: UInt32) {
        self.code = code
        self.table = table
        self.rank = rank
        self.changeset = changeset
        self.source = source
    }

    /// Where an ArrayMove puts the element, as its final index.
    var destination: UInt32 {
        get { operand }
        set { operand = newValue }
    }

    /// The class a column links to; symbol 0 belongs to the empty string, so an untyped link has it too.
    var linkTarget: Symbol {
        get { Symbol(operand) }
        set { operand = newValue.number }
    }

    /// The number of the value that a set instruction inserts or erases: equal numbers are equal values.
    var element: UInt32 {
        get { operand }
        set { operand = newValue }
    }

    /// The same by the reference's notion of equality for two erasures.
    var rawElement: UInt32 {
        get { priorSize }
        set { priorSize = newValue }
    }

    var isLive: Bool { !flags.contains(.discarded) }
    var isDirty: Bool { !flags.isDisjoint(with: [.discarded, .changed]) }
    var isDefault: Bool { flags.contains(.isDefault) }
    var endsInIndex: Bool { flags.contains(.endsInIndex) }

    mutating func discard() { flags.insert(.discarded) }

    /// "Older" in the total order of changesets (section 1.1).
    func isOlder(than other: Operation) -> Bool { rank < other.rank }

    /// A list index, as the list rules call it.
    var index: UInt32 {
        get { last }
        set { last = newValue }
    }

    /// The operands that a rule between two path instructions may change, to tell afterwards whether it did.
    var adjustable: Adjustable {
        Adjustable(integer: integer, last: last, priorSize: priorSize, operand: operand)
    }

    struct Adjustable: Equatable {
        var integer: Int64
        var last: UInt32
        var priorSize: UInt32
        var operand: UInt32
    }
}

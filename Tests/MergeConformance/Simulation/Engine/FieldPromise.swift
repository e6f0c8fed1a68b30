import Changesets
import RealmState

/// What a recovery has to keep of a client's changes of one field; see `RecoveryPromises`.
struct FieldPromise {
    private enum List {
        case untouched
        /// How often each value was inserted.
        case inserted([Value: Int])
        /// The list is as the client left it.
        case copied
        case uncertain
    }

    /// Whether nothing of what the server has in this field can be left.
    private var isErased: Bool
    /// What a property holds; nil if that is not certain.
    private var value: Value?
    /// What was added to a number that the client has not set.
    private var sum: Int64?
    private var list = List.untouched
    /// What dictionary entries hold, nil for those that were removed.
    private var entries: [ByteString: Value?] = [:]
    /// The values that a set holds (true), and those that it does not hold (false).
    private var members: [Value: Bool] = [:]

    init(isErased: Bool) { self.isErased = isErased }

    // MARK: Following

    mutating func follow(
        _ instruction: Instruction, _ path: PathElements, _ column: ColumnSchema, _ strings: InternTable
    ) {
        switch column.collection {
        case .single: property(instruction, path)
        case .list: list(instruction, path)
        case .dictionary: entry(instruction, path, strings)
        case .set: member(instruction)
        }
    }

    private mutating func property(_ instruction: Instruction, _ path: PathElements) {
        switch instruction {
        case .update(let update) where path.isEmpty:
            value = Value(scalar: update.value)
            sum = nil
            // Whatever it was before, nothing is left of what the server has.
            isErased = true
        case .addInteger(_, let delta) where path.isEmpty:
            if case .int(let number)? = value { value = .int(number &+ delta) }
            if !isErased { sum = (sum ?? 0) &+ delta }
        default:
            value = nil
            sum = nil
            isErased = true
        }
    }

    private mutating func list(_ instruction: Instruction, _ path: PathElements) {
        switch (instruction, list) {
        case (.clear, _) where path.isEmpty:
            isErased = true
            list = .inserted([:])
        case (_, .copied), (_, .uncertain): return
        case (.arrayInsert(_, let payload, _), _) where path.count == 1:
            var counts: [Value: Int] = [:]
            if case .inserted(let present) = list { counts = present }
            guard let value = Value(scalar: payload) else {
                list = .uncertain
                return
            }
            counts[value, default: 0] += 1
            list = .inserted(counts)
        // Elements that the replay did not insert itself may be anywhere: the whole list is taken as the client has it.
        case (_, .untouched) where path.count == 1 && !isErased: list = .copied
        default: list = .uncertain
        }
    }

    private mutating func entry(_ instruction: Instruction, _ path: PathElements, _ strings: InternTable) {
        guard case .key(let interned)? = path.first, let key = strings[interned] else {
            entries = [:]
            return
        }
        entries[key] = nil
        guard path.count == 1, case .update(let update) = instruction else { return }
        if update.value == .erased {
            entries[key] = .some(nil)
        } else if let value = Value(scalar: update.value) {
            entries[key] = value
        }
    }

    private mutating func member(_ instruction: Instruction) {
        switch instruction {
        case .setInsert(_, let payload): Value(plain: payload).map { members[$0] = true }
        case .setErase(_, let payload): Value(plain: payload).map { members[$0] = false }
        default: members = [:]
        }
    }

    // MARK: Checking

    /// What was expected of the field instead of what was found, nil if nothing else.
    func broken(_ found: Value?, _ fresh: Value?, _ local: Value?) -> String? {
        if let value, found != value { return "\(value), found \(Self.text(found))" }
        if let sum, case .int(let start)? = fresh, found != .int(start &+ sum) {
            return "\(start) and \(sum) more, found \(Self.text(found))"
        }
        switch (found, list) {
        case (.list(let items)?, .copied):
            guard case .list(let own)? = local, own.allSatisfy(\.isPlain) else { return nil }
            return items == own ? nil : "the client's \(own), found \(items)"
        case (.list(let items)?, .inserted(var wanted)):
            if !isErased, case .list(let start)? = fresh { for item in start { wanted[item, default: 0] += 1 } }
            let counts = Dictionary(items.map { ($0, 1) }, uniquingKeysWith: +)
            return counts == wanted ? nil : "\(wanted), found \(counts)"
        default: break
        }
        if case .dictionary(let found)? = found {
            for (key, value) in entries where found[key] != value {
                return "'\(key)' to be \(Self.text(value)), found \(Self.text(found[key]))"
            }
        }
        if case .set(let found)? = found {
            for (value, isMember) in members where found.contains(value) != isMember {
                return "\(value) to be \(isMember ? "" : "no ")member of \(found)"
            }
        }
        return nil
    }

    private static func text(_ value: Value?) -> String { value.map { "\($0)" } ?? "nothing" }
}

extension Value {
    /// What a payload stands for, nil for links and what holds something.
    fileprivate init?(scalar payload: Payload) {
        switch payload {
        case .null: self = .null
        case .int(let value): self = .int(value)
        case .bool(let value): self = .bool(value)
        case .string(let value): self = .string(value)
        case .binary(let value): self = .binary(value)
        case .timestamp(let value): self = .timestamp(value)
        case .float(let bits): self = .float(bits: bits)
        case .double(let bits): self = .double(bits: bits)
        case .decimal(let value): self = .decimal(value)
        case .objectID(let value): self = .objectID(value)
        case .uuid(let value): self = .uuid(value)
        case .link, .list, .dictionary, .set, .objectValue, .erased: return nil
        }
    }

    /// Whether it is the same to everybody: nothing can be missing at a link's end, or inside.
    fileprivate var isPlain: Bool { self == .null || (scalarType != nil && scalarType != .link) }

    /// A value that has only one form: numbers may be members in the form of their twin.
    fileprivate init?(plain payload: Payload) {
        switch payload {
        case .null, .string, .binary, .bool, .objectID, .uuid: self.init(scalar: payload)
        default: return nil
        }
    }
}

package import Changesets

extension Value {
    /// The order of a set's members: null, bools, numbers of any type by value, strings, binaries, timestamps,
    /// object ids, UUIDs, links. Two values of which neither comes first are one member.
    package static func setOrder(_ left: Value, _ right: Value) -> Bool { compare(left, right) < 0 }

    /// Negative, zero or positive.
    package static func compare(_ left: Value, _ right: Value) -> Int {
        let ranks = (left.setRank, right.setRank)
        guard ranks.0 == ranks.1 else { return ranks.0 - ranks.1 }
        switch (left, right) {
        case (.bool(let left), .bool(let right)): return order(left ? 1 : 0, right ? 1 : 0)
        case (.string(let left), .string(let right)): return order(left, right)
        case (.binary(let left), .binary(let right)): return order(ByteString(left), ByteString(right))
        case (.timestamp(let left), .timestamp(let right)): return order(left, right)
        case (.objectID(let left), .objectID(let right)): return order(left, right)
        case (.uuid(let left), .uuid(let right)): return order(left, right)
        case (.link(let left), .link(let right)): return order(left, right)
        default:
            guard let left = left.number, let right = right.number else { return 0 }
            return SetNumber.compare(left, right)
        }
    }

    private static func order<T: Comparable>(_ left: T, _ right: T) -> Int { left < right ? -1 : left == right ? 0 : 1 }

    private var setRank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int, .float, .double, .decimal: 2
        case .string: 3
        case .binary: 4
        case .timestamp: 5
        case .objectID: 6
        case .uuid: 7
        case .link: 8
        case .list, .dictionary, .set, .embedded: 9
        }
    }

    private var number: SetNumber? {
        switch self {
        case .int(let value): .int(value)
        case .float(let bits): .double(Double(Float(bitPattern: bits)))
        case .double(let bits): .double(Double(bitPattern: bits))
        case .decimal(let value): .decimal(value)
        default: nil
        }
    }
}

extension ObjectAddress: Comparable {
    package static func < (left: ObjectAddress, right: ObjectAddress) -> Bool {
        left.className == right.className ? left.key < right.key : left.className < right.className
    }
}

extension ObjectKey: Comparable {
    package static func < (left: ObjectKey, right: ObjectKey) -> Bool {
        switch (left, right) {
        case (.int(let left), .int(let right)): left < right
        case (.string(let left), .string(let right)): left < right
        case (.globalKey(let high, let low), .globalKey(let otherHigh, let otherLow)):
            (high, low) < (otherHigh, otherLow)
        case (.objectID(let left), .objectID(let right)): left < right
        case (.uuid(let left), .uuid(let right)): left < right
        default: left.rank < right.rank
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .int: 1
        case .string: 2
        case .globalKey: 3
        case .objectID: 4
        case .uuid: 5
        }
    }
}

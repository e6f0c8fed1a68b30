import Changesets
package import ExtendedJSON
import Query
import RealmState

/// A value as properties have it: in extensions of `BSONValue` the plain name means something else.
typealias PropertyValue = Value

/// The order of values of any types: that of MongoDB, by type first (null, numbers, strings, objects, arrays, binary, ids, booleans, times), numbers of
/// all types by what they are worth.
package enum BSONOrder {
    /// - Returns: less than, equal to or more than 0.
    package static func compare(_ left: BSONValue, _ right: BSONValue) -> Int {
        let (leftRank, rightRank) = (rank(left), rank(right))
        guard leftRank == rightRank else { return leftRank < rightRank ? -1 : 1 }
        if let left = left.number, let right = right.number { return ValueOrder.total(left, right) }
        switch (left, right) {
        case (.string(let left), .string(let right)): return order(left, right)
        case (.document(let left), .document(let right)): return compare(left, right)
        case (.array(let left), .array(let right)): return compare(left, right)
        case (.binary(let left, _), .binary(let right, _)):
            return left.count == right.count ? bytes(left, right) : order(left.count, right.count)
        case (.uuid(let left), .uuid(let right)): return order(left, right)
        case (.objectID(let left), .objectID(let right)): return order(left, right)
        case (.bool(let left), .bool(let right)): return order(left ? 1 : 0, right ? 1 : 0)
        case (.date(let left), .date(let right)): return order(left, right)
        case (.timestamp(let left, let leftIncrement), .timestamp(let right, let rightIncrement)):
            return left == right ? order(leftIncrement, rightIncrement) : order(left, right)
        case (.regularExpression(let left, _), .regularExpression(let right, _)): return order(left, right)
        default: return 0
        }
    }

    /// The value by which equal values of all types are known: 1 and 1.0 are one number.
    static func key(_ value: BSONValue) -> BSONValue {
        switch value {
        case .int32(let number): return .int64(Int64(number))
        case .double(let number): return Int64(exactly: number).map { .int64($0) } ?? value
        case .decimal128(let number): return integer(DecimalNumber(number)).map { .int64($0) } ?? value
        case .array(let items): return .array(items.map(key))
        case .document(let document):
            return .document(BSONDocument(document.members.lazy.map { ($0.key, key($0.value)) }))
        default: return value
        }
    }

    private static func integer(_ number: DecimalNumber) -> Int64? {
        guard number.kind == .finite else { return nil }
        var (coefficient, exponent) = (number.coefficient, number.exponent)
        while exponent < 0, coefficient % 10 == 0 {
            guard coefficient != 0 else { return 0 }
            coefficient /= 10
            exponent += 1
        }
        while exponent > 0, coefficient < UInt128(Int64.max) {
            coefficient *= 10
            exponent -= 1
        }
        guard exponent == 0, let magnitude = Int64(exactly: coefficient) else { return nil }
        return number.isNegative ? -magnitude : magnitude
    }

    private static func rank(_ value: BSONValue) -> Int {
        switch value {
        case .minKey: 0
        case .null: 1
        case .int32, .int64, .double, .decimal128: 2
        case .string: 3
        case .document: 4
        case .array: 5
        case .binary: 6
        case .uuid: 7
        case .objectID: 8
        case .bool: 9
        case .date: 10
        case .timestamp: 11
        case .regularExpression: 12
        case .maxKey: 13
        }
    }

    private static func compare(_ left: BSONDocument, _ right: BSONDocument) -> Int {
        for (left, right) in zip(left, right) {
            let order = left.key == right.key ? compare(left.value, right.value) : order(left.key, right.key)
            if order != 0 { return order }
        }
        return order(left.count, right.count)
    }

    private static func compare(_ left: [BSONValue], _ right: [BSONValue]) -> Int {
        for (left, right) in zip(left, right) {
            let order = compare(left, right)
            if order != 0 { return order }
        }
        return order(left.count, right.count)
    }

    private static func order<T: Comparable>(_ left: T, _ right: T) -> Int { left < right ? -1 : left == right ? 0 : 1 }

    private static func bytes(_ left: [UInt8], _ right: [UInt8]) -> Int {
        left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
    }
}

extension BSONValue {
    /// A number as properties have it; nil for anything else.
    var number: PropertyValue? {
        switch self {
        case .int32(let number): .int(Int64(number))
        case .int64(let number): .int(number)
        case .double(let number): .double(bits: number.bitPattern)
        case .decimal128(let number): .decimal(number)
        default: nil
        }
    }

    /// The value of a number as properties have it.
    init?(number: PropertyValue) {
        switch number {
        case .int(let number): self.init(number)
        case .double(let bits): self = .double(Double(bitPattern: bits))
        case .decimal(let number): self = .decimal128(number)
        default: return nil
        }
    }

    /// The bytes that the value takes in memory, about.
    package var weight: Int {
        switch self {
        case .string(let text): 32 + text.count
        case .binary(let bytes, _): 32 + bytes.count
        case .array(let items): items.reduce(32) { $0 + $1.weight }
        case .document(let document): document.weight
        default: 24
        }
    }
}

extension BSONDocument {
    /// The bytes that the document takes in memory, about.
    package var weight: Int { members.reduce(64) { $0 + 32 + $1.key.count + $1.value.weight } }
}

import Changesets
import RealmState

/// A value of random objects and queries, in a form of its own: neither that of stores nor that of compiled queries.
enum Scalar {
    case null
    case bool(Bool)
    case int(Int64)
    /// A float, double or decimal: a multiple of 1/4, which all three hold exactly, or NaN. Only averages are others.
    case real(Double)
    case string(String)
    case date(seconds: Int64, nanoseconds: Int32)
    /// A link to the task with this key.
    case link(Int64)

    /// The value as a literal of the query language.
    var literal: String {
        switch self {
        case .null: "NULL"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .real(let value): "\(value)"
        case .string(let value): "'\(value)'"
        case .date(let seconds, let nanoseconds): "T\(seconds):\(nanoseconds)"
        case .link(let key): "obj('Task', \(key))"
        }
    }

    /// The value as stores hold it in a property of some kind.
    func stored(as kind: Kind) -> Value {
        switch self {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .int(let value): return .int(value)
        case .real(let value):
            if kind == .float { return .float(bits: Float(value).bitPattern) }
            guard kind == .decimal else { return .double(bits: value.bitPattern) }
            // Hundredths: a coefficient with the exponent -2.
            let sign: UInt64 = value < 0 ? 1 << 63 : 0
            return .decimal(Decimal128Value(high: 0x303C_0000_0000_0000 | sign, low: UInt64(abs(value) * 100)))
        case .string(let value): return .string(ByteString(value))
        case .date(let seconds, let nanoseconds):
            return .timestamp(TimestampValue(seconds: seconds, nanoseconds: nanoseconds))
        case .link(let key): return .link(ObjectAddress(TaskRealm.className, .int(key)))
        }
    }
}

/// What a property, or each element of a list, holds.
enum Kind {
    case bool
    case int
    case double
    case float
    case decimal
    case string
    case date

    var isNumeric: Bool { [.int, .double, .float, .decimal].contains(self) }
}

/// A property of `TaskRealm` that random objects fill and random queries ask for.
struct Field {
    var name: String
    var kind: Kind
    var isOptional = false
    var isList = false

    static let all = [
        Field(name: "_id", kind: .int), Field(name: "owner", kind: .string),
        Field(name: "team", kind: .string, isOptional: true), Field(name: "priority", kind: .int),
        Field(name: "estimate", kind: .int, isOptional: true), Field(name: "progress", kind: .double),
        Field(name: "done", kind: .bool), Field(name: "cost", kind: .decimal, isOptional: true),
        Field(name: "at", kind: .date, isOptional: true), Field(name: "rating", kind: .float, isOptional: true),
        Field(name: "tags", kind: .string, isList: true), Field(name: "scores", kind: .int, isList: true),
    ]

    /// What an object holds that never wrote the property.
    var initial: [Scalar] {
        if isList { return [] }
        if isOptional { return [.null] }
        switch kind {
        case .bool: return [.bool(false)]
        case .int: return [.int(0)]
        case .double, .float, .decimal: return [.real(0)]
        case .string: return [.string("")]
        case .date: return [.date(seconds: 0, nanoseconds: 0)]
        }
    }
}

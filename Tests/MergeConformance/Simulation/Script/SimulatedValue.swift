import Changesets
import RealmState

/// A value in a script: a kind and a small number, so that it can be written down, read and made smaller.
package struct SimulatedValue: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, CaseIterable, Sendable {
        case null, int, bool, string, binary, time, float, double, decimal, oid, uuid
        /// A link to the object of that number in the class `target`.
        case link
        /// Empty, as everything that holds something is.
        case list, dictionary, object

        var hasNumber: Bool {
            switch self {
            case .null, .list, .dictionary, .object: false
            default: true
            }
        }
    }

    package var kind: Kind
    package var number: Int64
    package var target: String?

    package init(_ kind: Kind, _ number: Int64 = 0, target: String? = nil) {
        self.kind = kind
        self.number = number
        self.target = target
    }

    package var description: String {
        if let target { return "\(kind.rawValue)(\(target)/\(number))" }
        return kind.hasNumber ? "\(kind.rawValue)(\(number))" : kind.rawValue
    }

    package init(parsing text: some StringProtocol) throws(ScriptError) {
        let parts = text.split(separator: "(", maxSplits: 1)
        guard let name = parts.first, let kind = Kind(rawValue: String(name)) else {
            throw ScriptError("expected a value such as int(5) or null, found '\(text)'")
        }
        self.init(kind)
        guard kind.hasNumber else { return }
        guard parts.count == 2, parts[1].hasSuffix(")") else {
            throw ScriptError("expected a number in brackets, found '\(text)'")
        }
        let inside = parts[1].dropLast().split(separator: "/")
        guard let last = inside.last, let number = Int64(last), inside.count == (kind == .link ? 2 : 1) else {
            throw ScriptError("expected a number, or a class and a number, found '\(text)'")
        }
        self.number = number
        if kind == .link { target = String(inside[0]) }
    }

    /// What it stands for; nil for a link to a class that there is not.
    func value(in schema: Schema) -> Value? {
        let bits = UInt64(bitPattern: number)
        switch kind {
        case .null: return .null
        case .int: return .int(number)
        case .bool: return .bool(number != 0)
        case .string: return .string(ByteString("s\(number)"))
        case .binary: return .binary([UInt8(truncatingIfNeeded: number)])
        case .time: return .timestamp(TimestampValue(seconds: number, nanoseconds: 0))
        case .float: return .float(bits: Self.special(number)?.float ?? Float(number).bitPattern)
        case .double: return .double(bits: Self.special(number)?.double ?? Double(number).bitPattern)
        case .decimal: return .decimal(Self.decimal(bits))
        case .oid: return .objectID(ObjectIDValue(high: 0, low: UInt32(truncatingIfNeeded: number)))
        case .uuid: return .uuid(UUIDValue(high: 0, low: bits))
        case .link:
            guard let target, let table = schema.table(ByteString(target)), let key = table.objectKey(number) else {
                return nil
            }
            return .link(ObjectAddress(table.name, key))
        case .list: return .list([])
        case .dictionary: return .dictionary([:])
        case .object: return .embedded(StoredObject())
        }
    }

    /// 8 is minus zero and 9 is not a number: equal to each other in no certain way.
    private static func special(_ number: Int64) -> (float: UInt32, double: UInt64)? {
        switch number {
        case 8: ((-Float.zero).bitPattern, (-Double.zero).bitPattern)
        case 9: (Float.nan.bitPattern, Double.nan.bitPattern)
        default: nil
        }
    }

    /// Odd numbers have a digit behind the point: 0 and 1 are zero as `0` and `0.0`, 2 and 3 are one, and so on.
    private static func decimal(_ bits: UInt64) -> Decimal128Value {
        let value = bits >> 1 & 0xFFFF
        return bits & 1 == 0
            ? Decimal128Value(high: 0x3040_0000_0000_0000, low: value)
            : Decimal128Value(high: 0x303E_0000_0000_0000, low: value &* 10)
    }
}

extension TableSchema {
    /// The primary key that a script's number stands for; 0 is null where that is a key.
    func objectKey(_ number: Int64) -> ObjectKey? {
        guard let key else { return nil }
        if key.nullable, number == 0 { return .null }
        return switch key.type {
        case .int: .int(number)
        case .string: .string(ByteString("k\(number)"))
        case .objectID: .objectID(ObjectIDValue(high: 7, low: UInt32(truncatingIfNeeded: number)))
        case .uuid: .uuid(UUIDValue(high: 7, low: UInt64(bitPattern: number)))
        case .globalKey: .globalKey(high: 1, low: UInt64(bitPattern: number))
        default: nil
        }
    }
}

/// A script that cannot be read: what was expected and what there was.
package struct ScriptError: Error, Hashable, Sendable, CustomStringConvertible {
    package var message: String
    package var line: Int?

    package init(_ message: String, line: Int? = nil) {
        self.message = message
        self.line = line
    }

    package var description: String { line.map { "line \($0): \(message)" } ?? message }
}

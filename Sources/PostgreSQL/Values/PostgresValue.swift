/// A statement's parameter. Nil is NULL of the type.
package enum PostgresValue: Sendable {
    case int(Int64?)
    case real(Double?)
    case bool(Bool?)
    case text(String?)
    case bytes([UInt8]?)
    case ints([Int64])
    case optionalInts([Int64?])
    case reals([Double])
    case bools([Bool])
    case texts([String])
    case optionalTexts([String?])
    case byteStrings([[UInt8]])
}

extension PostgresValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral
{
    package init(integerLiteral value: Int64) { self = .int(value) }
    package init(stringLiteral value: String) { self = .text(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(floatLiteral value: Double) { self = .real(value) }
}

/// The server's numbers of types. They are the same in every PostgreSQL.
enum PostgresType {
    static let bool: UInt32 = 16
    static let bytes: UInt32 = 17
    static let int: UInt32 = 20
    static let text: UInt32 = 25
    static let real: UInt32 = 701
    static let bools: UInt32 = 1000
    static let byteStrings: UInt32 = 1001
    static let texts: UInt32 = 1009
    static let ints: UInt32 = 1016
    static let reals: UInt32 = 1022
}

extension PostgresValue {
    var type: UInt32 {
        switch self {
        case .int: PostgresType.int
        case .real: PostgresType.real
        case .bool: PostgresType.bool
        case .text: PostgresType.text
        case .bytes: PostgresType.bytes
        case .ints, .optionalInts: PostgresType.ints
        case .reals: PostgresType.reals
        case .bools: PostgresType.bools
        case .texts, .optionalTexts: PostgresType.texts
        case .byteStrings: PostgresType.byteStrings
        }
    }

    /// Appends the value in the server's binary format.
    ///
    /// - Returns: false for NULL, of which nothing is appended.
    func encode(into bytes: inout [UInt8]) -> Bool {
        switch self {
        case .int(let value): return Self.encode(value, &bytes) { $1.appendBigEndian($0) }
        case .real(let value): return Self.encode(value, &bytes) { $1.appendBigEndian($0.bitPattern) }
        case .bool(let value): return Self.encode(value, &bytes) { $1.append($0 ? 1 : 0) }
        case .text(let value): return Self.encode(value, &bytes) { $1.append(contentsOf: $0.utf8) }
        case .bytes(let value): return Self.encode(value, &bytes) { $1.append(contentsOf: $0) }
        case .ints(let values):
            bytes.appendArray(values, of: PostgresType.int, size: 8) { $1.appendBigEndian($0) }
        case .optionalInts(let values):
            bytes.appendOptionals(values, of: PostgresType.int) {
                $1.appendBigEndian(Int32(8))
                $1.appendBigEndian($0)
            }
        case .reals(let values):
            bytes.appendArray(values, of: PostgresType.real, size: 8) { $1.appendBigEndian($0.bitPattern) }
        case .bools(let values):
            bytes.appendArray(values, of: PostgresType.bool, size: 1) { $1.append($0 ? 1 : 0) }
        case .texts(let values):
            bytes.appendOptionals(values, of: PostgresType.text) { $1.appendCounted($0.utf8) }
        case .optionalTexts(let values):
            bytes.appendOptionals(values, of: PostgresType.text) { $1.appendCounted($0.utf8) }
        case .byteStrings(let values):
            bytes.reserveCapacity(bytes.count + values.reduce(20) { $0 + $1.count + 4 })
            bytes.appendOptionals(values, of: PostgresType.bytes) { $1.appendCounted($0) }
        }
        return true
    }

    private static func encode<Value>(
        _ value: Value?, _ bytes: inout [UInt8], _ append: (Value, inout [UInt8]) -> Void
    ) -> Bool {
        guard let value else { return false }
        append(value, &bytes)
        return true
    }
}

extension [UInt8] {
    mutating func appendBigEndian<Number: FixedWidthInteger>(_ number: Number) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }

    /// An array's heading: its dimensions, whether there are NULLs, the type and number of elements, the first index.
    private mutating func appendHeading(_ count: Int, _ type: UInt32, hasNull: Bool) {
        appendBigEndian(Int32(count == 0 ? 0 : 1))
        appendBigEndian(Int32(hasNull ? 1 : 0))
        appendBigEndian(type)
        guard count > 0 else { return }
        appendBigEndian(Int32(clamping: count))
        appendBigEndian(Int32(1))
    }

    /// An array of elements that all have the same size.
    fileprivate mutating func appendArray<Value>(
        _ values: [Value], of type: UInt32, size: Int32, _ append: (Value, inout [UInt8]) -> Void
    ) {
        reserveCapacity(count + 20 + values.count * Int(size + 4))
        appendHeading(values.count, type, hasNull: false)
        for value in values {
            appendBigEndian(size)
            append(value, &self)
        }
    }

    /// An array whose elements write their own size, and may be missing.
    fileprivate mutating func appendOptionals<Value>(
        _ values: [Value?], of type: UInt32, _ append: (Value, inout [UInt8]) -> Void
    ) {
        appendHeading(values.count, type, hasNull: values.contains { $0 == nil })
        for value in values {
            if let value { append(value, &self) } else { appendBigEndian(Int32(-1)) }
        }
    }

    fileprivate mutating func appendCounted(_ bytes: some Collection<UInt8>) {
        appendBigEndian(Int32(clamping: bytes.count))
        append(contentsOf: bytes)
    }
}

/// The named arguments of a declaration, or the headers of a message.
public typealias AMQPTable = [String: AMQPValue]

/// A value in an AMQP table.
///
/// AMQP has a dozen sizes of number; they are all read as `int` or `double`, and written in 64 bits, which RabbitMQ
/// accepts everywhere.
public enum AMQPValue: Sendable, Hashable {
    /// A truth value.
    case bool(Bool)
    /// A whole number. Unsigned 64-bit numbers above `Int64.max` are read as `Int64.max`.
    case int(Int64)
    /// A floating-point number; decimals are read as one.
    case double(Double)
    /// Text. What is not UTF-8 is read as `bytes`.
    case string(String)
    /// Bytes.
    case bytes([UInt8])
    /// Whole seconds since 1970.
    case timestamp(UInt64)
    /// A list.
    case array([AMQPValue])
    /// A nested table.
    case table(AMQPTable)
    /// Nothing.
    case void
}

extension AMQPValue {
    /// The number, if it is a whole one.
    public var intValue: Int64? { if case .int(let value) = self { value } else { nil } }

    /// The text, if it is text.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
}

extension AMQPValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A floating-point number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// A list.
    public init(arrayLiteral elements: AMQPValue...) { self = .array(elements) }
    /// A nested table; of a key that is repeated, the last value counts.
    public init(dictionaryLiteral elements: (String, AMQPValue)...) {
        self = .table(AMQPTable(elements, uniquingKeysWith: { $1 }))
    }
    /// Nothing.
    public init(nilLiteral: ()) { self = .void }
}

import Changesets

/// Numbers the values that set instructions carry, so that equal numbers are equal values as merging has it
/// (section 2): the same type first, then the value; floating-point numbers by their number, decimals too.
///
/// A Mixed set stores only one of Int 1 and Double 1.0, but here they are two values.
struct ElementTable {
    private enum Identity: Hashable {
        case value(Payload)
        case link(ObjectNumber)
        /// The facts that the reference compares for two erasures: where the bytes lay, and the changeset's own numbers.
        case rawBytes(PayloadType, offset: UInt64, count: Int)
        case rawLink(table: InternedString, key: PrimaryKey)
    }

    private var numbers: [Identity: UInt32] = [:]
    private var count: UInt32 = 0

    /// - Parameters:
    ///   - target: the object that a link payload names.
    ///   - unifyingTwins: whether values that a set takes for one are one.
    mutating func number(of payload: Payload, target: ObjectNumber, unifyingTwins: Bool = false) -> UInt32 {
        let payload = unifyingTwins ? payload.twin : payload
        return switch payload {
        case .link: number(of: .link(target))
        case .float(let bits):
            Float(bitPattern: bits).isNaN ? fresh() : number(of: .value(.float(bits: bits == 1 << 31 ? 0 : bits)))
        case .double(let bits):
            Double(bitPattern: bits).isNaN ? fresh() : number(of: .value(.double(bits: bits == 1 << 63 ? 0 : bits)))
        case .decimal(let value): number(of: .value(.decimal(value.withoutTrailingZeros)))
        default: number(of: .value(payload))
        }
    }

    /// - Parameter offset: where the payload's bytes lay in the reference's string buffer.
    mutating func rawNumber(of payload: Payload, offset: UInt64) -> UInt32 {
        switch payload {
        case .string(let string): number(of: .rawBytes(.string, offset: offset, count: string.count))
        case .binary(let bytes): number(of: .rawBytes(.binary, offset: offset, count: bytes.count))
        case .link(let table, let key): number(of: .rawLink(table: table, key: key))
        default: number(of: payload, target: .none)
        }
    }

    private mutating func number(of identity: Identity) -> UInt32 {
        if let number = numbers[identity] { return number }
        let number = fresh()
        numbers[identity] = number
        return number
    }

    /// Equal to nothing, as a NaN is.
    private mutating func fresh() -> UInt32 {
        count &+= 1
        return count
    }
}

extension Payload {
    /// One representative of all numbers that are one member of a set: of 1, 1.0 and 1.00 the integer, and any NaN.
    ///
    /// A decimal fraction and the binary number it reads as are one member too, but have no common form here, since
    /// several decimals read as one binary number.
    fileprivate var twin: Payload {
        switch self {
        case .float(let bits): Self.twin(of: Double(Float(bitPattern: bits)))
        case .double(let bits): Self.twin(of: Double(bitPattern: bits))
        case .decimal(let value):
            value.withoutTrailingZeros.integer.map(Payload.int)
                ?? (value.withoutTrailingZeros.isNaN ? .decimal(.nan) : .decimal(value.withoutTrailingZeros))
        default: self
        }
    }

    private static func twin(of number: Double) -> Payload {
        if number.isNaN { return .decimal(.nan) }
        return Int64(exactly: number).map(Payload.int) ?? .double(bits: number.bitPattern)
    }
}

extension Decimal128Value {
    fileprivate static let nan = Decimal128Value(high: 0b11111 << 58, low: 0)
    fileprivate var isNaN: Bool { self == .nan }

    /// The value as an integer, of a decimal without trailing zeros.
    fileprivate var integer: Int64? {
        // Zero's representative has no exponent.
        if high == 0, low == 0 { return 0 }
        guard high >> 58 & 0b11111 < 0b11110 else { return nil }
        let exponent = Int(high >> 49 & 0x3FFF) - 6176
        guard (0...18).contains(exponent), high & 0x1_FFFF_FFFF_FFFF == 0 else { return nil }
        var magnitude = low
        for _ in 0..<exponent {
            let (product, overflows) = magnitude.multipliedReportingOverflow(by: 10)
            if overflows { return nil }
            magnitude = product
        }
        guard let value = Int64(exactly: magnitude) else { return nil }
        return high >> 63 == 0 ? value : -value
    }

    /// One representative of all decimals of the same numeric value: 1.0 and 1.00, 0 and -0, any NaN and any other.
    var withoutTrailingZeros: Decimal128Value {
        let sign = high & 1 << 63
        switch high >> 58 & 0b11111 {
        case 0b11111: return Decimal128Value(high: 0b11111 << 58, low: 0)
        case 0b11110: return Decimal128Value(high: sign | 0b11110 << 58, low: 0)
        default: break
        }
        let zero = Decimal128Value(high: 0, low: 0)
        // The other layout with a leading 11 is reserved for coefficients that are too large; such values count as 0.
        guard high >> 61 & 0b11 != 0b11 else { return zero }
        var exponent = high >> 49 & 0x3FFF
        var coefficient = UInt128(high & 0x1_FFFF_FFFF_FFFF) << 64 | UInt128(low)
        guard coefficient > 0, coefficient < Self.coefficientLimit else { return zero }
        while true {
            let (quotient, remainder) = coefficient.quotientAndRemainder(dividingBy: 10)
            guard remainder == 0 else { break }
            coefficient = quotient
            exponent += 1
        }
        // An exponent beyond the format's range only has to stay distinct: no other value reaches the same bits,
        // since it takes all 14 bits of the field and at most 34 more.
        return Decimal128Value(
            high: sign | exponent << 49 | UInt64(truncatingIfNeeded: coefficient >> 64),
            low: UInt64(truncatingIfNeeded: coefficient))
    }

    /// 10^34: decimal128 has 34 digits.
    private static let coefficientLimit: UInt128 = (0..<34).reduce(1) { power, _ in power * 10 }
}

import Changesets

/// Numbers the values that set instructions carry, so that equal numbers are equal values as merging has it
/// (section 2): the same type first, then the value; floating-point numbers by their number, decimals too.
///
/// A Mixed set stores only one of Int 1 and Double 1.0, but here they are two values.
struct ElementTable {
    private enum Identity: Hashable {
        case value(Payload)
        case link(ObjectNumber)
        /// What the reference compares for two erasures: where the bytes lay, and the changeset's own numbers.
        case rawBytes(PayloadType, offset: UInt64, count: Int)
        case rawLink(table: InternedString, key: PrimaryKey)
    }

    private var numbers: [Identity: UInt32] = [:]
    private var count: UInt32 = 0

    /// - Parameter target: the object that a link payload names.
    mutating func number(of payload: Payload, target: ObjectNumber) -> UInt32 {
        switch payload {
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

extension Decimal128Value {
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

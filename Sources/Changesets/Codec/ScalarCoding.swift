/// The data that follow a type code, for the types that look the same wherever they occur.
extension VarintReader {
    package mutating func readTimestamp() throws(ChangesetError) -> TimestampValue {
        let seconds = try readInt64()
        let nanoseconds = try readInt64()
        guard nanoseconds > -1_000_000_000, nanoseconds < 1_000_000_000,
            seconds == 0 || nanoseconds == 0 || (seconds < 0) == (nanoseconds < 0)
        else { throw malformed("timestamp out of range: \(seconds) s and \(nanoseconds) ns") }
        return TimestampValue(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }

    package mutating func readDecimal() throws(ChangesetError) -> Decimal128Value {
        let coefficient = try readUInt128()
        let exponent = try Int64(readInt32()) + Decimal128Value.exponentBias
        let sign = try readInt32()
        guard coefficient.high <= Decimal128Value.highCoefficientMask, (0...0x3FFF).contains(exponent),
            sign == 0 || sign == 1
        else { throw malformed("decimal decoding failure: coefficient, exponent or sign out of range") }
        let high = coefficient.high | UInt64(exponent) << 49 | UInt64(sign) << 63
        return Decimal128Value(high: high, low: coefficient.low)
    }

    package mutating func readObjectID() throws(ChangesetError) -> ObjectIDValue {
        let high = try readFixed(8, littleEndian: false)
        return ObjectIDValue(high: high, low: UInt32(try readFixed(4, littleEndian: false)))
    }

    package mutating func readUUID() throws(ChangesetError) -> UUIDValue {
        let high = try readFixed(8, littleEndian: false)
        return UUIDValue(high: high, low: try readFixed(8, littleEndian: false))
    }

    package mutating func readGlobalKey() throws(ChangesetError) -> (high: UInt64, low: UInt64) {
        let high = try readUInt64()
        guard high <= ChangesetLimits.maxGlobalKeyFile else { throw malformed("global key out of range") }
        return (high, try readUInt64())
    }
}

extension VarintWriter {
    package mutating func write(_ value: TimestampValue) {
        write(value.seconds)
        write(Int64(value.nanoseconds))
    }

    package mutating func write(_ value: Decimal128Value) {
        write(high: value.high & Decimal128Value.highCoefficientMask, low: value.low)
        write(Int64(value.high >> 49 & 0x3FFF) - Decimal128Value.exponentBias)
        write(value.high >> 63 != 0)
    }

    package mutating func write(_ value: ObjectIDValue) {
        write(fixed: value.high, count: 8, littleEndian: false)
        write(fixed: UInt64(value.low), count: 4, littleEndian: false)
    }

    package mutating func write(_ value: UUIDValue) {
        write(fixed: value.high, count: 8, littleEndian: false)
        write(fixed: value.low, count: 8, littleEndian: false)
    }
}

extension Decimal128Value {
    static let exponentBias: Int64 = 6176
    static let highCoefficientMask: UInt64 = 0x0001_FFFF_FFFF_FFFF
}

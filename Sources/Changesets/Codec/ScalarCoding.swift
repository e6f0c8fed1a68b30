/// Type codes, and the data that follow them, for the types that look the same wherever they occur.
extension VarintReader {
    package mutating func readPayloadType() throws(ChangesetError) -> PayloadType {
        let number = try readInt64()
        guard let type = PayloadType(rawValue: number) else { throw malformed("Unsupported data type \(number)") }
        return type
    }

    /// The payload behind its type code; not that of a link, which takes a changeset's strings to read.
    package mutating func readPayload(of type: PayloadType) throws(ChangesetError) -> Payload {
        switch type {
        case .set: return .set
        case .list: return .list
        case .erased: return .erased
        case .dictionary: return .dictionary
        case .objectValue: return .objectValue
        case .null: return .null
        case .int: return .int(try readInt64())
        case .bool: return .bool(try readBool())
        case .string: return .string(try readString())
        case .binary:
            return .binary(try readBytes(try readLength(limit: ChangesetLimits.maxBinaryBytes, what: "binary")))
        case .timestamp: return .timestamp(try readTimestamp())
        case .float: return .float(bits: UInt32(try readFixed(4, littleEndian: true)))
        case .double: return .double(bits: try readFixed(8, littleEndian: true))
        case .decimal: return .decimal(try readDecimal())
        case .objectID: return .objectID(try readObjectID())
        case .uuid: return .uuid(try readUUID())
        case .globalKey, .link: throw malformed("Unsupported payload data type: \(type)")
        }
    }

    package mutating func readString() throws(ChangesetError) -> ByteString {
        let count = try readLength(limit: ChangesetLimits.maxStringBytes, what: "string")
        let start = position
        try skip(count)
        return ByteString(bytes[start..<position])
    }

    package mutating func readTimestamp() throws(ChangesetError) -> TimestampValue {
        let seconds = try readInt64()
        let nanoseconds = try readInt64()
        let value = TimestampValue(seconds: seconds, nanoseconds: Int32(clamping: nanoseconds))
        guard value.isValid else { throw malformed("timestamp out of range: \(seconds) s and \(nanoseconds) ns") }
        return value
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
    /// The type code and the payload's data; of a link the type code alone.
    package mutating func write(_ payload: Payload) {
        write(payload.type.rawValue)
        switch payload {
        case .set, .list, .dictionary, .erased, .objectValue, .null, .link: break
        case .int(let value): write(value)
        case .bool(let value): write(value)
        case .string(let value): write(lengthAnd: value)
        case .binary(let value): write(lengthAnd: value)
        case .timestamp(let value): write(value)
        case .float(let bits): write(fixed: UInt64(bits), count: 4, littleEndian: true)
        case .double(let bits): write(fixed: bits, count: 8, littleEndian: true)
        case .decimal(let value): write(value)
        case .objectID(let value): write(value)
        case .uuid(let value): write(value)
        }
    }

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

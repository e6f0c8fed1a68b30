import Changesets

/// Writes BSON documents (bsonspec.org, version 1.1), as mongorestore and drivers read them.
package struct BSONWriter {
    private var bytes: [UInt8] = []

    private init() {}

    /// - Throws: `invalidValue` for a key or a pattern with a zero byte in it, which BSON cannot say; `limit` beyond 2 GiB.
    package static func bytes(of document: BSONDocument) throws(ExtendedJSONError) -> [UInt8] {
        var writer = BSONWriter()
        try writer.write(document)
        return writer.bytes
    }

    private mutating func write(_ document: BSONDocument) throws(ExtendedJSONError) {
        let start = begin()
        for member in document { try write(member.value, under: member.key, at: .key(member.key)) }
        try finish(start)
    }

    private mutating func write(_ elements: [BSONValue]) throws(ExtendedJSONError) {
        let start = begin()
        for (index, element) in elements.enumerated() {
            try write(element, under: ByteString("\(index)"), at: .index(index))
        }
        try finish(start)
    }

    /// Leaves room for the length.
    private mutating func begin() -> Int {
        defer { append(UInt32(0)) }
        return bytes.count
    }

    private mutating func finish(_ start: Int) throws(ExtendedJSONError) {
        bytes.append(0)
        guard let length = Int32(exactly: bytes.count - start) else {
            throw ExtendedJSONError(.limit, "expected a document of less than 2 GiB")
        }
        for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: length >> (8 * Int32(index))) }
    }

    private mutating func write(
        _ value: BSONValue, under key: ByteString, at step: JSONPlace.Step
    ) throws(ExtendedJSONError) {
        do throws(ExtendedJSONError) {
            bytes.append(Self.type(of: value))
            try append(name: key.bytes)
            switch value {
            case .document(let document): try write(document)
            case .array(let elements): try write(elements)
            default: try writeScalar(value)
            }
        } catch {
            throw error.within(step)
        }
    }

    private mutating func writeScalar(_ value: BSONValue) throws(ExtendedJSONError) {
        switch value {
        case .null, .minKey, .maxKey, .document, .array: break
        case .bool(let value): bytes.append(value ? 1 : 0)
        case .int32(let value): append(UInt32(bitPattern: value))
        case .int64(let value), .date(let value): append(UInt64(bitPattern: value))
        case .double(let value): append(value.bitPattern)
        case .decimal128(let value):
            append(value.low)
            append(value.high)
        case .string(let value):
            append(UInt32(truncatingIfNeeded: value.count + 1))
            bytes += value.bytes
            bytes.append(0)
        case .binary(let content, let subtype):
            let repeats = subtype == 2
            append(UInt32(truncatingIfNeeded: content.count + (repeats ? 4 : 0)))
            bytes.append(subtype)
            if repeats { append(UInt32(truncatingIfNeeded: content.count)) }
            bytes += content
        case .uuid(let value):
            append(UInt32(16))
            bytes.append(4)
            bytes += value.bytes
        case .objectID(let value): bytes += value.bytes
        case .regularExpression(let pattern, let options):
            try append(name: Array(pattern.utf8))
            try append(name: Array(options.utf8))
        case .timestamp(let seconds, let increment):
            append(increment)
            append(seconds)
        }
    }

    private static func type(of value: BSONValue) -> UInt8 {
        switch value {
        case .double: 0x01
        case .string: 0x02
        case .document: 0x03
        case .array: 0x04
        case .binary, .uuid: 0x05
        case .objectID: 0x07
        case .bool: 0x08
        case .date: 0x09
        case .null: 0x0A
        case .regularExpression: 0x0B
        case .int32: 0x10
        case .timestamp: 0x11
        case .int64: 0x12
        case .decimal128: 0x13
        case .maxKey: 0x7F
        case .minKey: 0xFF
        }
    }

    private mutating func append(name: some Collection<UInt8>) throws(ExtendedJSONError) {
        guard !name.contains(0) else {
            throw ExtendedJSONError(.invalidValue, "expected a name without a zero byte: BSON has none with it")
        }
        bytes += name
        bytes.append(0)
    }

    private mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
    }
}

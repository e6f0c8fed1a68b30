import Changesets

/// Reads BSON (bsonspec.org, version 1.1) as mongodump and drivers write it.
///
/// Strict where a mistake would be written: lengths agree with what they hold, strings are UTF-8, and no key stands twice. `undefined` is read as
/// null and a symbol as a string; code and pointers, which no realm can hold, are errors.
package struct BSONReader {
    private let bytes: [UInt8]
    private let limits: ExtendedJSONLimits
    private var index = 0
    private var values = 0

    private init(_ bytes: [UInt8], _ limits: ExtendedJSONLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    /// Reads one document, which takes all of the bytes.
    package static func document(
        _ bytes: [UInt8], limits: ExtendedJSONLimits = ExtendedJSONLimits()
    ) throws(ExtendedJSONError) -> BSONDocument {
        guard bytes.count <= limits.bytes else {
            throw ExtendedJSONError(.limit, "expected at most \(limits.bytes) bytes, came \(bytes.count)")
        }
        var reader = BSONReader(bytes, limits)
        let document = try reader.document(until: bytes.count, depth: 0)
        guard reader.index == bytes.count else {
            throw reader.error(.syntax, "expected the end, came \(bytes.count - reader.index) more bytes")
        }
        return document
    }

    // MARK: Documents and arrays

    private mutating func document(until limit: Int, depth: Int) throws(ExtendedJSONError) -> BSONDocument {
        let end = try enter(until: limit, depth: depth)
        var document = BSONDocument()
        while index < end {
            let type = bytes[index]
            index += 1
            let start = index
            let key = try name(until: end)
            let value = try value(type, at: .key(key), until: end, depth: depth)
            guard document.append(key, value) else {
                throw ExtendedJSONError(.repeatedKey, "the key stands twice", at: JSONPlace([.key(key)]), offset: start)
            }
        }
        index = end + 1
        return document
    }

    private mutating func array(until limit: Int, depth: Int) throws(ExtendedJSONError) -> [BSONValue] {
        let end = try enter(until: limit, depth: depth)
        var elements: [BSONValue] = []
        while index < end {
            let type = bytes[index]
            index += 1
            // The key of an element is its index, which some writers leave empty.
            _ = try name(until: end)
            elements.append(try value(type, at: .index(elements.count), until: end, depth: depth))
        }
        index = end + 1
        return elements
    }

    /// Reads the length of a document or an array, and returns where its last byte stands.
    private mutating func enter(until limit: Int, depth: Int) throws(ExtendedJSONError) -> Int {
        guard depth < limits.depth else {
            throw error(.limit, "expected documents and arrays nested at most \(limits.depth) deep")
        }
        let start = index
        let length = Int(try int32(until: limit))
        guard length >= 5, length <= limit - start else {
            throw error(.syntax, "expected a document of 5 to \(limit - start) bytes, came a length of \(length)")
        }
        let end = start + length - 1
        guard bytes[end] == 0 else {
            throw ExtendedJSONError(.syntax, "expected a zero byte at the end of a document", offset: end)
        }
        return end
    }

    private mutating func value(
        _ type: UInt8, at step: JSONPlace.Step, until end: Int, depth: Int
    ) throws(ExtendedJSONError) -> BSONValue {
        values += 1
        guard values <= limits.values else { throw error(.limit, "expected at most \(limits.values) values") }
        do throws(ExtendedJSONError) {
            switch type {
            case 0x03: return .document(try document(until: end, depth: depth + 1))
            case 0x04: return .array(try array(until: end, depth: depth + 1))
            default: return try scalar(type, until: end)
            }
        } catch {
            throw error.within(step)
        }
    }

    // MARK: Other values

    private mutating func scalar(_ type: UInt8, until end: Int) throws(ExtendedJSONError) -> BSONValue {
        switch type {
        case 0x01: return .double(Double(bitPattern: try uint64(until: end)))
        case 0x02, 0x0E: return .string(try string(until: end))
        case 0x05: return try binary(until: end)
        case 0x06, 0x0A: return .null
        case 0x07:
            guard let id = ObjectIDValue(bytes: Array(try take(12, until: end))) else {
                throw error(.syntax, "expected the 12 bytes of an objectId")
            }
            return .objectID(id)
        case 0x08:
            guard let byte = try take(1, until: end).first, byte <= 1 else {
                throw error(.invalidValue, "expected a bool, 0 or 1")
            }
            return .bool(byte == 1)
        case 0x09: return .date(Int64(bitPattern: try uint64(until: end)))
        case 0x0B:
            let pattern = try name(until: end)
            return .regularExpression(pattern: pattern.string, options: try name(until: end).string)
        case 0x10: return .int32(try int32(until: end))
        case 0x11:
            let increment = UInt32(bitPattern: try int32(until: end))
            return .timestamp(seconds: UInt32(bitPattern: try int32(until: end)), increment: increment)
        case 0x12: return .int64(Int64(bitPattern: try uint64(until: end)))
        case 0x13:
            let low = try uint64(until: end)
            return .decimal128(Decimal128Value(high: try uint64(until: end), low: low))
        case 0x7F: return .maxKey
        case 0xFF: return .minKey
        case 0x0C: throw error(.unsupportedType, "expected a value of a realm, came a DBPointer")
        case 0x0D, 0x0F: throw error(.unsupportedType, "expected a value of a realm, came JavaScript code")
        default: throw error(.syntax, "expected a type of BSON, came the byte \(type)")
        }
    }

    private mutating func binary(until end: Int) throws(ExtendedJSONError) -> BSONValue {
        let length = try length(of: "a binary value", until: end - 1)
        let subtype = try take(1, until: end).first ?? 0
        var content = Array(try take(length, until: end))
        if subtype == 2 {
            // The old form says its length once more.
            guard content.count >= 4 else { throw error(.syntax, "expected a second length in binary of subtype 2") }
            content.removeFirst(4)
        }
        if subtype == 4, let id = UUIDValue(bytes: content) { return .uuid(id) }
        return .binary(content, subtype: subtype)
    }

    private mutating func string(until end: Int) throws(ExtendedJSONError) -> ByteString {
        let length = try length(of: "a string", until: end)
        let text = try take(length, until: end)
        guard length >= 1, text.last == 0 else { throw error(.syntax, "expected a zero byte at the end of a string") }
        return try checked(text.dropLast())
    }

    private func checked(_ text: ArraySlice<UInt8>) throws(ExtendedJSONError) -> ByteString {
        guard String(validating: text, as: UTF8.self) != nil else {
            throw error(.invalidValue, "expected text in UTF-8")
        }
        return ByteString(Array(text))
    }

    /// Text that ends with a zero byte.
    private mutating func name(until end: Int) throws(ExtendedJSONError) -> ByteString {
        guard let zero = bytes[index..<end].firstIndex(of: 0) else {
            throw error(.syntax, "expected a zero byte at the end of a name")
        }
        let text = bytes[index..<zero]
        index = zero + 1
        return try checked(text)
    }

    private mutating func length(of what: String, until end: Int) throws(ExtendedJSONError) -> Int {
        let length = Int(try int32(until: end))
        guard length >= 0, length <= end - index else {
            throw error(.syntax, "expected \(what) of at most \(end - index) bytes, came a length of \(length)")
        }
        return length
    }

    private mutating func int32(until end: Int) throws(ExtendedJSONError) -> Int32 {
        Int32(bitPattern: try take(4, until: end).reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }

    private mutating func uint64(until end: Int) throws(ExtendedJSONError) -> UInt64 {
        try take(8, until: end).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func take(_ count: Int, until end: Int) throws(ExtendedJSONError) -> ArraySlice<UInt8> {
        guard count <= end - index else {
            throw error(.syntax, "expected \(count) bytes, came the end after \(max(0, end - index))")
        }
        defer { index += count }
        return bytes[index..<index + count]
    }

    private func error(_ code: ExtendedJSONError.Code, _ message: String) -> ExtendedJSONError {
        ExtendedJSONError(code, message, offset: index)
    }
}

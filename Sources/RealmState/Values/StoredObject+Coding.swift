package import Changesets

/// The form in which stores keep an object: the changeset format's primitives and type codes, strings inline.
extension StoredObject {
    package func encoded() -> [UInt8] {
        var writer = VarintWriter()
        writer.write(self)
        return writer.bytes
    }

    /// - Throws: `corrupt`.
    package init(decoding bytes: [UInt8]) throws(RealmStateError) {
        do throws(ChangesetError) {
            var reader = VarintReader(bytes)
            self = try reader.readStoredObject(depth: 0)
            guard reader.isAtEnd else { throw reader.malformed("bytes after the object") }
        } catch {
            throw .corrupt("stored object: \(error)")
        }
    }
}

extension Value {
    /// Levels of values in values, embedded objects included: a path may have as many elements, and each may be one.
    static let maxDepth = 512
}

extension VarintWriter {
    package mutating func write(_ object: StoredObject) {
        write(UInt64(object.entries.count))
        for entry in object.entries {
            write(entry.column.rawValue)
            write(entry.value)
        }
    }

    package mutating func write(_ value: Value) {
        switch value {
        case .null: write(PayloadType.null.rawValue)
        case .int(let int):
            write(PayloadType.int.rawValue)
            write(int)
        case .bool(let bool):
            write(PayloadType.bool.rawValue)
            write(bool)
        case .string(let string):
            write(PayloadType.string.rawValue)
            write(lengthAnd: string.bytes)
        case .binary(let binary):
            write(PayloadType.binary.rawValue)
            write(lengthAnd: binary)
        case .timestamp(let timestamp):
            write(PayloadType.timestamp.rawValue)
            write(timestamp)
        case .float(let bits):
            write(PayloadType.float.rawValue)
            write(fixed: UInt64(bits), count: 4, littleEndian: true)
        case .double(let bits):
            write(PayloadType.double.rawValue)
            write(fixed: bits, count: 8, littleEndian: true)
        case .decimal(let decimal):
            write(PayloadType.decimal.rawValue)
            write(decimal)
        case .objectID(let objectID):
            write(PayloadType.objectID.rawValue)
            write(objectID)
        case .uuid(let uuid):
            write(PayloadType.uuid.rawValue)
            write(uuid)
        case .link(let address):
            write(PayloadType.link.rawValue)
            write(lengthAnd: address.className.bytes)
            write(detached: address.key)
        case .list(let items): write(items, as: .list)
        case .set(let items): write(items, as: .set)
        case .dictionary(let entries):
            write(PayloadType.dictionary.rawValue)
            write(UInt64(entries.count))
            for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
                write(lengthAnd: key.bytes)
                write(value)
            }
        case .embedded(let object):
            write(PayloadType.objectValue.rawValue)
            write(object)
        }
    }

    private mutating func write(_ items: [Value], as type: PayloadType) {
        write(type.rawValue)
        write(UInt64(items.count))
        for item in items {
            write(item)
        }
    }
}

extension VarintReader {
    mutating func readStoredObject(depth: Int) throws(ChangesetError) -> StoredObject {
        let count = try readCount()
        var values: [ColumnID: Value] = [:]
        for _ in 0..<count {
            let column = ColumnID(rawValue: try readUInt32())
            let value = try readValue(depth: depth + 1)
            guard values.updateValue(value, forKey: column) == nil else { throw malformed("column repeated") }
        }
        return StoredObject(values)
    }

    private mutating func readValue(depth: Int) throws(ChangesetError) -> Value {
        guard depth <= Value.maxDepth else { throw malformed("nested too deep") }
        let number = try readInt64()
        guard let type = PayloadType(rawValue: number) else { throw malformed("unknown type \(number)") }
        switch type {
        case .null: return .null
        case .int: return .int(try readInt64())
        case .bool: return .bool(try readBool())
        case .string: return .string(try readString())
        case .binary: return .binary(try readBytes(try readCount()))
        case .timestamp: return .timestamp(try readTimestamp())
        case .float: return .float(bits: UInt32(try readFixed(4, littleEndian: true)))
        case .double: return .double(bits: try readFixed(8, littleEndian: true))
        case .decimal: return .decimal(try readDecimal())
        case .objectID: return .objectID(try readObjectID())
        case .uuid: return .uuid(try readUUID())
        case .link:
            let className = try readString()
            return .link(ObjectAddress(className, try readDetachedKey()))
        case .list: return .list(try readValues(depth: depth))
        case .set: return .set(try readValues(depth: depth))
        case .dictionary:
            let count = try readCount()
            var entries: [ByteString: Value] = [:]
            for _ in 0..<count {
                let key = try readString()
                guard entries.updateValue(try readValue(depth: depth + 1), forKey: key) == nil else {
                    throw malformed("key repeated")
                }
            }
            return .dictionary(entries)
        case .objectValue: return .embedded(try readStoredObject(depth: depth))
        case .globalKey, .erased: throw malformed("no value has type \(number)")
        }
    }

    private mutating func readValues(depth: Int) throws(ChangesetError) -> [Value] {
        let count = try readCount()
        var values: [Value] = []
        values.reserveCapacity(count)
        for _ in 0..<count {
            values.append(try readValue(depth: depth + 1))
        }
        return values
    }
}

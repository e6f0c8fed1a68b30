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
        case .link(let address):
            write(PayloadType.link.rawValue)
            write(lengthAnd: address.className)
            write(detached: address.key)
        case .list(let items), .set(let items):
            write(Payload(unlinked: value))
            write(UInt64(items.count))
            for item in items { write(item) }
        case .dictionary(let entries):
            write(Payload.dictionary)
            write(UInt64(entries.count))
            for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
                write(lengthAnd: key)
                write(value)
            }
        case .embedded(let object):
            write(Payload.objectValue)
            write(object)
        default: write(Payload(unlinked: value))
        }
    }
}

extension VarintReader {
    mutating func readStoredObject(depth: Int) throws(ChangesetError) -> StoredObject {
        let count = try readCount()
        var entries: [StoredObject.Entry] = []
        entries.reserveCapacity(min(count, 64))
        var isAscending = true
        for _ in 0..<count {
            let column = ColumnID(rawValue: try readUInt32())
            if let last = entries.last, column <= last.column { isAscending = false }
            entries.append(.init(column: column, value: try readValue(depth: depth + 1)))
        }
        // As they are written.
        if isAscending { return StoredObject(ascending: entries) }
        var values: [ColumnID: Value] = [:]
        for entry in entries {
            guard values.updateValue(entry.value, forKey: entry.column) == nil else {
                throw malformed("column repeated")
            }
        }
        return StoredObject(values)
    }

    mutating func readValue(depth: Int) throws(ChangesetError) -> Value {
        guard depth <= Value.maxDepth else { throw malformed("nested too deep") }
        let type = try readPayloadType()
        switch type {
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
        default:
            guard let value = Value(try readPayload(of: type)) else { throw malformed("no value has type \(type)") }
            return value
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

/// The form of a key outside any changeset, as error messages carry it: type code, then the value, a string inline.
extension ObjectKey {
    package init(parsingDetached bytes: [UInt8]) throws(ChangesetError) {
        var reader = VarintReader(bytes)
        self = try reader.readDetachedKey()
        guard reader.isAtEnd else { throw reader.malformed("\(reader.remaining) bytes after the key") }
    }

    package func detachedEncoding() -> [UInt8] {
        var writer = VarintWriter()
        writer.write(detached: self)
        return writer.bytes
    }
}

extension VarintReader {
    package mutating func readDetachedKey() throws(ChangesetError) -> ObjectKey {
        try readDetachedKey(of: try readInt64())
    }

    /// The key behind its type code.
    mutating func readDetachedKey(of type: Int64) throws(ChangesetError) -> ObjectKey {
        switch type {
        case PayloadType.null.rawValue: return .null
        case PayloadType.int.rawValue: return .int(try readInt64())
        case PayloadType.string.rawValue: return .string(try readString())
        case PayloadType.globalKey.rawValue:
            let key = try readGlobalKey()
            return .globalKey(high: key.high, low: key.low)
        case PayloadType.objectID.rawValue: return .objectID(try readObjectID())
        case PayloadType.uuid.rawValue: return .uuid(try readUUID())
        default: throw malformed("Unsupported object key type \(type)")
        }
    }
}

extension VarintWriter {
    package mutating func write(detached key: ObjectKey) {
        switch key {
        case .null: write(PayloadType.null.rawValue)
        case .int(let value):
            write(PayloadType.int.rawValue)
            write(value)
        case .string(let value):
            write(PayloadType.string.rawValue)
            write(lengthAnd: value)
        case .globalKey(let high, let low):
            write(PayloadType.globalKey.rawValue)
            write(high)
            write(low)
        case .objectID(let value):
            write(PayloadType.objectID.rawValue)
            write(value)
        case .uuid(let value):
            write(PayloadType.uuid.rawValue)
            write(value)
        }
    }
}

import Changesets

/// Reading some of a stored object's values without the others.
extension StoredObject {
    /// The values of some columns; those of all others are passed over.
    /// - Parameter columns: in ascending order.
    /// - Throws: `corrupt`. What follows the last wanted column is not looked at.
    package init(decoding bytes: [UInt8], only columns: [ColumnID]) throws(RealmStateError) {
        var entries: [Entry] = []
        do throws(ChangesetError) {
            var reader = VarintReader(bytes)
            var wanted = columns[...]
            for _ in 0..<(try reader.readCount()) {
                let column = ColumnID(rawValue: try reader.readUInt32())
                while let next = wanted.first, next < column { wanted = wanted.dropFirst() }
                guard let next = wanted.first else { break }
                if next == column {
                    entries.append(Entry(column: column, value: try reader.readValue(depth: 1)))
                    wanted = wanted.dropFirst()
                } else {
                    try reader.skipValue(depth: 1)
                }
            }
        } catch {
            throw .corrupt("stored object: \(error)")
        }
        self.init(ascending: entries)
    }
}

extension VarintReader {
    /// Passes over a value without making it.
    fileprivate mutating func skipValue(depth: Int) throws(ChangesetError) {
        guard depth <= Value.maxDepth else { throw malformed("nested too deep") }
        let type = try readPayloadType()
        switch type {
        case .string, .binary: try skip(try readLength(limit: remaining, what: "value"))
        case .link:
            try skip(try readLength(limit: remaining, what: "class name"))
            _ = try readDetachedKey()
        case .list, .set:
            for _ in 0..<(try readCount()) { try skipValue(depth: depth + 1) }
        case .dictionary:
            for _ in 0..<(try readCount()) {
                try skip(try readLength(limit: remaining, what: "key"))
                try skipValue(depth: depth + 1)
            }
        case .objectValue:
            for _ in 0..<(try readCount()) {
                _ = try readUInt32()
                try skipValue(depth: depth + 1)
            }
        default: _ = try readPayload(of: type)
        }
    }
}

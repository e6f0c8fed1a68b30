internal import Changesets
internal import Foundation
internal import RealmState

/// The form in which a realm's file keeps primary keys: SQLite, which compares it byte by byte, puts it in the order of the keys.
///
/// The first byte says the kind. No key begins with such a byte in the form that earlier files have, so that neither is taken for the other.
extension ObjectKey {
    private enum Kind: UInt8 {
        case null = 0x60
        case int, string, globalKey, objectID, uuid
    }

    /// Returns the key as a parameter of a query.
    func orderedEncoding() -> Data { Data(orderedBytes()) }

    func orderedBytes() -> [UInt8] {
        switch self {
        case .null: [Kind.null.rawValue]
        // Negative numbers come first.
        case .int(let value): Self.bytes(.int, UInt64(bitPattern: value) ^ 1 << 63)
        case .string(let value): [Kind.string.rawValue] + value.bytes
        case .globalKey(let high, let low): Self.bytes(.globalKey, high, low)
        case .objectID(let value): Self.bytes(.objectID, value.high, value.low)
        case .uuid(let value): Self.bytes(.uuid, value.high, value.low)
        }
    }

    private static func bytes<each Part: FixedWidthInteger>(_ kind: Kind, _ parts: repeat each Part) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 17) { buffer, count in
            buffer[0] = kind.rawValue
            count = 1
            for part in repeat each parts {
                let size = MemoryLayout.size(ofValue: part)
                UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count..<count + size])
                    .storeBytes(of: part.bigEndian, as: type(of: part))
                count += size
            }
        }
    }

    /// - Throws: `DamagedRow`.
    init(ordered bytes: Data) throws(DamagedRow) {
        guard let first = bytes.first, let kind = Kind(rawValue: first) else { throw .key }
        var rest = bytes.dropFirst()
        func take<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
            let size = MemoryLayout<Number>.size
            guard rest.count >= size else { return nil }
            defer { rest = rest.dropFirst(size) }
            return rest.prefix(size).reduce(0) { $0 << 8 | Number($1) }
        }
        func pair<Low: FixedWidthInteger>(_: Low.Type) -> (UInt64, Low)? {
            guard let high = take(UInt64.self), let low = take(Low.self) else { return nil }
            return (high, low)
        }
        func whole(_ value: ObjectKey?) throws(DamagedRow) -> ObjectKey {
            guard let value, rest.isEmpty else { throw .key }
            return value
        }
        switch kind {
        case .null: self = try whole(.null)
        case .int: self = try whole(take(UInt64.self).map { .int(Int64(bitPattern: $0 ^ 1 << 63)) })
        case .string: self = .string(ByteString([UInt8](rest)))
        case .globalKey: self = try whole(pair(UInt64.self).map { .globalKey(high: $0, low: $1) })
        case .objectID: self = try whole(pair(UInt32.self).map { .objectID(ObjectIDValue(high: $0, low: $1)) })
        case .uuid: self = try whole(pair(UInt64.self).map { .uuid(UUIDValue(high: $0, low: $1)) })
        }
    }
}

/// What stands in a row is nothing that this SDK writes.
struct DamagedRow: Error, CustomStringConvertible {
    var description: String

    static let key = DamagedRow(description: "a primary key is damaged")
}

extension [UInt8] {
    /// Whether the bytes come before others in the order in which SQLite has blobs.
    func precedesAsBlob(_ other: [UInt8]) -> Bool {
        withUnsafeBytes { left in
            other.withUnsafeBytes { right in
                for (a, b) in zip(left, right) where a != b { return a < b }
                return left.count < right.count
            }
        }
    }
}

/// Where the row of an object belongs among others, and the object's position in a list. Holds no reference, so that sorting costs no more than comparing.
struct RowPlace {
    let position: Int
    private let table: TableID
    private let kind: UInt8
    /// The key's bytes behind the kind, as far as there is room.
    private let head: UInt64

    /// - Parameter key: the object's, in order.
    init(_ position: Int, table: TableID, _ key: [UInt8]) {
        self.position = position
        self.table = table
        kind = key.first ?? 0
        var head: UInt64 = 0
        for place in 1...8 { head = head << 8 | (place < key.count ? UInt64(key[place]) : 0) }
        self.head = head
    }

    /// - Parameter keys: those of all objects of the list.
    func precedes(_ other: RowPlace, _ keys: [[UInt8]]) -> Bool {
        if table != other.table { return table < other.table }
        if kind != other.kind { return kind < other.kind }
        if head != other.head { return head < other.head }
        return keys[position].precedesAsBlob(keys[other.position])
    }
}

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

    func orderedEncoding() -> Data {
        var bytes = Data(capacity: 17)
        func begin(_ kind: Kind) { bytes.append(kind.rawValue) }
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
        }
        switch self {
        case .null: begin(.null)
        case .int(let value):
            begin(.int)
            // Negative numbers come first.
            append(UInt64(bitPattern: value) ^ 1 << 63)
        case .string(let value):
            begin(.string)
            bytes.append(contentsOf: value.bytes)
        case .globalKey(let high, let low):
            begin(.globalKey)
            append(high)
            append(low)
        case .objectID(let value):
            begin(.objectID)
            append(value.high)
            append(value.low)
        case .uuid(let value):
            begin(.uuid)
            append(value.high)
            append(value.low)
        }
        return bytes
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
        func whole(_ value: ObjectKey?) throws(DamagedRow) -> ObjectKey {
            guard let value, rest.isEmpty else { throw .key }
            return value
        }
        switch kind {
        case .null: self = try whole(.null)
        case .int: self = try whole(take(UInt64.self).map { .int(Int64(bitPattern: $0 ^ 1 << 63)) })
        case .string: self = .string(ByteString([UInt8](rest)))
        case .globalKey:
            let high = take(UInt64.self)
            let low = take(UInt64.self)
            self = try whole(high.flatMap { high in low.map { .globalKey(high: high, low: $0) } })
        case .objectID:
            let high = take(UInt64.self)
            let low = take(UInt32.self)
            self = try whole(high.flatMap { high in low.map { .objectID(ObjectIDValue(high: high, low: $0)) } })
        case .uuid:
            let high = take(UInt64.self)
            let low = take(UInt64.self)
            self = try whole(high.flatMap { high in low.map { .uuid(UUIDValue(high: high, low: $0)) } })
        }
    }
}

/// What stands in a row is nothing that this SDK writes.
struct DamagedRow: Error, CustomStringConvertible {
    var description: String

    static let key = DamagedRow(description: "a primary key is damaged")
    static let link = DamagedRow(description: "a link is damaged")
}

extension Data {
    /// Whether the bytes come before others in the order in which SQLite has blobs.
    func precedes(_ other: Data) -> Bool {
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
    init(_ position: Int, table: TableID, _ key: Data) {
        self.position = position
        self.table = table
        kind = key.first ?? 0
        let bytes = key.dropFirst().prefix(8)
        head = bytes.reduce(0) { $0 << 8 | UInt64($1) } << UInt64(8 * (8 - bytes.count))
    }

    /// - Parameter keys: those of all objects of the list.
    func precedes(_ other: RowPlace, _ keys: [Data]) -> Bool {
        if table != other.table { return table < other.table }
        if kind != other.kind { return kind < other.kind }
        if head != other.head { return head < other.head }
        return keys[position].precedes(keys[other.position])
    }
}

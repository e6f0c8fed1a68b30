package import Changesets
package import RealmState

extension ColumnID {
    /// A number that no column has: under it a before image names the columns whose values were too large to be kept.
    static let untold = ColumnID(rawValue: .max)
    /// Another number that no column has: under it a partial image has, of collections, what a version has changed of
    /// them (`Splice`).
    static let spliced = ColumnID(rawValue: .max - 1)
}

extension StoredObject {
    /// The columns of which nobody can tell what they were; in ascending order.
    package var untold: [ColumnID] {
        get {
            guard let last = entries.last, last.column == .untold, case .list(let numbers) = last.value else {
                return []
            }
            return numbers.compactMap { number in
                if case .int(let number) = number {
                    ColumnID(rawValue: UInt32(truncatingIfNeeded: number))
                } else {
                    nil
                }
            }
        }
        set {
            self[.untold] = newValue.isEmpty ? nil : .list(newValue.map { .int(Int64($0.rawValue)) })
        }
    }

    /// What was otherwise in collections than it is, by column.
    var splices: [ColumnID: Splice] {
        get {
            guard case .list(let items) = self[.spliced] else { return [:] }
            return Dictionary(items.compactMap { Splice.read($0) }, uniquingKeysWith: { first, _ in first })
        }
        set {
            let items = newValue.sorted { $0.key < $1.key }.map { $1.written(of: $0) }
            self[.spliced] = items.isEmpty ? nil : .list(items)
        }
    }

    /// The bytes that the values take encoded, about.
    package var encodedWeight: Int { entries.reduce(0) { $0 + $1.value.weight(upTo: .max) - 8 } }

    /// The bytes that the values take in memory, about.
    package var weight: Int { entries.reduce(0) { $0 + 48 + $1.value.weight(upTo: .max) } }
}

extension Value {
    var isText: Bool {
        switch self {
        case .string, .binary: true
        default: false
        }
    }

    /// The bytes that the value takes, about; counted no further than a limit.
    package func weight(upTo limit: Int) -> Int {
        switch self {
        case .null, .int, .bool, .timestamp, .float, .double, .decimal, .objectID, .uuid: return 16
        case .string(let text): return 16 + text.count
        case .binary(let bytes): return 16 + bytes.count
        case .link(let address): return 32 + address.className.count + address.key.weight
        case .list(let items), .set(let items): return Self.weight(of: items, upTo: limit) { $0.weight(upTo: $1) }
        case .dictionary(let members):
            return Self.weight(of: members, upTo: limit) { 16 + $0.key.count + $0.value.weight(upTo: $1) }
        case .embedded(let object):
            return Self.weight(of: object.entries, upTo: limit) { $0.value.weight(upTo: $1) }
        }
    }

    private static func weight<Items: Sequence>(
        of items: Items, upTo limit: Int, _ weight: (Items.Element, Int) -> Int
    ) -> Int {
        var sum = 16
        for item in items {
            guard sum <= limit else { break }
            sum += weight(item, limit - sum)
        }
        return sum
    }
}

extension ObjectKey {
    /// The bytes that the key takes, about.
    package var weight: Int { if case .string(let text) = self { 16 + text.count } else { 16 } }
}

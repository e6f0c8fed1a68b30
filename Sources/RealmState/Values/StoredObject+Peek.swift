package import Changesets

/// Looking at values where they are, without copies of them: for queries that are tried on very many objects.
extension StoredObject {
    /// A small value, or that there is none.
    package enum Peek: Sendable {
        /// The column holds its default.
        case missing
        case int(Int64)
        case bool(Bool)
        case null
        case other
    }

    package func peek(_ column: ColumnID) -> Peek {
        entries.withUnsafeBufferPointer { entries in
            guard let position = Self.position(of: column, in: entries) else { return .missing }
            return switch entries[position].value {
            case .int(let value): .int(value)
            case .bool(let value): .bool(value)
            case .null: .null
            default: .other
            }
        }
    }

    /// Whether a column holds this string; nil if it holds its default.
    package func isString(_ column: ColumnID, _ text: ByteString) -> Bool? {
        entries.withUnsafeBufferPointer { entries in
            guard let position = Self.position(of: column, in: entries) else { return nil }
            guard case .string(let found) = entries[position].value else { return false }
            return found == text
        }
    }

    private static func position(of column: ColumnID, in entries: UnsafeBufferPointer<Entry>) -> Int? {
        // Columns are numbered from 0, so in an object that has them all the number is the position.
        let guess = Int(column.rawValue)
        if guess < entries.count, entries[guess].column == column { return guess }
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].column < column { low = middle + 1 } else { high = middle }
        }
        return low < entries.count && entries[low].column == column ? low : nil
    }
}

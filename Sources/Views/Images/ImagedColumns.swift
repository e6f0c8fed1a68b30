package import Changesets
package import RealmState
package import SyncModel

/// The properties of a realm's classes by which views have ever been decided: of each version these are kept as they were before
/// it. A property stays once it is here.
package struct ImagedColumns: Equatable, Sendable {
    /// Of each property, the version after which every version has its before images.
    private var since: [TableID: [ColumnID: ServerVersion]] = [:]

    package init() {}

    /// Those of which a version has before images.
    package func columns(of table: TableID, at version: ServerVersion) -> [ColumnID] {
        since[table].map { $0.filter { $0.value < version }.keys.sorted() } ?? []
    }

    /// The version after which it can be told whether an object was in a view.
    package func start(of view: View) -> ServerVersion? {
        var start: ServerVersion = 0
        for view in view.subscribed {
            for column in view.columns {
                guard let from = since[view.table.id]?[column] else { return nil }
                start = max(start, from)
            }
        }
        return start
    }

    /// Adds what a view looks at and is not here, from a version on.
    ///
    /// - Returns: whether anything was missing.
    /// - Throws: if a class would have too many.
    package mutating func add(_ view: View, since version: ServerVersion, limits: ViewLimits = ViewLimits())
        throws(ViewError) -> Bool
    {
        var added = self
        for view in view.subscribed {
            for column in view.columns where added.since[view.table.id]?[column] == nil {
                added.since[view.table.id, default: [:]][column] = version
            }
            guard added.since[view.table.id]?.count ?? 0 <= limits.imagedColumnsPerClass else {
                throw ViewError(
                    "queries would look at more than \(limits.imagedColumnsPerClass) properties of class"
                        + " \"\(view.table.name.string)\"", className: view.table.name)
            }
        }
        defer { self = added }
        return added != self
    }

    /// The same properties in another history, from a version on.
    package func since(_ version: ServerVersion) -> ImagedColumns {
        var other = self
        other.since = since.mapValues { $0.mapValues { _ in version } }
        return other
    }

    /// What is kept of an object.
    package func image(of object: StoredObject, in table: TableID) -> StoredObject {
        guard let columns = since[table] else { return StoredObject() }
        var image = StoredObject()
        for entry in object.entries where columns[entry.column] != nil { image[entry.column] = entry.value }
        return image
    }

    // MARK: As bytes

    package func encoded() -> [UInt8] {
        guard !since.isEmpty else { return [] }
        var writer = VarintWriter()
        writer.write(UInt64(1))
        writer.write(UInt64(since.count))
        for (table, columns) in since.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            writer.write(table.rawValue)
            writer.write(UInt64(columns.count))
            for (column, version) in columns.sorted(by: { $0.key < $1.key }) {
                writer.write(column.rawValue)
                writer.write(version.rawValue)
            }
        }
        return writer.bytes
    }

    /// - Throws: if the bytes are not what `encoded` wrote.
    package init(decoding bytes: [UInt8]) throws(ChangesetError) {
        guard !bytes.isEmpty else { return }
        var reader = VarintReader(bytes)
        guard try reader.readUInt64() == 1 else { throw reader.malformed("imaged columns of another version") }
        for _ in 0..<(try reader.readLength(limit: reader.remaining, what: "classes")) {
            let table = TableID(rawValue: try reader.readUInt32())
            for _ in 0..<(try reader.readLength(limit: reader.remaining, what: "columns")) {
                let column = ColumnID(rawValue: try reader.readUInt32())
                since[table, default: [:]][column] = ServerVersion(try reader.readUInt64())
            }
        }
        guard reader.isAtEnd else { throw reader.malformed("bytes after the imaged columns") }
    }
}

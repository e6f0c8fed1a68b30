package import Changesets
package import RealmState
package import SyncModel

/// The properties of a realm's classes by which views are decided: of each version these are kept as they were before it.
///
/// There may be as many as the classes have: a property takes room only in the versions that change it, and where objects are erased.
package struct ImagedColumns: Equatable, Sendable {
    private struct Column: Equatable {
        /// The version after which every version has its before images.
        var since: ServerVersion
        /// Roles look at it: each image has it, as long as it is small, so that it can be told of any version alone whether an object was visible.
        var isRuled: Bool
    }

    private var columns: [TableID: [ColumnID: Column]] = [:]

    package init() {}

    /// Returns the properties of a class that a version has before images of.
    package func columns(of table: TableID, at version: ServerVersion) -> [ColumnID] {
        columns[table].map { $0.filter { $0.value.since < version }.keys.sorted() } ?? []
    }

    /// Returns all of a class's properties that have before images.
    package func columns(of table: TableID) -> [ColumnID] { columns[table]?.keys.sorted() ?? [] }

    /// The version after which it can be told whether an object was in a view.
    package func start(of view: View) -> ServerVersion? {
        var start: ServerVersion = 0
        for view in view.subscribed {
            for column in view.columns {
                guard let known = columns[view.table.id]?[column] else { return nil }
                start = max(start, known.since)
            }
        }
        return start
    }

    /// The part that a view adds.
    package enum Addition: Sendable {
        case nothing
        /// Roles look at what only queries have looked at so far.
        case marks
        /// The view looks at what was not here.
        case columns
    }

    /// Adds what a view looks at and is not here, from a version on.
    package mutating func add(_ view: View, since version: ServerVersion) -> Addition {
        var addition = Addition.nothing
        for view in view.subscribed {
            let ruled = Set(view.role?.columns ?? [])
            for column in view.columns {
                let isRuled = ruled.contains(column)
                if let known = columns[view.table.id]?[column] {
                    guard isRuled, !known.isRuled else { continue }
                    columns[view.table.id]?[column]?.isRuled = true
                    if case .nothing = addition { addition = .marks }
                } else {
                    columns[view.table.id, default: [:]][column] = Column(since: version, isRuled: isRuled)
                    addition = .columns
                }
            }
        }
        return addition
    }

    /// Lets go of what no view needs any more.
    ///
    /// - Returns: whether there was anything.
    package mutating func keep(_ isNeeded: (TableID, ColumnID) -> Bool) -> Bool {
        let kept = Dictionary(
            uniqueKeysWithValues: columns.map { table, columns in
                (table, columns.filter { isNeeded(table, $0.key) })
            }
        ).filter { !$0.value.isEmpty }
        defer { columns = kept }
        return kept != columns
    }

    package var count: Int { columns.values.reduce(0) { $0 + $1.count } }

    /// How many there are of the class that has the most.
    package var most: Int { columns.values.map(\.count).max() ?? 0 }

    /// The same properties in another history, from a version on.
    package func since(_ version: ServerVersion) -> ImagedColumns {
        var other = self
        for (table, columns) in columns {
            other.columns[table] = columns.mapValues { Column(since: version, isRuled: $0.isRuled) }
        }
        return other
    }

    // MARK: Images

    /// The part of an object that is looked at.
    package func image(of object: StoredObject, in table: TableID) -> StoredObject {
        guard let columns = columns[table] else { return StoredObject() }
        var image = StoredObject()
        for entry in object.entries where columns[entry.column] != nil { image[entry.column] = entry.value }
        return image
    }

    /// The part that is kept of an object that a version has changed: all that is looked at if that is little, else what has changed of it. What is
    /// too large is not kept.
    ///
    /// - Parameters:
    ///   - after: as the version has left it.
    ///   - room: for what is large.
    package func image(
        of before: StoredObject?, after: StoredObject?, at slot: ObjectSlot, in table: TableSchema,
        room: inout ImageRoom
    ) -> BeforeImages.Image {
        guard let before else { return BeforeImages.Image(slot, before: nil) }
        guard let columns = columns[slot.table] else { return BeforeImages.Image(slot, before: StoredObject()) }
        var weight = 0
        for entry in before.entries where columns[entry.column] != nil && weight <= room.limits.smallObject {
            weight += entry.value.weight(upTo: room.limits.smallObject)
        }
        if weight <= room.limits.smallObject {
            return BeforeImages.Image(slot, before: image(of: before, in: slot.table))
        }
        // A realm that a release before has left has no marks yet.
        let hasMarks = columns.values.contains(where: \.isRuled)
        var image = StoredObject()
        var untold: [ColumnID] = []
        var splices: [ColumnID: Splice] = [:]
        for column in table.columns {
            guard let known = columns[column.id] else { continue }
            let isRuled = known.isRuled || !hasMarks
            let value = before[column.id]
            let isKept = after.map { $0[column.id] == value } ?? false
            if isKept {
                // What is not here is found in what comes after.
                guard isRuled, (value?.weight(upTo: room.limits.smallRuled) ?? 0) <= room.limits.smallRuled else {
                    continue
                }
            }
            // What it holds without being written is told too: an image that lacks a property says something else.
            let kept = value ?? column.defaultValue
            // A text comes whole: what it takes the place of may be as large.
            if !isKept, let new = after?[column.id], new.isText { room.grow(by: new.weight(upTo: .max)) }
            if !isKept, let new = after?[column.id], let splice = Splice(kept, after: new) {
                if room.takes(.list(splice.items), isRuled: isRuled) {
                    splices[column.id] = splice
                } else {
                    untold.append(column.id)
                }
            } else if room.takes(kept, isRuled: isRuled, isGone: after == nil) {
                image[column.id] = kept
            } else if !isKept {
                untold.append(column.id)
            }
        }
        image.splices = splices
        image.untold = untold.sorted()
        return BeforeImages.Image(slot, before: image, isPartial: after != nil)
    }

    // MARK: As bytes

    package func encoded() -> [UInt8] {
        guard !columns.isEmpty else { return [] }
        var writer = VarintWriter()
        writer.write(UInt64(1))
        writer.write(UInt64(columns.count))
        for (table, columns) in columns.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            writer.write(table.rawValue)
            // A property that roles look at is said twice: a release before reads the same from that.
            let said = columns.sorted { $0.key < $1.key }.flatMap {
                Array(repeating: $0, count: $0.value.isRuled ? 2 : 1)
            }
            writer.write(UInt64(said.count))
            for (column, known) in said {
                writer.write(column.rawValue)
                writer.write(known.since.rawValue)
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
                columns[table, default: [:]][column] = Column(
                    since: ServerVersion(try reader.readUInt64()), isRuled: columns[table]?[column] != nil)
            }
        }
        guard reader.isAtEnd else { throw reader.malformed("bytes after the imaged columns") }
    }
}

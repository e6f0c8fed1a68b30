package import Changesets
package import RealmState
package import SyncModel

/// The properties of a flexible realm's classes by whose values its objects can be found in the store: those that subscriptions and roles
/// have ever compared with constants by equality, IN or order. Every object of the class has an entry in the index of each.
///
/// A property that is new here is filled in from the objects that there are, class by class in the order of their keys; whatever is written
/// meanwhile has its entries already.
package struct IndexedColumns: Equatable, Sendable {
    /// The bytes of a value that an entry has at most.
    package static let maxValueBytes = 256
    /// The number of a class's properties beyond which objects are not found by others, but for those that roles compare.
    static let maxPerClass = 16

    /// How far the objects of one class are gone through.
    package struct Filling: Equatable, Sendable {
        package var table: TableID
        package fileprivate(set) var columns: [ColumnID]
        /// The last object that has its entries.
        package fileprivate(set) var after: ObjectKey?
    }

    /// The indexed properties of each class, each with whether all objects have their entries.
    private var columns: [TableID: [ColumnID: Bool]] = [:]
    /// False: somebody has written who does not know of indexes. What there is has to go before they are filled anew.
    package private(set) var isClean = true
    package private(set) var filling: Filling?

    package init() {}

    package var isEmpty: Bool { columns.isEmpty && isClean }
    /// Whether something is left to be filled in, or to be taken away.
    package var isBehind: Bool { !isClean || columns.values.contains { $0.values.contains(false) } }

    /// Whether the index of a property leads to all objects.
    package func isComplete(_ column: ColumnID, of table: TableID) -> Bool {
        isClean && columns[table]?[column] == true
    }

    /// Returns the properties that entries are written for.
    package func columns(of table: TableID) -> [ColumnID] {
        isClean ? columns[table].map { $0.keys.sorted() } ?? [] : []
    }

    /// The complete ones of a class.
    package func completeColumns(of table: TableID) -> [ColumnID] {
        columns(of: table).filter { isComplete($0, of: table) }
    }

    /// Adds the properties by which what a view has can be found.
    ///
    /// - Returns: whether any was missing.
    package mutating func add(_ view: View) -> Bool {
        var isNew = false
        for one in view.subscribed {
            // What the app's rules compare no client can choose: others leave it its place.
            let ruled = Set(one.role?.visibleValues.map(\.column.id) ?? [])
            for column in (one.accesses ?? []).compactMap(\.column) where columns[one.table.id]?[column] == nil {
                guard ruled.contains(column) || columns[one.table.id]?.count ?? 0 < Self.maxPerClass else { continue }
                columns[one.table.id, default: [:]][column] = false
                isNew = true
            }
        }
        return isNew
    }

    /// The values of an object's entries, by property.
    package func values(of object: StoredObject, in table: TableSchema) -> [ColumnID: [UInt8]] {
        values(of: object, in: table, columns(of: table.id))
    }

    /// - Parameter columns: those that are wanted.
    package func values(
        of object: StoredObject, in table: TableSchema, _ columns: [ColumnID]
    ) -> [ColumnID: [UInt8]] {
        var values: [ColumnID: [UInt8]] = [:]
        for id in columns {
            guard let column = table.columns.first(where: { $0.id == id }) else { continue }
            values[id] = OrderedBytes.of(object[id] ?? column.defaultValue, maxCount: Self.maxValueBytes)
        }
        return values
    }

    // MARK: Filling

    /// Where the filling goes on; nil if nothing is left to be filled.
    package mutating func fillingNext() -> Filling? {
        guard isClean else { return nil }
        if let filling { return filling }
        let next = columns.filter { $0.value.values.contains(false) }.min { $0.key < $1.key }
        guard let next else { return nil }
        filling = Filling(table: next.key, columns: next.value.filter { !$0.value }.keys.sorted())
        return filling
    }

    /// Objects up to this one have their entries; nil: all of the class have.
    package mutating func filled(through key: ObjectKey?) {
        guard let filling else { return }
        if let key {
            self.filling?.after = key
        } else {
            for column in filling.columns { columns[filling.table]?[column] = true }
            self.filling = nil
        }
    }

    /// Nothing is left of entries that somebody has made wrong.
    package mutating func cleaned() { isClean = true }

    // MARK: As bytes

    /// - Parameter salt: of the realm's latest version: the entries are those of this state.
    package func encoded(at salt: VersionSalt) -> [UInt8] {
        guard !isEmpty else { return [] }
        var writer = VarintWriter()
        writer.write(UInt64(1))
        writer.write(salt.rawValue)
        writer.write(isClean)
        writer.write(UInt64(columns.count))
        for (table, columns) in columns.sorted(by: { $0.key < $1.key }) {
            writer.write(table.rawValue)
            writer.write(UInt64(columns.count))
            for (column, isComplete) in columns.sorted(by: { $0.key < $1.key }) {
                writer.write(column.rawValue)
                writer.write(isComplete)
            }
        }
        writer.write(filling != nil)
        if let filling {
            writer.write(filling.table.rawValue)
            writer.write(UInt64(filling.columns.count))
            for column in filling.columns { writer.write(column.rawValue) }
            writer.write(filling.after != nil)
            if let after = filling.after { writer.write(detached: after) }
        }
        return writer.bytes
    }

    /// Reads what is stored of a realm. An owner that does not know of indexes makes versions under its own salt and leaves this as it was: then
    /// everything is to be filled anew. So it is if the bytes cannot be read.
    ///
    /// - Parameter salt: of the realm's latest version.
    package init(decoding bytes: [UInt8], at salt: VersionSalt) {
        guard !bytes.isEmpty else { return }
        do throws(ChangesetError) {
            let (read, found) = try Self.read(bytes)
            self = read
            if found == salt { return }
        } catch {
            columns = [:]
        }
        isClean = false
        filling = nil
        columns = columns.mapValues { $0.mapValues { _ in false } }
    }

    private static func read(_ bytes: [UInt8]) throws(ChangesetError) -> (IndexedColumns, VersionSalt) {
        var reader = VarintReader(bytes)
        guard try reader.readUInt64() == 1 else { throw reader.malformed("indexed columns of another version") }
        var result = IndexedColumns()
        let salt = VersionSalt(try reader.readUInt64())
        result.isClean = try reader.readBool()
        for _ in 0..<(try reader.readLength(limit: reader.remaining, what: "classes")) {
            let table = TableID(rawValue: try reader.readUInt32())
            for _ in 0..<(try reader.readLength(limit: reader.remaining, what: "columns")) {
                let column = ColumnID(rawValue: try reader.readUInt32())
                result.columns[table, default: [:]][column] = try reader.readBool()
            }
        }
        if try reader.readBool() {
            var filling = Filling(table: TableID(rawValue: try reader.readUInt32()), columns: [])
            for _ in 0..<(try reader.readLength(limit: reader.remaining, what: "columns")) {
                filling.columns.append(ColumnID(rawValue: try reader.readUInt32()))
            }
            if try reader.readBool() { filling.after = try reader.readDetachedKey() }
            result.filling = filling
        }
        guard reader.isAtEnd else { throw reader.malformed("bytes after the indexed columns") }
        return (result, salt)
    }
}

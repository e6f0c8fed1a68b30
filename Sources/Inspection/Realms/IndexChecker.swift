import Changesets
import RealmState
import Storage
import SyncModel
import Views

/// Checks the indexes by which objects of a flexible realm are found: each entry must be what its object has, and each object of a class must
/// have one in every index that is filled.
struct IndexChecker {
    private let record: RealmRecord
    private let indexed: IndexedColumns
    private let schema: Schema

    private static let pageSize = 1_000

    private struct Index: Hashable {
        var table: UInt32
        var column: UInt32
    }

    /// Nil if there is nothing to check, or no owner has come yet who would make it anew.
    init?(_ record: RealmRecord) {
        let indexed = IndexedColumns(decoding: record.indexed, at: record.latest.salt)
        guard record.name.isFlexible, indexed.isClean,
            let schema = try? record.storedSchema()
        else { return nil }
        self.record = record
        self.indexed = indexed
        self.schema = schema
    }

    /// - Parameter objects: how many there are, by table.
    func check(in reader: any SliceReader, objects: [UInt32: Int], _ findings: inout FindingList) async throws {
        var counts: [Index: Int] = [:]
        var last: IndexEntry?
        while true {
            let page = try await reader.indexEntries(in: record.id, after: last, limit: Self.pageSize)
            guard let end = page.last else { break }
            let bodies = try await reader.objects(in: record.id, at: Array(Set(page.map(\.row))))
            for entry in page {
                counts[Index(table: entry.row.table, column: entry.column), default: 0] += 1
                check(entry, bodies[entry.row], &findings)
            }
            last = end
        }
        for table in schema.tables {
            for column in indexed.completeColumns(of: table.id) {
                guard let name = table.columns.first(where: { $0.id == column })?.name else { continue }
                let found = counts[Index(table: table.id.rawValue, column: column.rawValue)] ?? 0
                let expected = objects[table.id.rawValue] ?? 0
                if found != expected {
                    findings.add(
                        .indexes,
                        "the index of class \(table.name.string) by \(name.string) has \(found.counted("entry", "entries")); expected \(expected)"
                    )
                }
            }
        }
    }

    private func check(_ entry: IndexEntry, _ body: [UInt8]?, _ findings: inout FindingList) {
        let column = ColumnID(rawValue: entry.column)
        guard let table = schema.table(TableID(rawValue: entry.row.table)),
            indexed.columns(of: table.id).contains(column)
        else {
            return findings.add(
                .indexes,
                "an entry of class number \(entry.row.table) by property number \(entry.column), which has no index")
        }
        // A property that was taken away leaves its entries behind: its number is not used again.
        guard let name = table.columns.first(where: { $0.id == column })?.name else { return }
        let address = ObjectAddress(table.name, entry.row.key)
        guard let body else {
            return findings.add(
                .indexes, "the index by \(name.string) has object \(address.text), which does not exist")
        }
        // An object that cannot be read is among the findings already.
        guard let object = try? StoredObject(decoding: body, only: [column]) else { return }
        if indexed.values(of: object, in: table)[column] != entry.value {
            findings.add(.indexes, "the index has another value of object \(address.text) in \(name.string)")
        }
    }
}

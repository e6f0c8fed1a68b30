import Changesets
import RealmState
import Rules
import SyncModel
import TestSupport
import Testing

@testable import Views

/// The properties by whose values objects are found, and how their indexes are filled.
@Suite struct IndexedColumnsTests {
    private static let everything =
        #"{"name": "all", "apply_when": {}, "read": true, "write": true, "document_filters": {"read": true, "write": true}}"#

    private func view(_ query: String, _ roles: String = everything) throws -> View {
        try View(
            ViewDefinition(version: 1, queries: #"{"Item": "\#(query)"}"#, roles: try ViewTests.roles(roles)),
            schema: ViewTests.schema)
    }

    private var table: TableSchema { get throws { try #require(ViewTests.schema.table("Item")) } }
    private func column(_ name: ByteString) throws -> ColumnID { try #require(try table.column(name)?.id) }

    @Test func indexedColumnsComeFromTheQueryAndTheRole() throws {
        func columns(_ view: View) throws -> [ColumnID]? {
            try #require(view["Item"]).accesses.map { $0.compactMap(\.column) }
        }
        let (owner, team, done) = (try column("owner_id"), try column("team"), try column("done"))
        try expectEqual(columns(view("team == 'red' and done == true")), [team, done])
        try expectEqual(columns(view("TRUEPREDICATE")), [])
        try expectTrue(columns(view("FALSEPREDICATE")) == nil)
        try expectEqual(columns(view("TRUEPREDICATE", ViewTests.own)), [owner])
        // Both say something of the same property.
        let both = try view("owner_id IN {'a1', 'b1'}", ViewTests.own)["Item"]?.accesses
        guard case .column(owner, let ranges)? = both?.first else {
            Issue.record("\(String(describing: both))")
            return
        }
        expectTrue(ranges.count == 1 && both?[0].arePoints == true)
        try expectTrue(columns(view("owner_id == 'b1'", ViewTests.own)) == nil)
        try expectEqual(view("_id IN {3, 1}")["Item"]?.accesses, [.keys([.int(1), .int(3)])])
        try expectEqual(view("_id > 3")["Item"]?.accesses, [])
    }

    @Test func viewsThatSelectTheSameAreTold() throws {
        let first = try #require(try view("team == 'red'")["Item"])
        expectTrue(first.selectsLike(try #require(try view("team == 'red'")["Item"])))
        expectTrue(!first.selectsLike(try #require(try view("team == 'blue'")["Item"])))
        expectTrue(!first.selectsLike(try #require(try view("team == 'red'", ViewTests.own)["Item"])))
    }

    @Test func indexesAreFilledClassByClassAndKeptAsBytes() throws {
        let (id, owner, team, done) = (
            try table.id, try column("owner_id"), try column("team"), try column("done")
        )
        func kept(_ columns: IndexedColumns, at salt: VersionSalt = 7) -> IndexedColumns {
            IndexedColumns(decoding: columns.encoded(at: 7), at: salt)
        }
        var columns = IndexedColumns()
        expectTrue(columns.isEmpty && !columns.isBehind && columns.encoded(at: 7) == [])
        expectTrue(columns.add(try view("owner_id == 'a' and team == 'b'")))
        try expectTrue(!columns.add(view("team == 'c'")))
        expectTrue(columns.isBehind && kept(columns) == columns)
        // What is written has entries from now on, though the others have none yet.
        expectTrue(columns.columns(of: id) == [owner, team] && columns.completeColumns(of: id) == [])
        var filling = columns.fillingNext()
        expectTrue(filling?.columns == [owner, team] && filling?.after == nil)
        columns.filled(through: .int(9))
        // A property that comes meanwhile has its turn afterwards.
        expectTrue(columns.add(try view("done == true")))
        columns = kept(columns)
        filling = columns.fillingNext()
        expectTrue(filling?.columns == [owner, team] && filling?.after == .int(9))
        columns.filled(through: nil)
        expectTrue(columns.isComplete(team, of: id) && !columns.isComplete(done, of: id) && columns.isBehind)
        filling = columns.fillingNext()
        expectEqual(filling?.columns, [done])
        columns.filled(through: nil)
        expectTrue(!columns.isBehind && kept(columns) == columns)
        filling = columns.fillingNext()
        expectTrue(filling == nil)

        // Somebody has made versions who knows nothing of indexes.
        var stale = kept(columns, at: 8)
        expectTrue(stale.isBehind && !stale.isClean && !stale.isComplete(team, of: id) && stale.columns(of: id) == [])
        filling = stale.fillingNext()
        expectTrue(filling == nil && kept(stale) == stale)
        stale.cleaned()
        filling = stale.fillingNext()
        expectEqual(filling?.columns, [owner, team, done])
        // Bytes that cannot be read.
        var unknown = IndexedColumns(decoding: [9, 9], at: 7)
        expectTrue(unknown.isBehind && !unknown.isClean && !unknown.isEmpty)
        unknown.cleaned()
        expectTrue(unknown.isEmpty)
    }

    @Test func anObjectsEntriesHaveDefaultsToo() throws {
        var columns = IndexedColumns()
        _ = columns.add(try view("owner_id == 'a' and done == true"))
        let item = ViewTests.item(["owner_id": .string("a")])
        let values = columns.values(of: item, in: try table)
        let (owner, done) = (try column("owner_id"), try column("done"))
        expectEqual(values, [owner: [4, 0x61], done: [0]])
    }
}

import Changesets
import Documents
import ExtendedJSON
import RealmState
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Inspection

/// Documents of a stored realm, found beside its owner.
@Suite struct DocumentSearchTests {
    /// Dogs with the keys 7, 8, 9 and 100 to 139.
    private func search() async throws -> (search: DocumentSearch, realm: StoredRealm) {
        let realm = try await StoredRealm()
        let table = try #require(try realm.record.storedSchema().table("Dog")).id.rawValue
        try await realm.commit { batch in
            for key in 100..<140 {
                batch.objects[realm.record.id, default: [:]][ObjectRow(table: table, key: .int(Int64(key)))] =
                    StoredObject().encoded()
            }
        }
        let reader = try await realm.readers.reader(for: SliceNumber(0))
        return (try DocumentSearch(in: realm.record, of: "Dog", reader: reader), realm)
    }

    private func keys(_ page: DocumentSearch.Page) -> [Int64] { page.documents.compactMap { $0["_id"]?.integer } }

    @Test func pagesGoOnWhereTheOneBeforeEnded() async throws {
        let (search, realm) = try await search()
        var found: [Int64] = []
        var after: SearchPlace?
        repeat {
            let page = try await search.page(.init(limit: 10, after: after))
            found += keys(page)
            after = page.next
        } while after != nil
        // Each once, in the order in which the store has them.
        expectEqual(found.sorted(), [7, 8, 9] + Array(100..<140))
        withExtendedLifetime(realm) {}
    }

    @Test func keysAreReadAFewAtATimeAndNothingElseIs() async throws {
        let (search, realm) = try await search()
        let wanted = Array(stride(from: Int64(90), to: 140, by: 1)).map { BSONValue($0) }
        let filter: BSONDocument = ["_id": ["$in": .array(wanted)]]
        let page = try await search.page(.init(filter: filter, limit: 100))
        expectEqual(keys(page), Array(100..<140))
        expectEqual(page.examined, 40)
        expectTrue(page.next == nil)
        let one = try await search.page(.init(id: 8, limit: 1))
        expectTrue(keys(one) == [8] && one.examined == 1)
        try await expectEqual(search.count(.init(filter: filter)), 40)
        try await expectEqual(search.count(.init()), 43)
        withExtendedLifetime(realm) {}
    }

    @Test func aSortedSearchHasTheFirstOfAll() async throws {
        let (search, realm) = try await search()
        let descending = DocumentSearch.SortField("_id", isAscending: false)
        let page = try await search.page(.init(sort: [descending], limit: 3))
        expectTrue(keys(page) == [139, 138, 137] && page.next == nil && page.examined == 43)
        let row = ObjectRow(table: 0, key: .int(7))
        await #expect(throws: DocumentError.self) {
            try await search.page(.init(sort: [descending], limit: 3, after: SearchPlace(row)))
        }
        withExtendedLifetime(realm) {}
    }

    @Test func whatThereIsNotIsNamed() async throws {
        let (search, realm) = try await search()
        let reader = try await realm.readers.reader(for: SliceNumber(0))
        #expect(throws: DocumentError.self) { try DocumentSearch(in: realm.record, of: "Cat", reader: reader) }
        await #expect(throws: DocumentError.self) { try await search.page(.init(projection: ["name": 1], limit: 1)) }
        await #expect(throws: DocumentError.self) { try await search.page(.init(id: "seven", limit: 1)) }
    }
}

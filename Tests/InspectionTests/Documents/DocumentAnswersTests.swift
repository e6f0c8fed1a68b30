import Changesets
import Documents
import ExtendedJSON
import Rules
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Inspection

/// Searches by filters, queries, indexes and roles, and what is made of what they find.
@Suite(.hangGuard) struct DocumentAnswersTests {
    private static let own = #"{"document_filters": {"read": {"owner": "%%user.id"}, "write": false}, "read": true}"#

    private func keys(_ documents: [BSONDocument]) -> [Int64] { documents.compactMap { $0["_id"]?.integer } }

    private func failure(_ body: () async throws -> Void) async -> DocumentError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? DocumentError)?.code
        }
    }

    @Test func aQueryAndAFilterSelectTheSame() async throws {
        let realm = try await SearchedRealm()
        let filter: BSONDocument = ["n": ["$gte": 5], "owner": ["$in": ["u1", "u2"]]]
        let byFilter = try await realm.search { try await $0.page(.init(filter: filter, limit: 1_000)) }
        let byQuery = try await realm.search {
            try await $0.page(.init(query: "n >= 5 AND owner IN {'u1', 'u2'}", limit: 1_000))
        }
        expectEqual(
            keys(byFilter.documents).sorted(),
            (0..<SearchedRealm.count).filter { $0 % 7 >= 5 && [1, 2].contains($0 % 10) })
        expectEqual(byFilter.documents, byQuery.documents)
        for wrong in ["n >", "n == 1 SORT(n ASC)", "ALL tags.x == 1"] as [ByteString] {
            let code = await failure { _ = try await realm.search { try await $0.count(.init(query: wrong)) } }
            expectEqual(code, .invalidWrite, "\(wrong)")
        }
    }

    /// Pages by an index have each object once, whatever their size is.
    @Test(arguments: [1, 7, 1_000]) func pagesGoByAnIndexWhereOneServes(limit: Int) async throws {
        let realm = try await SearchedRealm(indexed: "owner == 'x' AND n > 1")
        let filter: BSONDocument = ["owner": ["$in": ["u1", "u2"]]]
        var found: [Int64] = []
        var after: SearchPlace?
        var examined = 0
        repeat {
            let page = try await realm.search { [after] search in
                try await search.page(.init(filter: filter, limit: limit, after: after))
            }
            found += keys(page.documents)
            examined += page.examined
            after = page.next
            expectTrue(after == nil || after?.index != nil)
        } while after != nil
        expectEqual(found.sorted(), (0..<SearchedRealm.count).filter { [1, 2].contains($0 % 10) })
        expectEqual(examined, found.count)
        try await expectEqual(realm.search { try await $0.count(.init(filter: filter)) }, found.count)
    }

    @Test func anExplanationSaysTheWayAndLooksAtNothing() async throws {
        let realm = try await SearchedRealm(indexed: "owner == 'x' AND n > 1")
        func explain(_ filter: BSONDocument, as roles: ClosedRoles? = nil) async throws -> SearchExplanation {
            try await realm.search(as: roles) { try await $0.explain(.init(filter: filter)) }
        }
        let byIndex = try await explain(["owner": "u1", "n": ["$gt": 0]])
        expectTrue(byIndex.way == "index" && byIndex.index == "owner" && byIndex.examined == 30, "\(byIndex)")
        expectTrue(byIndex.indexed == ["n", "owner"] && byIndex.objects == 300 && byIndex.version == 9)
        let byKey = try await explain(["_id": ["$in": [1, 2]], "owner": "u1"])
        expectTrue(byKey.way == "key" && byKey.examined == 2)
        let byClass = try await explain(["secret": "s1"])
        expectTrue(byClass.way == "class" && byClass.index == nil && byClass.examined == 300)
        let own = try await explain([:], as: SearchedRealm.roles(Self.own))
        expectTrue(own.way == "index" && own.index == "owner" && own.examined == 30 && own.role == "r", "\(own)")
    }

    @Test func aUserFindsWhatTheRoleShowsAndNothingElse() async throws {
        for indexed in [nil, "owner == 'x'"] {
            let realm = try await SearchedRealm(indexed: indexed)
            let roles = try SearchedRealm.roles(Self.own)
            let own = (0..<SearchedRealm.count).filter { $0 % 10 == 3 }
            let page = try await realm.search(as: roles) { try await $0.page(.init(limit: 1_000)) }
            expectEqual(keys(page.documents).sorted(), own)
            try await expectEqual(realm.search(as: roles) { try await $0.count(.init()) }, own.count)
            try await expectEqual(
                realm.search(as: roles) { try await $0.count(.init(filter: ["_id": ["$in": [2, 3, 13]]])) }, 2)
            try await expectEqual(realm.search(as: roles) { try await $0.distinct("owner", .init()) }, ["u3"])
            let sum = try await realm.search(as: roles) {
                try await $0.aggregate(try Pipeline([["$group": ["_id": "$owner", "n": ["$sum": 1]]]]))
            }
            expectEqual(sum, [["_id": "u3", "n": 30]])
            // A user without a role sees nothing.
            try await expectEqual(realm.search(as: ClosedRoles.none) { try await $0.count(.init()) }, 0)
        }
    }

    @Test func whatARoleHidesIsNeitherShownNorSearchedBy() async throws {
        let realm = try await SearchedRealm()
        let roles = try SearchedRealm.roles(
            #"{"document_filters": {"read": true, "write": false}, "fields": {"n": {"read": true}, "tags": {"read": true}}}"#
        )
        let page = try await realm.search(as: roles) { try await $0.page(.init(limit: 1)) }
        expectEqual(
            page.documents.map { ExtendedJSONWriter.text(of: .document($0)) }, [#"{"_id":0,"n":0,"tags":["t0","all"]}"#]
        )
        let shown = try await realm.search(as: roles) {
            try await $0.page(.init(projection: ["secret": 1], limit: 1))
        }
        expectEqual(shown.documents, [["_id": 0]])
        let pushed = try await realm.search(as: roles) {
            try await $0.aggregate(
                try Pipeline([["$limit": 2], ["$group": ["_id": 1, "all": ["$push": "$secret"]]]]))
        }
        expectEqual(pushed, [["_id": 1, "all": []]])
        let attempts: [(DocumentSearch) async throws -> Void] = [
            { _ = try await $0.page(.init(filter: ["secret": "s1"], limit: 1)) },
            { _ = try await $0.count(.init(query: "owner == 'u1'")) },
            { _ = try await $0.page(.init(sort: [.init("secret", isAscending: true)], limit: 1)) },
            { _ = try await $0.distinct("secret", .init()) },
            { _ = try await $0.aggregate(try Pipeline([["$match": ["secret": "s1"]], ["$count": "n"]])) },
            { _ = try await $0.explain(.init(filter: ["secret": "s1"])) },
        ]
        for (number, attempt) in attempts.enumerated() {
            let code = await failure { try await realm.search(as: roles) { try await attempt($0) } }
            expectEqual(code, .unreadableField, "\(number)")
        }
    }

    @Test func valuesAreToldOnceAndThoseOfListsOneByOne() async throws {
        let realm = try await SearchedRealm()
        try await expectEqual(realm.search { try await $0.distinct("tags", .init()) }, ["all", "t0", "t1", "t2"])
        try await expectEqual(
            realm.search { try await $0.distinct("n", .init(filter: ["_id": ["$lt": 3]])) }, [0, 1, 2])
        let code = await failure { _ = try await realm.search { try await $0.distinct("nothing", .init()) } }
        expectEqual(code, .unknownField)
    }

    @Test func aggregationsAreOfWhatTheFirstStageSelects() async throws {
        let realm = try await SearchedRealm(indexed: "owner == 'x'")
        let documents = try await realm.search {
            try await $0.aggregate(
                try Pipeline([
                    ["$match": ["owner": ["$in": ["u1", "u2"]]]], ["$group": ["_id": "$owner", "n": ["$sum": "$n"]]],
                    ["$sort": ["_id": 1]],
                ]))
        }
        let sums = ["u1", "u2"].enumerated().map { index, _ in
            (0..<SearchedRealm.count).filter { $0 % 10 == Int64(index + 1) }.reduce(0) { $0 + $1 % 7 }
        }
        expectEqual(documents, [["_id": "u1", "n": BSONValue(sums[0])], ["_id": "u2", "n": BSONValue(sums[1])]])
        let wrong = await failure {
            _ = try await realm.search { try await $0.aggregate(try Pipeline([["$match": ["n": "text"]]])) }
        }
        expectEqual(wrong, .wrongType)
    }

    @Test func allThatIsSelectedComesInParts() async throws {
        let realm = try await SearchedRealm()
        var limits = SearchLimits()
        limits.readBytes = 200
        var parts: [[BSONDocument]] = []
        let count = try await realm.search(limits: limits) { search in
            try await search.all(.init(filter: ["n": 1], projection: ["n": 1])) { parts.append($0) }
        }
        expectEqual(parts.flatMap { keys($0) }.sorted(), (0..<SearchedRealm.count).filter { $0 % 7 == 1 })
        expectTrue(parts.count > 3 && count == parts.reduce(0) { $0 + $1.count })
        var few: [BSONDocument] = []
        _ = try await realm.search(limits: limits) { search in
            try await search.all(.init(limit: 4)) { few += $0 }
        }
        expectEqual(keys(few), [0, 1, 2, 3])
    }

    /// Several searches within one budget have together what one would have.
    @Test func aBudgetIsOfAllSearchesTogether() async throws {
        let realm = try await SearchedRealm()
        var limits = SearchLimits()
        limits.examined = 450
        let budget = SearchBudget(limits)
        func count() async throws -> Int? {
            try await DocumentSearch.run(in: SearchedRealm.name, of: "Task", reader: realm.reader, within: budget) {
                try await $0.count(.init(filter: ["n": 1]))
            }
        }
        try await expectEqual(count(), 43)
        let code = await failure { _ = try await count() }
        expectEqual(code, .limit)
    }

    @Test func aSearchThatNobodyWaitsForEnds() async {
        let search = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try SearchBudget().requireTime()
        }
        await #expect(throws: CancellationError.self) { try await search.value }
    }

    @Test func aSearchEndsAtItsBounds() async throws {
        let realm = try await SearchedRealm()
        var few = SearchLimits()
        few.examined = 100
        var dear = SearchLimits()
        dear.steps = 1_000
        var late = SearchLimits()
        late.patience = .zero
        for limits in [few, dear, late] {
            let code = await failure {
                _ = try await realm.search(limits: limits) { try await $0.count(.init(query: "ANY tags == 'none'")) }
            }
            expectEqual(code, .limit)
        }
        // A page ends where it has looked at enough, and the next one goes on.
        var short = SearchLimits()
        short.pageSteps = 1
        short.readBytes = 200
        let page = try await realm.search(limits: short) { try await $0.page(.init(filter: ["n": 100], limit: 10)) }
        expectTrue(page.documents.isEmpty && page.next != nil && page.examined < 100)
    }
}

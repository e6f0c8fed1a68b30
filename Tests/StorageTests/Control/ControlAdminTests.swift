import Storage
import StorageSupport
import TestSupport
import Testing

@Suite(.hangGuard) struct ControlAdminTests {
    @Test(arguments: ControlVariant.allCases)
    func adminTokensAreFoundByTheirDigestUntilTheyAreRemoved(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            let token = AdminTokenRecord(name: "ci", digest: "d1", role: .operate, createdAt: 5, createdBy: "ann")
            let other = AdminTokenRecord(name: "bob", digest: "d2", role: .own, createdAt: 6, createdBy: "ann")
            try await store.insert(token)
            try await store.insert(other)
            let taken = await #expect(throws: StoreError.self) { try await store.insert(token) }
            expectEqual(taken?.code, .alreadyExists)
            try await expectEqual(store.adminToken(digest: "d1"), token)
            try await expectTrue(store.adminToken(digest: "d3") == nil)
            try await expectEqual(store.adminTokens(), [other, token])
            try await store.removeAdminToken("ci")
            try await expectTrue(store.adminToken(digest: "d1") == nil)
            let missing = await #expect(throws: StoreError.self) { try await store.removeAdminToken("ci") }
            expectEqual(missing?.code, .notFound)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func theAuditLogKeepsTheNewestRequests(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            var numbers: [Int64] = []
            for at in 1...7 {
                let entry = AuditEntry(
                    at: UInt64(at), token: "ci", role: .operate, method: "POST", path: "/apps", address: "192.0.2.\(at)"
                )
                numbers.append(try await store.beginAudit(entry, keeping: 5))
            }
            expectTrue(numbers == numbers.sorted() && Set(numbers).count == 7)
            try await expectEqual(store.auditEntries(before: nil, limit: 10).map(\.at), [7, 6, 5, 4, 3])
            // If a coordinator died, it is not known how its request ended.
            try await expectTrue(store.auditEntries(before: nil, limit: 1).first?.status == nil)
            try await store.endAudit(numbers[6], status: 201, details: "id=\"a\"", isDryRun: true)
            // This entry is forgotten by now.
            try await store.endAudit(numbers[0], status: 201, details: nil, isDryRun: false)
            let newest = try #require(try await store.auditEntries(before: nil, limit: 1).first)
            expectTrue(newest.status == 201 && newest.details == "id=\"a\"" && newest.number == numbers[6])
            expectTrue(newest.address == "192.0.2.7" && newest.dryRun == true)
            let before = try #require(try await store.auditEntries(before: numbers[6], limit: 1).first)
            expectTrue(before.address == "192.0.2.6" && before.dryRun == nil)
            try await expectEqual(store.auditEntries(before: numbers[5], limit: 2).map(\.at), [5, 4])
            try await expectTrue(store.auditEntries(before: numbers[2], limit: 2).isEmpty)
        }
    }
}

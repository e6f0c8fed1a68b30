import Foundation
import Storage
import StorageSupport
import TestSupport
import Testing

@testable import StorageSQLite

@Suite(.hangGuard) struct ControlAccountTests {
    private func user(_ id: String, app: String = "tasks", email: String? = nil) -> UserRecord {
        UserRecord(
            app: app, id: id, identities: [.init(id: "0123456789abcdef01234567", provider: "anon-user")], email: email,
            isDisabled: false, createdAt: 5)
    }

    @Test(arguments: ControlVariant.allCases)
    func usersBelongToTheirApp(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(user("a"))
            try await store.insert(user("a", app: "other"))
            try await expectEqual(store.user(app: "tasks", id: "a"), user("a"))
            try await expectTrue(store.user(app: "none", id: "a") == nil)
            try await expectEqual(store.userCount(app: "tasks"), 1)
            try await store.setDisabled(true, app: "tasks", user: "a")
            try await expectEqual(store.user(app: "tasks", id: "a")?.isDisabled, true)
            try await expectEqual(store.user(app: "other", id: "a")?.isDisabled, false)
            let error = await #expect(throws: StoreError.self) { try await store.insert(user("a")) }
            expectEqual(error?.code, .alreadyExists)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func changedUsersAreRemembered(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            for id in ["a", "b", "c"] { try await store.insert(user(id)) }
            try await expectEqual(store.userChanges(app: "tasks", after: 0), [])
            try await store.setDisabled(true, app: "tasks", user: "a")
            try await store.setCustomData("{}", app: "tasks", user: "b")
            try await store.removeUser(app: "tasks", id: "a")
            try await expectEqual(store.app("tasks")?.usersVersion, 3)
            try await expectEqual(store.userChanges(app: "tasks", after: 0), ["a", "b"])
            try await expectEqual(store.userChanges(app: "tasks", after: 2), ["a"])
            try await expectEqual(store.userChanges(app: "tasks", after: 3), [])
            // A version of a time that has not come, and an app that is not there.
            try await expectTrue(store.userChanges(app: "tasks", after: 4) == nil)
            try await expectTrue(store.userChanges(app: "none", after: 0) == nil)
            _ = try await store.revokeLoginSessions(app: "tasks", user: "b")
            try await expectEqual(store.userChanges(app: "tasks", after: 3), ["b"])
            _ = try await store.revokeLoginSessions(app: "tasks", user: nil)
            try await expectTrue(store.userChanges(app: "tasks", after: 3) == nil)
            // The oldest go.
            for _ in 0..<UserRecord.keptChanges { try await store.setDisabled(true, app: "tasks", user: "c") }
            try await expectEqual(store.userChanges(app: "tasks", after: 5), ["c"])
            try await expectTrue(store.userChanges(app: "tasks", after: 4) == nil)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func anAddressIsRegisteredOnceAndAdoptedOnce(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            let password = PasswordRecord(app: "tasks", email: "a@b.c", passwordHash: "hash-hunter2", userID: nil)
            try await store.register(password)
            let error = await #expect(throws: StoreError.self) { try await store.register(password) }
            expectEqual(error?.code, .alreadyExists)
            expectEqual(error?.description.contains("hunter2"), false)
            try await expectEqual(store.adopt(user("u1", email: "a@b.c"), app: "tasks", email: "a@b.c"), "u1")
            try await expectEqual(store.adopt(user("u2", email: "a@b.c"), app: "tasks", email: "a@b.c"), "u1")
            try await expectTrue(store.user(app: "tasks", id: "u2") == nil)
            try await store.setPasswordHash("late", replacing: "another", app: "tasks", email: "a@b.c")
            try await expectEqual(store.password(app: "tasks", email: "a@b.c")?.passwordHash, "hash-hunter2")
            try await store.setPasswordHash("new", replacing: "hash-hunter2", app: "tasks", email: "a@b.c")
            let stored = try await store.password(app: "tasks", email: "a@b.c")
            expectTrue(stored?.passwordHash == "new" && stored?.userID == "u1")
            let missing = await #expect(throws: StoreError.self) {
                _ = try await store.adopt(user("u3"), app: "tasks", email: "nobody@b.c")
            }
            expectEqual(missing?.code, .notFound)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func loginSessionsAreTouchedRevokedAndForgotten(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            func session(_ id: String, at: UInt64) -> LoginSessionRecord {
                LoginSessionRecord(
                    id: id, app: "tasks", userID: "u", deviceID: "d", createdAt: at, lastUsedAt: at,
                    expiresAt: at + 100, isRevoked: false, origin: "here")
            }
            try await store.insert(session("one", at: 10))
            try await store.touchLoginSession("one", at: 30)
            try await store.touchLoginSession("one", at: 20)
            try await expectEqual(store.loginSession("one")?.lastUsedAt, 30)
            try await store.revokeLoginSession("one")
            try await expectEqual(store.loginSession("one")?.isRevoked, true)
            try await expectEqual(store.loginSession("one")?.origin, "here")
            try await expectTrue(store.hasLoginSession(app: "tasks", user: "u", origin: "here"))
            try await expectTrue(!store.hasLoginSession(app: "tasks", user: "u", origin: "there"))
            try await expectTrue(!store.hasLoginSession(app: "tasks", user: "v", origin: "here"))
            try await store.insert(session("two", at: 5000))
            try await expectTrue(store.loginSession("one") == nil)
            try await expectTrue(store.loginSession("two") != nil)
        }
    }

    @Test func processesAgreeOnOneSigningKey() async throws {
        try await withControlFolder { folder in
            let keys = try await withThrowingTaskGroup(of: [String].self) { group in
                for number in 0..<6 {
                    group.addTask {
                        let store = try await SQLiteStores(folder: folder).control()
                        let key = SigningKeyRecord(
                            id: "k\(number)", purpose: "access", privateKeyPEM: "pem\(number)", createdAt: 1)
                        return try await store.signingKeys(purpose: "access", orCreate: key).map(\.privateKeyPEM)
                    }
                }
                return try await group.reduce(into: Set<[String]>()) { $0.insert($1) }
            }
            expectTrue(keys.count == 1 && keys.first?.count == 1)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func aNewKeyIsTheNewestAndMadeOnce(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            func key(_ id: String, at: UInt64) -> SigningKeyRecord {
                SigningKeyRecord(id: id, purpose: "access", privateKeyPEM: "pem \(id)", createdAt: at)
            }
            try await expectTrue(store.addSigningKey(key("a", at: 100), unlessNewerThan: 0))
            try await expectTrue(!store.addSigningKey(key("b", at: 200), unlessNewerThan: 99))
            // Another machine's clock is behind: the key that was made last signs all the same.
            try await expectTrue(store.addSigningKey(key("c", at: 50), unlessNewerThan: 100))
            let other = SigningKeyRecord(id: "r", purpose: "refresh", privateKeyPEM: "pem r", createdAt: 1)
            try await expectTrue(store.addSigningKey(other, unlessNewerThan: 0))
            let all = try await store.signingKeys()
            expectEqual(SigningKeyRing(.access, among: all).keys.map(\.id), ["c", "a"])
            try await expectEqual(store.signingKeys(purpose: "access", orCreate: key("d", at: 1)).first?.id, "c")
            try await store.removeSigningKeys(["a", "gone"])
            try await expectEqual(Set(store.signingKeys().map(\.id)), ["c", "r"])
        }
    }

    @Test func aKeyStaysForAsLongAsWhatItSigned() throws {
        let keys = [(3_000_000_000, "new"), (2_000_000_000, "middle"), (1_000_000_000, "old")].map {
            SigningKeyRecord(id: $1, purpose: "access", privateKeyPEM: "", createdAt: $0)
        }
        let ring = SigningKeyRing(.access, among: keys.shuffled())
        expectEqual(ring.keys.map(\.id), ["new", "middle", "old"])
        // Half an hour, and eleven minutes until every gateway signs with the next one.
        expectEqual(ring.lives.map(\.until), [nil, 3_002_460_000, 2_002_460_000])
        expectEqual(ring.spent(at: 3_002_459_999).map(\.id), ["old"])
        expectEqual(ring.spent(at: 3_002_460_000).map(\.id), ["middle", "old"])
        expectEqual(ring.spent(at: .max).map(\.id), ["middle", "old"])
        expectEqual(ring.age(at: 3_000_000_500), 500)
        expectTrue(SigningKeyRing(.refresh, among: keys).age(at: 1) == nil)
    }

    @Test(arguments: ControlVariant.allCases)
    func timesPastSignedIntegersDoNotTrap(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(
                LoginSessionRecord(
                    id: "s", app: "tasks", userID: "u", deviceID: "d", createdAt: 1, lastUsedAt: 1, expiresAt: .max,
                    isRevoked: false))
            // An engine with signed integers keeps the highest one that it has.
            let expiresAt = try #require(try await store.loginSession("s")?.expiresAt)
            expectTrue(expiresAt >= UInt64(Int64.max))
        }
    }
}

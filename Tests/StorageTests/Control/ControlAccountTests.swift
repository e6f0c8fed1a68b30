import Foundation
import Storage
import StorageSupport
import Testing

@testable import StorageSQLite

@Suite(.timeLimit(.minutes(5))) struct ControlAccountTests {
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
            #expect(try await store.user(app: "tasks", id: "a") == user("a"))
            #expect(try await store.user(app: "none", id: "a") == nil)
            #expect(try await store.userCount(app: "tasks") == 1)
            try await store.setDisabled(true, app: "tasks", user: "a")
            #expect(try await store.user(app: "tasks", id: "a")?.isDisabled == true)
            #expect(try await store.user(app: "other", id: "a")?.isDisabled == false)
            let error = await #expect(throws: StoreError.self) { try await store.insert(user("a")) }
            #expect(error?.code == .alreadyExists)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func anAddressIsRegisteredOnceAndAdoptedOnce(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            let password = PasswordRecord(app: "tasks", email: "a@b.c", passwordHash: "hash-hunter2", userID: nil)
            try await store.register(password)
            let error = await #expect(throws: StoreError.self) { try await store.register(password) }
            #expect(error?.code == .alreadyExists)
            #expect(error?.description.contains("hunter2") == false)
            #expect(try await store.adopt(user("u1", email: "a@b.c"), app: "tasks", email: "a@b.c") == "u1")
            #expect(try await store.adopt(user("u2", email: "a@b.c"), app: "tasks", email: "a@b.c") == "u1")
            #expect(try await store.user(app: "tasks", id: "u2") == nil)
            try await store.setPasswordHash("late", replacing: "another", app: "tasks", email: "a@b.c")
            #expect(try await store.password(app: "tasks", email: "a@b.c")?.passwordHash == "hash-hunter2")
            try await store.setPasswordHash("new", replacing: "hash-hunter2", app: "tasks", email: "a@b.c")
            let stored = try await store.password(app: "tasks", email: "a@b.c")
            #expect(stored?.passwordHash == "new" && stored?.userID == "u1")
            let missing = await #expect(throws: StoreError.self) {
                _ = try await store.adopt(user("u3"), app: "tasks", email: "nobody@b.c")
            }
            #expect(missing?.code == .notFound)
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
            #expect(try await store.loginSession("one")?.lastUsedAt == 30)
            try await store.revokeLoginSession("one")
            #expect(try await store.loginSession("one")?.isRevoked == true)
            #expect(try await store.loginSession("one")?.origin == "here")
            #expect(try await store.hasLoginSession(app: "tasks", user: "u", origin: "here"))
            #expect(try await !store.hasLoginSession(app: "tasks", user: "u", origin: "there"))
            #expect(try await !store.hasLoginSession(app: "tasks", user: "v", origin: "here"))
            try await store.insert(session("two", at: 5000))
            #expect(try await store.loginSession("one") == nil)
            #expect(try await store.loginSession("two") != nil)
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
            #expect(keys.count == 1 && keys.first?.count == 1)
        }
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
            #expect(expiresAt >= UInt64(Int64.max))
        }
    }
}

import Foundation
import Storage
import StorageSupport
import TestSupport
import Testing

@Suite(.hangGuard) struct ControlProviderTests {
    private func user(_ id: String, provider: String = "anon-user", createdAt: UInt64 = 5) -> UserRecord {
        UserRecord(
            app: "tasks", id: id, identities: [.init(id: "0123456789abcdef01234567", provider: provider)], email: nil,
            isDisabled: false, createdAt: createdAt)
    }

    private func key(_ id: String, of user: String = "u1", name: String? = nil) -> APIKeyRecord {
        APIKeyRecord(
            id: id, app: "tasks", userID: user, name: name ?? id, digest: "digest \(id)", isDisabled: false,
            createdAt: 7)
    }

    @Test(arguments: ControlVariant.allCases)
    func settingsBelongToTheirApp(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            let missing = await #expect(throws: StoreError.self) {
                try await store.setLoginSettings(Data("{}".utf8), app: "tasks", provider: "api-key")
            }
            expectEqual(missing?.code, .notFound)
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await expectTrue(store.loginSettings(app: "tasks", provider: "api-key") == nil)
            for text in ["{}", #"{"a":1}"#] {
                try await store.setLoginSettings(Data(text.utf8), app: "tasks", provider: "api-key")
                try await expectEqual(store.loginSettings(app: "tasks", provider: "api-key"), Data(text.utf8))
            }
            // Other settings of the app leave them alone.
            _ = try await store.updateApp("tasks") { $0.maxOfflineDays = 3 }
            try await expectEqual(store.loginSettings(app: "tasks").keys.sorted(), ["api-key"])
            try await expectTrue(store.loginSettings(app: "other", provider: "api-key") == nil)
            try await store.setLoginSettings(nil, app: "tasks", provider: "api-key")
            try await expectTrue(store.loginSettings(app: "tasks").isEmpty)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func keysBelongToTheirUser(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            for id in ["u1", "u2"] { try await store.insert(user(id)) }
            try await store.insert(key("k1"))
            try await store.insert(key("k2"))
            let taken = await #expect(throws: StoreError.self) { try await store.insert(key("k3", name: "k1")) }
            expectEqual(taken?.code, .alreadyExists)
            try await store.insert(key("k4", of: "u2", name: "k1"))
            try await expectEqual(store.apiKeys(app: "tasks", user: "u1"), [key("k1"), key("k2")])
            try await expectEqual(store.apiKey(app: "tasks", digest: "digest k2"), key("k2"))
            try await expectTrue(store.apiKey(app: "other", digest: "digest k2") == nil)
            try await store.setAPIKeyDisabled(true, app: "tasks", user: "u1", id: "k1")
            try await expectEqual(store.apiKey(app: "tasks", digest: "digest k1")?.isDisabled, true)
            for isRemoval in [false, true] {
                let foreign = await #expect(throws: StoreError.self) {
                    if isRemoval {
                        try await store.removeAPIKey(app: "tasks", user: "u2", id: "k1")
                    } else {
                        try await store.setAPIKeyDisabled(false, app: "tasks", user: "u2", id: "k1")
                    }
                }
                expectEqual(foreign?.code, .notFound)
            }
            try await store.removeAPIKey(app: "tasks", user: "u1", id: "k1")
            try await expectTrue(store.apiKey(app: "tasks", digest: "digest k1") == nil)
            for number in 1..<APIKeyRecord.most { try await store.insert(key("n\(number)")) }
            let full = await #expect(throws: StoreError.self) { try await store.insert(key("one too many")) }
            expectEqual(full?.code, .full)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func aServicesUserIsTheSameAtEachLogin(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            func adopt(_ id: String, _ external: String, _ name: String) async throws -> String {
                try await store.adopt(
                    user(id, provider: "custom-token"), provider: "custom-token", externalID: external,
                    profile: ["name": name])
            }
            try await expectEqual(adopt("u1", "ann", "Ann"), "u1")
            try await expectEqual(adopt("u2", "ann", "Ann B."), "u1")
            try await expectEqual(adopt("u3", "bob", "Bob"), "u3")
            try await expectTrue(store.user(app: "tasks", id: "u2") == nil)
            let identities = try await store.externalIdentities(app: "tasks", user: "u1")
            expectTrue(identities.map(\.externalID) == ["ann"] && identities.first?.profile == ["name": "Ann B."])
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func anonymousUsersThatWereNotSeenGo(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            func session(of user: String, lastUsedAt: UInt64) async throws {
                try await store.insert(
                    LoginSessionRecord(
                        id: "s \(user)", app: "tasks", userID: user, deviceID: "d", createdAt: 5,
                        lastUsedAt: lastUsedAt, expiresAt: 10_000, isRevoked: false))
            }
            try await store.insert(user("a-unseen"))
            try await session(of: "a-unseen", lastUsedAt: 50)
            try await store.insert(user("b-seen"))
            try await session(of: "b-seen", lastUsedAt: 100)
            try await store.insert(user("c-new", createdAt: 100))
            try await store.insert(user("d-account", provider: "local-userpass"))
            try await store.insert(user("e-unseen"))
            try await store.insert(key("k1", of: "e-unseen"))

            let first = try await store.removeUnseenAnonymousUsers(before: 100, after: nil, limit: 3)
            expectTrue(first.removed == 1 && first.next == UserCursor(app: "tasks", user: "c-new"))
            let second = try await store.removeUnseenAnonymousUsers(before: 100, after: first.next, limit: 3)
            expectTrue(second.removed == 1 && second.next == nil)
            for (id, stays) in [
                ("a-unseen", false), ("b-seen", true), ("c-new", true), ("d-account", true), ("e-unseen", false),
            ] { try await expectEqual((store.user(app: "tasks", id: id) != nil), stays, "\(id)") }
            try await expectTrue(store.loginSession("s a-unseen") == nil)
            try await expectTrue(store.loginSession("s b-seen") != nil)
            // What belongs to a user goes with it.
            try await expectTrue(store.apiKey(app: "tasks", digest: "digest k1") == nil)
        }
    }
}

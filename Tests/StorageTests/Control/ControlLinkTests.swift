import Storage
import StorageSupport
import TestSupport
import Testing

/// Users that get further ways to log in.
@Suite(.hangGuard) struct ControlLinkTests {
    private func user(_ id: String) -> UserRecord {
        UserRecord(
            app: "tasks", id: id, identities: [.init(id: "i-\(id)", provider: "anon-user")], email: nil,
            isDisabled: false, createdAt: 5)
    }

    private func withUsers(
        _ variant: ControlVariant, _ body: (any ControlStore) async throws -> Void
    ) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            for id in ["u1", "u2"] { try await store.insert(user(id)) }
            try await store.register(
                PasswordRecord(app: "tasks", email: "a@b.c", spelling: "A@b.C", passwordHash: "h", userID: nil))
            try await body(store)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func anAccountBecomesTheUsers(_ variant: ControlVariant) async throws {
        try await withUsers(variant) { store in
            let before = try #require(try await store.app("tasks")).usersVersion
            for _ in 0..<2 {
                try await store.link(
                    email: "a@b.c", to: "u1", app: "tasks", as: .init(id: "i2", provider: "local-userpass"))
            }
            let linked = try #require(try await store.user(app: "tasks", id: "u1"))
            expectTrue(linked.identities.map(\.id) == ["i-u1", "i2"] && linked.email == "A@b.C")
            try await expectEqual(store.password(app: "tasks", email: "a@b.c")?.userID, "u1")
            try await expectEqual(store.userChanges(app: "tasks", after: before), ["u1"])
            let taken = await #expect(throws: StoreError.self) {
                try await store.link(
                    email: "a@b.c", to: "u2", app: "tasks", as: .init(id: "i3", provider: "local-userpass"))
            }
            expectEqual(taken?.code, .alreadyExists)
            try await expectEqual(store.user(app: "tasks", id: "u2"), user("u2"))
            // Such a user is not anonymous any more, and stays.
            let removal = try await store.removeUnseenAnonymousUsers(before: 100, after: nil, limit: 10)
            expectEqual(removal.removed, 1)
            try await expectTrue(store.user(app: "tasks", id: "u1") != nil)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func externalIdentitiesAreLinkedToOneUser(_ variant: ControlVariant) async throws {
        try await withUsers(variant) { store in
            for name in ["Ann", "Anna"] {
                try await store.link(
                    externalID: "ann", profile: ["name": name], to: "u1", app: "tasks",
                    as: .init(id: "i2", provider: "custom-token"))
            }
            try await expectEqual(store.user(app: "tasks", id: "u1")?.identities.map(\.id), ["i-u1", "i2"])
            try await expectEqual(store.externalIdentities(app: "tasks", user: "u1").map(\.profile), [["name": "Anna"]])
            let taken = await #expect(throws: StoreError.self) {
                try await store.link(
                    externalID: "ann", profile: [:], to: "u2", app: "tasks",
                    as: .init(id: "i3", provider: "custom-token"))
            }
            expectEqual(taken?.code, .alreadyExists)
            try await expectEqual(
                store.adopt(user("u3"), provider: "custom-token", externalID: "ann", profile: [:]), "u1")
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func nobodyAndNoAccountAreNotLinked(_ variant: ControlVariant) async throws {
        try await withUsers(variant) { store in
            for (email, user) in [("a@b.c", "u9"), ("x@b.c", "u1")] {
                let missing = await #expect(throws: StoreError.self) {
                    try await store.link(
                        email: email, to: user, app: "tasks", as: .init(id: "i2", provider: "local-userpass"))
                }
                expectEqual(missing?.code, .notFound)
            }
            let missing = await #expect(throws: StoreError.self) {
                try await store.link(
                    externalID: "ann", profile: [:], to: "u9", app: "tasks",
                    as: .init(id: "i2", provider: "custom-token"))
            }
            expectEqual(missing?.code, .notFound)
            let registered = try #require(try await store.password(app: "tasks", email: "a@b.c"))
            expectTrue(registered.userID == nil)
        }
    }
}

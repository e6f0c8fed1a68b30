import Storage
import StorageSupport
import TestSupport
import Testing

@Suite(.hangGuard) struct ControlMailTests {
    private func token(
        _ id: String, _ purpose: MailTokenRecord.Purpose = .confirm, hash: String? = nil, expiresAt: UInt64 = 100
    ) -> MailTokenRecord {
        MailTokenRecord(
            id: id, app: "tasks", email: "a@b.c", purpose: purpose, digest: "digest \(id)", passwordHash: hash,
            expiresAt: expiresAt)
    }

    private func registration(_ hash: String, pending: String?, spelling: String? = nil) -> PasswordRecord {
        PasswordRecord(
            app: "tasks", email: "a@b.c", spelling: spelling, passwordHash: hash, userID: nil, pending: pending)
    }

    @Test(arguments: ControlVariant.allCases)
    func aRegistrationIsReplacedUntilItIsConfirmed(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.register(registration("h1", pending: "here"))
            let second = registration("h2", pending: "there", spelling: "A@b.C")
            try await store.register(second)
            try await expectEqual(store.password(app: "tasks", email: "a@b.c"), second)
            expectEqual(second.registeredEmail, "A@b.C")
            try await store.register(registration("h2", pending: "there"))
            try await expectEqual(store.password(app: "tasks", email: "a@b.c"), registration("h2", pending: "there"))
            try await store.insert(token("t1", hash: "h1"), at: 1)
            try await store.insert(token("t2", hash: "h2"), at: 1)
            try await expectTrue(store.confirm(token("t1", hash: "h1")))
            // The mail that was read decides which password counts.
            try await expectEqual(store.password(app: "tasks", email: "a@b.c"), registration("h1", pending: nil))
            try await expectTrue(!store.confirm(token("t2", hash: "h2")))
            try await expectTrue(!store.confirm(token("t1", hash: "h1")))
            let taken = await #expect(throws: StoreError.self) {
                try await store.register(registration("h3", pending: "there"))
            }
            expectEqual(taken?.code, .alreadyExists)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func aNewPasswordEndsEveryLogin(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.register(registration("h1", pending: nil))
            let user = UserRecord(
                app: "tasks", id: "u1", identities: [], email: "a@b.c", isDisabled: false, createdAt: 1)
            _ = try await store.adopt(user, app: "tasks", email: "a@b.c")
            for (id, owner) in [("s1", "u1"), ("s2", "u2")] {
                try await store.insert(
                    LoginSessionRecord(
                        id: id, app: "tasks", userID: owner, deviceID: "d", createdAt: 1, lastUsedAt: 1,
                        expiresAt: 1_000, isRevoked: false))
            }
            try await store.insert(token("t1", .reset), at: 1)
            try await expectTrue(store.resetPassword(token("t1", .reset), to: "h2"))
            try await expectEqual(store.password(app: "tasks", email: "a@b.c")?.passwordHash, "h2")
            try await expectEqual(store.loginSession("s1")?.isRevoked, true)
            try await expectEqual(store.loginSession("s2")?.isRevoked, false)
            try await expectTrue(!store.resetPassword(token("t1", .reset), to: "h3"))
            try await expectEqual(store.password(app: "tasks", email: "a@b.c")?.passwordHash, "h2")
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func tokensExpireAndAreBounded(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(token("old", expiresAt: 10), at: 1)
            try await expectTrue(store.mailToken(app: "tasks", id: "old", at: 9) != nil)
            try await expectTrue(store.mailToken(app: "other", id: "old", at: 9) == nil)
            try await expectTrue(store.mailToken(app: "tasks", id: "old", at: 10) == nil)
            for number in 1...(MailTokenRecord.most + 2) {
                try await store.insert(token("t\(number)", expiresAt: UInt64(100 + number)), at: 20)
            }
            try await expectTrue(store.mailToken(app: "tasks", id: "t2", at: 20) == nil)
            try await expectEqual(store.mailToken(app: "tasks", id: "t3", at: 20)?.digest, "digest t3")
        }
    }
}

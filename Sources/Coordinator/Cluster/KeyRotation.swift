import Logging
import Messages
import Storage
import SyncModel

/// Makes new signing keys, by command and when the one that signs is old, and forgets those that nothing needs any more.
struct KeyRotation: Sendable {
    let context: CoordinatorContext

    /// Makes a new key of each kind, whatever the age of the one that signs.
    func rotate(_ kinds: [TokenKind]) async throws {
        for kind in kinds { _ = try await rotate(kind, unlessNewerThan: .max) }
        await tellGateways()
    }

    /// What the active coordinator does with each beat.
    func keepUp() async throws {
        let (now, keys) = (context.now, try await context.store.signingKeys())
        var isNew = false
        var ages: [TokenKind: UInt64] = [:]
        for kind in TokenKind.allCases {
            let ring = SigningKeyRing(kind, among: keys)
            // Without any the first gateway makes one.
            guard let age = ring.age(at: now) else { continue }
            ages[kind] = age
            if let limit = context.configuration.keyRotation?.milliseconds, age >= limit, now >= limit {
                let rotated = try await rotate(kind, unlessNewerThan: now - limit)
                isNew = isNew || rotated
            }
            let spent = ring.spent(at: now).map(\.id)
            guard !spent.isEmpty else { continue }
            try await context.store.removeSigningKeys(spent)
            context.logger.info(
                "signing keys forgotten", metadata: ["purpose": "\(kind.rawValue)", "count": "\(spent.count)"])
        }
        CoordinatorMetrics.signingKeys(ages)
        if isNew { await tellGateways() }
    }

    private func rotate(_ kind: TokenKind, unlessNewerThan limit: UInt64) async throws -> Bool {
        let key = SigningKeyRecord(for: kind, at: context.now)
        guard try await context.store.addSigningKey(key, unlessNewerThan: limit) else { return false }
        context.logger.notice("new signing key", metadata: ["purpose": "\(kind.rawValue)", "key": "\(key.id)"])
        return true
    }

    /// A gateway that does not hear of it reads the keys within a minute, or when it meets a token of the new one.
    private func tellGateways() async {
        do {
            try await context.link.tell(
                SigningKeysNotice(), exchange: context.topology.realms, routingKey: SigningKeysNotice.topicKey)
        } catch {
            context.logger.warning("notice of new signing keys not sent", metadata: ["error": "\(error)"])
        }
    }
}

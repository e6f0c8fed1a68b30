package import Foundation

// MARK: - Users and passwords

extension DividedControlStore {
    package func user(app: String, id: String) async throws(StoreError) -> UserRecord? {
        try await ofAccounts.user(app: app, id: id)
    }

    package func insert(_ user: UserRecord) async throws(StoreError) {
        try await ofAccounts.insert(user)
    }

    package func users(app: String, after: String?, limit: Int) async throws(StoreError) -> [UserRecord] {
        try await ofAccounts.users(app: app, after: after, limit: limit)
    }

    package func userCount(app: String) async throws(StoreError) -> Int { try await ofAccounts.userCount(app: app) }

    package func userChanges(app: String, after version: UInt64) async throws(StoreError) -> Set<String>? {
        try await ofAccounts.userChanges(app: app, after: version)
    }

    package func setDisabled(_ disabled: Bool, app: String, user: String) async throws(StoreError) {
        try await ofAccounts.setDisabled(disabled, app: app, user: user)
    }

    package func setCustomData(_ customData: String?, app: String, user: String) async throws(StoreError) {
        try await ofAccounts.setCustomData(customData, app: app, user: user)
    }

    package func removeUser(app: String, id: String) async throws(StoreError) {
        try await ofAccounts.removeUser(app: app, id: id)
    }

    package func register(_ password: PasswordRecord) async throws(StoreError) {
        try await ofAccounts.register(password)
    }

    package func password(app: String, email: String) async throws(StoreError) -> PasswordRecord? {
        try await ofAccounts.password(app: app, email: email)
    }

    package func setPasswordHash(_ hash: String, replacing old: String, app: String, email: String)
        async throws(StoreError)
    {
        try await ofAccounts.setPasswordHash(hash, replacing: old, app: app, email: email)
    }

    package func adopt(_ user: UserRecord, app: String, email: String) async throws(StoreError) -> String {
        try await ofAccounts.adopt(user, app: app, email: email)
    }

    package func insert(_ session: LoginSessionRecord) async throws(StoreError) {
        try await ofAccounts.insert(session)
    }

    package func loginSession(_ id: String) async throws(StoreError) -> LoginSessionRecord? {
        try await ofAccounts.loginSession(id)
    }

    package func hasLoginSession(app: String, user: String, origin: String) async throws(StoreError) -> Bool {
        try await ofAccounts.hasLoginSession(app: app, user: user, origin: origin)
    }

    package func touchLoginSession(_ id: String, at: UInt64) async throws(StoreError) {
        try await ofAccounts.touchLoginSession(id, at: at)
    }

    package func revokeLoginSession(_ id: String) async throws(StoreError) {
        try await ofAccounts.revokeLoginSession(id)
    }

    package func revokeLoginSessions(app: String, user: String?) async throws(StoreError) -> Int {
        try await ofAccounts.revokeLoginSessions(app: app, user: user)
    }

    package func signingKeys(purpose: String, orCreate candidate: SigningKeyRecord) async throws(StoreError)
        -> [SigningKeyRecord]
    {
        try await ofAccounts.signingKeys(purpose: purpose, orCreate: candidate)
    }

    package func signingKeys() async throws(StoreError) -> [SigningKeyRecord] {
        try await ofAccounts.signingKeys()
    }

    package func addSigningKey(_ key: SigningKeyRecord, unlessNewerThan limit: UInt64) async throws(StoreError) -> Bool
    {
        try await ofAccounts.addSigningKey(key, unlessNewerThan: limit)
    }

    package func removeSigningKeys(_ ids: [String]) async throws(StoreError) {
        try await ofAccounts.removeSigningKeys(ids)
    }
}

// MARK: - Other ways to log in

extension DividedControlStore {
    package func loginSettings(app: String, provider: String) async throws(StoreError) -> Data? {
        try await ofAccounts.loginSettings(app: app, provider: provider)
    }

    package func loginSettings(app: String) async throws(StoreError) -> [String: Data] {
        try await ofAccounts.loginSettings(app: app)
    }

    package func setLoginSettings(_ settings: Data?, app: String, provider: String) async throws(StoreError) {
        try await ofAccounts.setLoginSettings(settings, app: app, provider: provider)
    }

    package func insert(_ key: APIKeyRecord) async throws(StoreError) {
        try await ofAccounts.insert(key)
    }

    package func apiKeys(app: String, user: String) async throws(StoreError) -> [APIKeyRecord] {
        try await ofAccounts.apiKeys(app: app, user: user)
    }

    package func apiKey(app: String, digest: String) async throws(StoreError) -> APIKeyRecord? {
        try await ofAccounts.apiKey(app: app, digest: digest)
    }

    package func setAPIKeyDisabled(_ disabled: Bool, app: String, user: String, id: String) async throws(StoreError) {
        try await ofAccounts.setAPIKeyDisabled(disabled, app: app, user: user, id: id)
    }

    package func removeAPIKey(app: String, user: String, id: String) async throws(StoreError) {
        try await ofAccounts.removeAPIKey(app: app, user: user, id: id)
    }

    package func adopt(_ user: UserRecord, provider: String, externalID: String, profile: [String: String])
        async throws(StoreError) -> String
    {
        try await ofAccounts.adopt(user, provider: provider, externalID: externalID, profile: profile)
    }

    package func externalIdentities(app: String, user: String) async throws(StoreError) -> [ExternalIdentity] {
        try await ofAccounts.externalIdentities(app: app, user: user)
    }

    package func removeUnseenAnonymousUsers(before: UInt64, after: UserCursor?, limit: Int) async throws(StoreError)
        -> (removed: Int, next: UserCursor?)
    {
        try await ofAccounts.removeUnseenAnonymousUsers(before: before, after: after, limit: limit)
    }

    package func insert(_ token: MailTokenRecord, at now: UInt64) async throws(StoreError) {
        try await ofAccounts.insert(token, at: now)
    }

    package func mailToken(app: String, id: String, at now: UInt64) async throws(StoreError) -> MailTokenRecord? {
        try await ofAccounts.mailToken(app: app, id: id, at: now)
    }

    package func confirm(_ token: MailTokenRecord) async throws(StoreError) -> Bool {
        try await ofAccounts.confirm(token)
    }

    package func resetPassword(_ token: MailTokenRecord, to hash: String) async throws(StoreError) -> Bool {
        try await ofAccounts.resetPassword(token, to: hash)
    }

    package func link(email: String, to user: String, app: String, as identity: UserRecord.Identity)
        async throws(StoreError)
    {
        try await ofAccounts.link(email: email, to: user, app: app, as: identity)
    }

    package func link(
        externalID: String, profile: [String: String], to user: String, app: String, as identity: UserRecord.Identity
    ) async throws(StoreError) {
        try await ofAccounts.link(externalID: externalID, profile: profile, to: user, app: app, as: identity)
    }
}

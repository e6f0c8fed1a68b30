import GRDB
import Storage

extension SQLiteAccountStore {
    func link(
        email: String, to user: String, app: String, as identity: UserRecord.Identity
    ) async throws(StoreError) {
        try await write("the user's identities") { db in
            guard let registered = try Self.password(app: app, email: email, db) else {
                throw StoreError(.notFound, "the address is not registered")
            }
            guard registered.userID != user else { return }
            guard registered.userID == nil else { throw StoreError.linkedElsewhere }
            try Self.link(identity, email: registered.registeredEmail, to: user, app: app, db)
            try db.run("UPDATE passwords SET user = ? WHERE app = ? AND email = ?", user, app, email)
        }
    }

    func link(
        externalID: String, profile: [String: String], to user: String, app: String, as identity: UserRecord.Identity
    ) async throws(StoreError) {
        try await write("the user's identities") { db in
            let known = try String.fetchOne(
                db, sql: "SELECT user FROM external_identities WHERE app = ? AND provider = ? AND external_id = ?",
                arguments: [app, identity.provider, externalID])
            guard known ?? user == user else { throw StoreError.linkedElsewhere }
            if known == nil { try Self.link(identity, email: nil, to: user, app: app, db) }
            try db.run(
                """
                INSERT OR REPLACE INTO external_identities (app, provider, external_id, user, profile)
                VALUES (?, ?, ?, ?, ?)
                """, app, identity.provider, externalID, user,
                try ExternalIdentity.storedText(ofProfile: profile))
        }
    }

    private static func link(
        _ identity: UserRecord.Identity, email: String?, to id: String, app: String, _ db: Database
    ) throws {
        guard var user = try Self.user(app: app, id: id, db) else {
            throw StoreError(.notFound, "there is no user \(id) of app \(app)")
        }
        user.link(identity, email: email)
        try db.run(
            "UPDATE users SET identities = ?, email = ? WHERE app = ? AND id = ?",
            try UserRecord.Identity.storedText(user.identities),
            user.email, app, id)
        try usersChanged(app: app, user: id, db)
    }
}

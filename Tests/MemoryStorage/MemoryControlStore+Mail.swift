package import Storage

extension MemoryControlStore {
    package func insert(_ token: MailTokenRecord, at now: UInt64) async throws(StoreError) {
        try change { content in
            content.mailTokens.removeAll { $0.expiresAt <= now }
            content.mailTokens.append(token)
            let same = content.mailTokens.filter {
                $0.app == token.app && $0.email == token.email && $0.purpose == token.purpose
            }.sorted { ($0.expiresAt, $0.id) > ($1.expiresAt, $1.id) }
            let old = same.dropFirst(MailTokenRecord.most).map(\.id)
            content.mailTokens.removeAll { old.contains($0.id) }
        }
    }

    package func mailToken(app: String, id: String, at now: UInt64) async throws(StoreError) -> MailTokenRecord? {
        content.mailTokens.first { $0.app == app && $0.id == id && $0.expiresAt > now }
    }

    package func confirm(_ token: MailTokenRecord) async throws(StoreError) -> Bool {
        try change { content in
            guard content.mailTokens.contains(token) else { return false }
            content.mailTokens.removeAll { $0.app == token.app && $0.email == token.email }
            guard var password = content.passwords[[token.app, token.email]], password.pending != nil else {
                return false
            }
            password.passwordHash = token.passwordHash ?? password.passwordHash
            password.pending = nil
            content.passwords[[token.app, token.email]] = password
            return true
        }
    }

    package func resetPassword(_ token: MailTokenRecord, to hash: String) async throws(StoreError) -> Bool {
        try change { content in
            guard content.mailTokens.contains(token), var password = content.passwords[[token.app, token.email]] else {
                return false
            }
            content.mailTokens.removeAll { $0.app == token.app && $0.email == token.email }
            password.passwordHash = hash
            password.pending = nil
            content.passwords[[token.app, token.email]] = password
            for session in content.sessions.values where session.app == token.app && session.userID == password.userID {
                content.sessions[session.id]?.isRevoked = true
            }
            if let user = password.userID { content.changedUsers(of: token.app, user) }
            return true
        }
    }
}

package import Storage

extension MemoryControlStore {
    package func link(
        email: String, to user: String, app: String, as identity: UserRecord.Identity
    ) async throws(StoreError) {
        try change { content in
            let registered = try content.registered(app, email)
            guard registered.userID != user else { return }
            guard registered.userID == nil else { throw StoreError.linkedElsewhere }
            try content.changeUser(app, user) { $0?.link(identity, email: registered.registeredEmail) }
            content.passwords[[app, email]]?.userID = user
        }
    }

    package func link(
        externalID: String, profile: [String: String], to user: String, app: String, as identity: UserRecord.Identity
    ) async throws(StoreError) {
        try change { content in
            let known = content.externalIdentities.firstIndex {
                $0.app == app && $0.provider == identity.provider && $0.externalID == externalID
                    && content.users[[app, $0.userID]] != nil
            }
            if let known {
                guard content.externalIdentities[known].userID == user else { throw StoreError.linkedElsewhere }
                content.externalIdentities[known].profile = profile
                return
            }
            try content.changeUser(app, user) { $0?.link(identity, email: nil) }
            content.externalIdentities.append(
                ExternalIdentity(
                    app: app, provider: identity.provider, externalID: externalID, userID: user, profile: profile))
        }
    }
}

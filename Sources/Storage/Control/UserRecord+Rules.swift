package import Rules
import SyncModel

extension RuleUser {
    /// The user as rules see it. The address is in lower case: nobody is another one to them for spelling it in another way. Custom
    /// data that cannot be read leaves what looks at it unknown, hence denied.
    ///
    /// - Parameter kind: a program is the user whose API key it has, and is told by how it has logged in.
    package init(_ user: UserRecord, kind: Kind = .normal) {
        var data: [String: RuleValue] = [:]
        if let email = user.email { data["email"] = .string(email.lowercased()) }
        let custom = user.customData.flatMap { try? JSONParser.parse($0) }?.objectValue
        self.init(
            id: user.id, kind: kind, data: data, customData: (custom ?? [:]).mapValues { RuleValue($0) },
            identities: user.identities.map { identity in
                RuleUser.Identity(
                    id: identity.id, providerType: identity.provider,
                    data: identity.provider == "local-userpass" ? data : [:])
            })
        isCustomDataKnown = user.customData == nil || custom != nil
    }
}

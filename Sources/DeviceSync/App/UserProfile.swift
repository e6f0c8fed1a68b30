internal import SyncModel

/// One way in which a user can log in.
public struct UserIdentity: Hashable, Sendable {
    /// The provider, such as `local-userpass`.
    public let providerType: String
    /// The user's identifier with that provider.
    public let identifier: String
}

/// The server's data about a user, as of the last login.
public struct UserProfile: Sendable {
    /// The whole profile.
    public let metadata: Document

    /// The name.
    public var name: String? { string("name") }
    /// The email address.
    public var email: String? { string("email") }
    /// The address of a picture.
    public var pictureURL: String? { string("picture_url") }
    /// The first name.
    public var firstName: String? { string("first_name") }
    /// The last name.
    public var lastName: String? { string("last_name") }
    /// The gender.
    public var gender: String? { string("gender") }
    /// The birthday.
    public var birthday: String? { string("birthday") }
    /// The age that the user has at least.
    public var minAge: String? { string("min_age") }
    /// The age that the user has at most.
    public var maxAge: String? { string("max_age") }

    private func string(_ key: String) -> String? { metadata[key]??.stringValue }
}

/// The cached form of identities and profile.
struct UserProfileRecord: Sendable, Equatable {
    var identities: [UserIdentity] = []
    var data: [String: JSONValue] = [:]

    init() {}

    init?(_ json: JSONValue) {
        guard let members = json.objectValue, let list = members["identities"]?.arrayValue,
            let data = members["data"]?.objectValue
        else { return nil }
        for item in list {
            guard let identity = item.objectValue, let id = identity["id"]?.stringValue,
                let type = identity["provider_type"]?.stringValue
            else { return nil }
            identities.append(UserIdentity(providerType: type, identifier: id))
        }
        self.data = data
    }

    var json: JSONValue {
        .object([
            "identities": .array(
                identities.map {
                    .object(["id": .string($0.identifier), "provider_type": .string($0.providerType)])
                }), "data": .object(data),
        ])
    }

    var isAnonymous: Bool { identities.count == 1 && identities[0].providerType == "anon-user" }
}

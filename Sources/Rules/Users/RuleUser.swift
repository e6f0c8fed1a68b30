/// A user as rules see it: what the account's record says now, not what a token said when it was issued.
package struct RuleUser: Sendable, Equatable {
    package enum Kind: String, Sendable {
        /// Somebody who logged in.
        case normal
        /// A program that has logged in with a user's API key.
        case server
    }

    package struct Identity: Sendable, Equatable {
        package var id: String
        package var providerType: String
        package var data: [String: RuleValue]

        package init(id: String, providerType: String, data: [String: RuleValue] = [:]) {
            self.id = id
            self.providerType = providerType
            self.data = data
        }
    }

    package var id: String
    package var kind: Kind
    /// The data that the providers have of the user, of all linked identities together.
    package var data: [String: RuleValue]
    /// The data that operators have stored for the user; empty for none.
    package var customData: [String: RuleValue]
    /// False where what operators have stored cannot be read: nobody knows then what the user has or lacks.
    package var isCustomDataKnown = true
    package var identities: [Identity]

    package init(
        id: String, kind: Kind = .normal, data: [String: RuleValue] = [:], customData: [String: RuleValue] = [:],
        identities: [Identity] = []
    ) {
        self.id = id
        self.kind = kind
        self.data = data
        self.customData = customData
        self.identities = identities
    }

    /// What `%%user` with a path resolves to.
    func value(at path: [String]) -> RuleValue? {
        guard let first = path.first else { return nil }
        let rest = path.dropFirst()
        return switch first {
        case "id": rest.isEmpty ? .string(id) : nil
        case "type": rest.isEmpty ? .string(kind.rawValue) : nil
        case "data": RuleValue.object(data).value(at: rest)
        case "custom_data": RuleValue.object(customData).value(at: rest)
        case "identities": RuleValue.array(identities.map(\.value)).value(at: rest)
        default: nil
        }
    }
}

extension RuleUser.Identity {
    fileprivate var value: RuleValue {
        .object([
            "id": .string(id), "provider_type": .string(providerType), "providerType": .string(providerType),
            "data": .object(data),
        ])
    }
}

extension RuleValue {
    /// What a path leads to: into an object by a member's name, into a list by an index, or by a name to that member of all its
    /// elements, null for one that lacks it. Nil if it leads nowhere.
    func value(at path: ArraySlice<String>) -> RuleValue? {
        guard let first = path.first else { return self }
        switch self {
        case .object(let members): return members[first]?.value(at: path.dropFirst())
        case .array(let elements):
            if let index = Int(first) {
                return elements.indices.contains(index) ? elements[index].value(at: path.dropFirst()) : nil
            }
            var found: [RuleValue] = []
            var leads = false
            for element in elements {
                if let value = element.value(at: path) {
                    leads = true
                    found.append(value)
                    // As MongoDB looks into lists within lists on a path.
                    found += value.elements ?? []
                } else if case .object = element {
                    found.append(.null)
                }
            }
            return leads ? .array(found) : nil
        default: return nil
        }
    }
}

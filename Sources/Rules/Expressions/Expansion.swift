/// A word that stands for something known when a rule is evaluated: `%%user.id`, `%%partition`, `%%values.limit`.
enum Expansion: Hashable, Sendable {
    case constant(Bool)
    case partition
    case user([String])
    case values([String])
    case environment([String])

    /// What a word that begins with `%%` says.
    enum Reading {
        case expansion(Expansion)
        /// A word of the language that has no place in rules for sync.
        case forbidden(String)
        case unknown
    }

    static let userMembers = ["id", "type", "data", "custom_data", "identities"]

    static func read(_ word: String) -> Reading {
        let path = word.dropFirst(2).split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let first = path.first, path.allSatisfy({ !$0.isEmpty }) else { return .unknown }
        let rest = Array(path.dropFirst())
        switch first {
        case "true" where rest.isEmpty: return .expansion(.constant(true))
        case "false" where rest.isEmpty: return .expansion(.constant(false))
        case "partition" where rest.isEmpty: return .expansion(.partition)
        case "user":
            guard let member = rest.first, userMembers.contains(member) else { return .unknown }
            return .expansion(.user(rest))
        case "values": return rest.isEmpty ? .unknown : .expansion(.values(rest))
        case "environment":
            let isKnown = rest == ["tag"] || (rest.first == "values" && rest.count > 1)
            return isKnown ? .expansion(.environment(rest)) : .unknown
        case "request", "root", "prevRoot", "this", "prev": return .forbidden("%%\(first)")
        default: return .unknown
        }
    }

    /// Nil if it is unset.
    func value(in scope: RuleScope) -> RuleValue? {
        switch self {
        case .constant(let value): .bool(value)
        case .partition: scope.partition
        case .user(let path): scope.user.value(at: path)
        case .values(let path): RuleValue.object(scope.constants.values).value(at: path[...])
        case .environment(let path):
            path == ["tag"]
                ? .string(scope.constants.environmentTag)
                : RuleValue.object(scope.constants.environmentValues).value(at: path.dropFirst())
        }
    }
}

/// The constants of a rules document, for its rules to refer to.
package struct RuleConstants: Sendable, Equatable {
    /// `%%values`.
    package var values: [String: RuleValue] = [:]
    /// `%%environment.tag`.
    package var environmentTag = ""
    /// `%%environment.values`.
    package var environmentValues: [String: RuleValue] = [:]

    package init() {}
}

/// The values that a rule is evaluated with.
package struct RuleScope: Sendable {
    package var user: RuleUser
    /// The partition in question; nil outside partition rules.
    package var partition: RuleValue?
    package var constants: RuleConstants
    /// The object in question: its value of a property, nil if it has none of that name.
    package var property: @Sendable (String) -> RuleValue?

    package init(
        user: RuleUser, partition: RuleValue? = nil, constants: RuleConstants = RuleConstants(),
        property: @escaping @Sendable (String) -> RuleValue? = { _ in nil }
    ) {
        self.user = user
        self.partition = partition
        self.constants = constants
        self.property = property
    }
}

package import Rules
package import SyncModel

/// The body that puts rules in force.
package struct RulesRequest: AdminBody, Equatable {
    package static let keys: Set<String> = ["replaces", "rules"]

    /// The version that these rules replace; 0 where the app has none.
    package var replaces: UInt64
    /// A document, or the name of a template.
    package var rules: JSONValue

    package init(replaces: UInt64, rules: JSONValue) {
        self.replaces = replaces
        self.rules = rules
    }
}

/// The body of a check.
package struct RulesCheckRequest: AdminBody, Equatable {
    package static let keys: Set<String> = ["rules"]

    package var rules: JSONValue

    package init(rules: JSONValue) { self.rules = rules }
}

/// One version of an app's rules.
package struct RulesAnswer: Codable, Sendable, Equatable {
    package var app: String
    /// 0 if the app has no rules.
    package var version: UInt64
    /// What they say for partition sync, in a sentence.
    package var summary: String
    /// Who set them, and when (milliseconds of Unix time).
    package var author: String?
    package var at: UInt64?
    /// The document, with nothing left to expand; absent if there is none.
    package var rules: JSONValue?
    /// What a check of them warns of; only where they were just set.
    package var findings: [RulesFinding]?

    package init(
        app: String, version: UInt64, summary: String, author: String? = nil, at: UInt64? = nil,
        rules: JSONValue? = nil, findings: [RulesFinding]? = nil
    ) {
        self.app = app
        self.version = version
        self.summary = summary
        self.author = author
        self.at = at
        self.rules = rules
        self.findings = findings
    }
}

/// A page of the versions of an app's rules, newest first.
package struct RulesVersionList: Codable, Sendable, Equatable {
    package struct Version: Codable, Sendable, Equatable {
        package var version: UInt64
        package var author: String
        /// Milliseconds of Unix time.
        package var at: UInt64
        /// Of the document.
        package var bytes: Int

        package init(version: UInt64, author: String, at: UInt64, bytes: Int) {
            self.version = version
            self.author = author
            self.at = at
            self.bytes = bytes
        }
    }

    package var versions: [Version]
    /// The `after` of the following page; absent at the end.
    package var next: String?

    package init(versions: [Version], next: String?) {
        self.versions = versions
        self.next = next
    }
}

/// What a check of rules says.
package struct RulesCheckAnswer: Codable, Sendable, Equatable {
    /// Whether the rules could be put in force.
    package var valid: Bool
    package var findings: [RulesFinding]
    /// What they would say for partition sync, and the document with nothing left to expand; absent if they are not valid.
    package var summary: String?
    package var rules: JSONValue?

    package init(_ check: RulesCheck) {
        valid = check.document != nil
        findings = check.findings
        summary = check.document?.summary
        rules = check.document?.source
    }
}

/// What an app's rules say of one user.
package struct RulesExplanation: Codable, Sendable, Equatable {
    package var app: String
    package var version: UInt64
    package var user: String
    /// Nobody may do anything with a disabled account, whatever the rules say.
    package var isDisabled: Bool
    package var summary: String
    package var partition: PartitionExplanation?
    package var role: RoleExplanation?

    package init(
        app: String, version: UInt64, user: String, isDisabled: Bool, summary: String,
        partition: PartitionExplanation?, role: RoleExplanation?
    ) {
        self.app = app
        self.version = version
        self.user = user
        self.isDisabled = isDisabled
        self.summary = summary
        self.partition = partition
        self.role = role
    }
}

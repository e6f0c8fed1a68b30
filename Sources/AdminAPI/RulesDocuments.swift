package import Rules
package import Storage
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
    /// A sentence for what they say for the sync mode that the app has.
    package var summary: String
    /// The name under which the rules were set, and when (milliseconds of Unix time).
    package var author: String?
    package var at: UInt64?
    /// The document, with nothing left to expand; absent if there is none.
    package var rules: JSONValue?
    /// The warnings of a check of them; only where they were just set.
    package var findings: [RulesFinding]?

    /// Makes the answer for an app without rules.
    package init(app: String) {
        self.app = app
        version = 0
        summary = RulesDocument.summaryOfNone
    }

    package init(_ record: RulesRecord, _ document: RulesDocument, summary: String) {
        app = record.app
        version = record.version
        self.summary = summary
        author = record.author
        at = record.at
        rules = document.source
    }
}

/// A page of the versions of an app's rules, newest first.
package struct RulesVersionList: Codable, Sendable, Equatable {
    package struct Version: Codable, Sendable, Equatable {
        package var version: UInt64
        package var author: String
        /// Milliseconds of Unix time.
        package var at: UInt64
        /// The length of the document.
        package var bytes: Int

        package init(_ heading: RulesHeading) {
            version = heading.version
            author = heading.author
            at = heading.at
            bytes = heading.bytes
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

/// The outcome of a check of rules.
package struct RulesCheckAnswer: Codable, Sendable, Equatable {
    /// Whether the rules could be put in force.
    package var valid: Bool
    package var findings: [RulesFinding]
    /// A sentence for what they would say for the sync mode that the app has, and the document with nothing left to expand; absent if they are not
    /// valid.
    package var summary: String?
    package var rules: JSONValue?

    package init(_ check: RulesCheck, summary: String?) {
        valid = check.document != nil
        findings = check.findings
        self.summary = summary
        rules = check.document?.source
    }
}

/// An explanation of what an app's rules say of one user.
package struct RulesExplanation: Codable, Sendable, Equatable {
    package var app: String
    package var version: UInt64
    package var user: String
    /// Nobody may do anything with a disabled account, whatever the rules say.
    package var isDisabled: Bool
    package var summary: String
    package var partition: PartitionExplanation?
    package var role: RoleExplanation?

    /// - Parameters:
    ///   - rules: those in force; nil where the app has none.
    ///   - partition: a word, or extended JSON.
    package init(
        _ user: UserRecord, of app: AppRecord, by rules: RulesDocument?, partition: String?, className: String?
    ) {
        let seen = RuleUser(user)
        self.app = app.id
        version = app.rulesVersion
        self.user = user.id
        isDisabled = user.isDisabled
        summary = rules?.summary(for: app.syncMode) ?? RulesDocument.summaryOfNone
        self.partition = partition.flatMap {
            rules?.explainPartition(RealmName.partition(fromText: $0), for: seen)
        }
        role = className.flatMap { rules?.explainRole(ofClass: $0, for: seen) }
    }
}

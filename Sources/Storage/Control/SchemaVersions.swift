package import SyncModel

/// The schema versions of an app that were deployed, and the one that is prepared.
package struct SchemaVersions: Codable, Sendable, Equatable {
    /// The most versions of an app.
    package static let most = 100
    /// The most that all of them may take as they are stored.
    package static let maxBytes = 256 << 10

    /// The deployed versions in the order of their numbers, without gaps. The first is the schema as it was before
    /// there were any others.
    package var versions: [SchemaVersion]
    package var draft: SchemaDraft?

    package init(versions: [SchemaVersion] = [], draft: SchemaDraft? = nil) {
        self.versions = versions
        self.draft = draft
    }
}

/// A change of an app's schema that was staged, and not deployed yet.
package struct SchemaDraft: Codable, Sendable, Equatable {
    /// What the schema becomes; of the newest version's number where nothing breaks.
    package var version: SchemaVersion
    /// The number of the version that was the newest when the draft was staged: a draft is for one schema.
    package var basis: UInt64
    /// What is new in the realm's schema, by its names.
    package var added: [SchemaElement]
    /// The changes, a sentence each.
    package var changes: [String]
    package var isBreaking: Bool { version.number != basis }

    package init(version: SchemaVersion, basis: UInt64, added: [SchemaElement], changes: [String]) {
        self.version = version
        self.basis = basis
        self.added = added
        self.changes = changes
    }
}

extension AppRecord {
    /// The schema that clients see whose copies were made with a schema version; nil: the realm's schema as it is.
    ///
    /// - Parameter number: nil from a client that cannot name one.
    package func schemaVersion(_ number: UInt64?) -> SchemaVersion? {
        schemas?.versions.last { $0.number <= number ?? 0 }
    }
}

package import Storage
package import SyncModel

/// An app's schema versions, and the change that is prepared.
package struct SchemaVersionList: Codable, Sendable, Equatable {
    package struct Entry: Codable, Sendable, Equatable {
        package var version: UInt64
        /// Clients may name it.
        package var isServed: Bool

        package init(version: UInt64, isServed: Bool) {
            self.version = version
            self.isServed = isServed
        }
    }

    /// Ascending. None: nobody looks at clients' schema versions.
    package var versions: [Entry]
    package var draft: SchemaDraftDocument?

    package init(versions: [Entry], draft: SchemaDraftDocument?) {
        self.versions = versions
        self.draft = draft
    }
}

/// A change of an app's schema that is staged.
package struct SchemaDraftDocument: Codable, Sendable, Equatable {
    /// The version that it makes; absent: nothing breaks, and no other version is needed.
    package var version: UInt64?
    /// A sentence each.
    package var changes: [String]

    package init(_ draft: SchemaDraft) {
        version = draft.isBreaking ? draft.version.number : nil
        changes = draft.changes
    }
}

/// The body that stages the schema that an app is to have.
package struct SchemaDraftRequest: AdminBody, Equatable {
    package static let keys: Set<String> = ["classes"]

    package var classes: [SchemaDocument.Class]

    package init(classes: [SchemaDocument.Class]) { self.classes = classes }

    /// A class before its properties.
    package var elements: [SchemaElement] {
        classes.flatMap { one in
            [SchemaElement(className: one.name, type: one.type)]
                + one.properties.map { SchemaElement(className: one.name, property: $0.name, type: $0.type) }
        }
    }
}

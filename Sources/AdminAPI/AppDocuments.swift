package import Storage
package import SyncModel

/// An app and its settings.
package struct AppDocument: Codable, Sendable, Equatable {
    package var id: String
    /// `partition` or `flexible`.
    package var syncMode: String
    /// `enabled`, `paused` or `terminated`.
    package var syncState: String
    /// The clients that may sync: `stockClients` or `convergent`. Absent from a coordinator that does not know it yet.
    package var compatibility: String?
    package var developmentMode: Bool
    package var clientRecovery: Bool
    package var maxOfflineDays: Int
    /// The sync generation; grows with every termination.
    package var generation: UInt64
    package var anonymousLogin: Bool
    package var emailPasswordLogin: Bool
    /// `keep` or `delete`, and `discard` or `error`: what becomes of the copy of a client that may not read, or has written what it
    /// may not. Absent from a coordinator that knows no rules, like the version of the rules in force (0: there are none).
    package var onReadDenied: String?
    package var onWriteDenied: String?
    package var rulesVersion: UInt64?
    /// The schema versions that clients of an app in flexible mode may name, such as `1-3`; absent where nobody looks
    /// at them.
    package var schemaVersions: String?
    /// `off`, `keys` or `documents`: what is told of the app's changes. Absent from a coordinator that knows no feeds.
    package var changeFeed: String?
    /// The app's own quotas, by name; absent where it has none.
    package var quotas: [String: Int]?
    /// Milliseconds of Unix time.
    package var createdAt: UInt64
    /// How many users the app has; only where one app is asked for.
    package var users: Int?
    /// A sentence for what the rules say, and where they say it of every user, who can become one; only of an app that is asked for or
    /// was just made.
    package var access: String?
    /// The app's traffic at the gateways; absent where they do not tell of it.
    package var traffic: AppTrafficDocument?

    package init(_ app: AppRecord, compatibility: String, users: Int?, access: String?) {
        id = app.id
        syncMode = app.syncMode.rawValue
        syncState = app.syncState.rawValue
        self.compatibility = compatibility
        developmentMode = app.developmentMode
        clientRecovery = app.clientRecovery
        maxOfflineDays = app.maxOfflineDays
        generation = app.generation
        anonymousLogin = app.anonymousLogin
        emailPasswordLogin = app.emailPasswordLogin
        onReadDenied = app.onReadDenied.rawValue
        onWriteDenied = app.onWriteDenied.rawValue
        rulesVersion = app.rulesVersion
        schemaVersions = app.clientSchemas?.description
        changeFeed = app.changeFeed.mode.rawValue
        quotas = app.quotas.isEmpty ? nil : app.quotas.named
        createdAt = app.createdAt
        self.users = users
        self.access = access
    }
}

/// An app's quotas: what each allows, by what, and how much of it is used.
/// Sessions of an app at all gateways, and what they sent and got a second between the gateways' last two reports.
package struct AppTrafficDocument: Codable, Sendable, Equatable {
    package var sessions = 0
    /// Changesets that clients upload, and their bytes.
    package var changesetsPerSecond = 0.0
    package var uploadBytesPerSecond = 0.0
    /// Bytes to clients.
    package var downloadBytesPerSecond = 0.0

    package init() {}
}

package struct QuotaList: Codable, Sendable, Equatable {
    package struct Entry: Codable, Sendable, Equatable {
        package var quota: String
        package var limit: Int
        /// `app`: the app's own value; `settings`: as the coordinator's settings have it; `default`.
        package var from: String
        /// The things that are counted, such as `realms in one slice`.
        package var counts: String
        /// The most that one slice has; absent where nobody counts, or the coordinator cannot read the slices' stores.
        package var used: Int?

        package init(_ quota: Quota, of app: AppRecord, by settings: QuotaValues, used: Int?) {
            self.quota = quota.rawValue
            limit = app.limit(of: quota, by: settings)
            from = app.quotas[quota] != nil ? "app" : settings[quota] != nil ? "settings" : "default"
            counts = quota.unit
            self.used = used
        }
    }

    package var quotas: [Entry]

    package init(quotas: [Entry]) { self.quotas = quotas }
}

/// All apps, by id.
package struct AppList: Codable, Sendable, Equatable {
    package var apps: [AppDocument]

    package init(apps: [AppDocument]) { self.apps = apps }
}

/// The body that creates an app, or changes its settings: what is left out stays, or has its default.
package struct AppRequest: AdminBody, Equatable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, syncMode, compatibility, developmentMode, clientRecovery, maxOfflineDays, anonymousLogin
        case emailPasswordLogin, onReadDenied, onWriteDenied, schemaVersions, changeFeed, quotas, rules
    }

    package static let keys = Set(CodingKeys.allCases.map(\.rawValue))
    package static let shownKeys = keys
    /// The keys of a change; the others are fixed at the creation. `compatibility` may be given if it is the app's.
    package static let changeableKeys = keys.subtracting(["id", "syncMode", "rules"])

    package var id: String?
    package var syncMode: String?
    package var compatibility: String?
    package var developmentMode: Bool?
    package var clientRecovery: Bool?
    package var maxOfflineDays: Int?
    package var anonymousLogin: Bool?
    package var emailPasswordLogin: Bool?
    package var onReadDenied: String?
    package var onWriteDenied: String?
    /// The schema versions that clients of an app in flexible mode may name: `1-3`, `3`, or `any`.
    package var schemaVersions: String?
    /// The part of the app's changes that is told: `off`, `keys` or `documents`.
    package var changeFeed: String?
    /// Values of quotas, by name; null: the app has no value of its own any more.
    package var quotas: [String: Int?]?
    /// The first rules of a new app, a document or the name of a template. Without them nobody may read or write.
    package var rules: JSONValue?

    package init(
        id: String? = nil, syncMode: String? = nil, compatibility: String? = nil, developmentMode: Bool? = nil,
        clientRecovery: Bool? = nil, maxOfflineDays: Int? = nil, anonymousLogin: Bool? = nil,
        emailPasswordLogin: Bool? = nil, onReadDenied: String? = nil, onWriteDenied: String? = nil,
        schemaVersions: String? = nil, changeFeed: String? = nil, quotas: [String: Int?]? = nil, rules: JSONValue? = nil
    ) {
        self.id = id
        self.syncMode = syncMode
        self.compatibility = compatibility
        self.developmentMode = developmentMode
        self.clientRecovery = clientRecovery
        self.maxOfflineDays = maxOfflineDays
        self.anonymousLogin = anonymousLogin
        self.emailPasswordLogin = emailPasswordLogin
        self.onReadDenied = onReadDenied
        self.onWriteDenied = onWriteDenied
        self.schemaVersions = schemaVersions
        self.changeFeed = changeFeed
        self.quotas = quotas
        self.rules = rules
    }
}

/// The classes and properties that an app's clients have declared, in the order of their names.
package struct SchemaDocument: Codable, Sendable, Equatable {
    package struct Class: Codable, Sendable, Equatable {
        package var name: String
        /// The class's kind and primary key, such as `object(_id: int)`; empty if the class is older than the app's
        /// schema.
        package var type: String
        package var properties: [Property] = []
    }

    package struct Property: Codable, Sendable, Equatable {
        package var name: String
        /// Such as `string?` or `list<link Dog>`.
        package var type: String
    }

    package var classes: [Class] = []

    /// - Parameter elements: by class, each before its properties.
    package init(_ elements: [SchemaElement]) {
        for element in elements {
            if let property = element.property {
                // A class that its realms had before the app knew of any has no entry of its own.
                if classes.last?.name != element.className { classes.append(Class(name: element.className, type: "")) }
                classes[classes.count - 1].properties.append(Property(name: property, type: element.type))
            } else {
                classes.append(Class(name: element.className, type: element.type))
            }
        }
    }
}

/// The body that takes unused classes and properties back.
package struct PruneRequest: AdminBody, Equatable {
    package static let keys: Set<String> = ["dryRun", "declared"]
    package static let shownKeys = keys

    /// Only says what would go.
    package var dryRun: Bool?
    /// Whether what some realm declares and no object uses goes, too, with development mode off.
    package var declared: Bool?

    package init(dryRun: Bool? = nil, declared: Bool? = nil) {
        self.dryRun = dryRun
        self.declared = declared
    }
}

/// The part of an app's schema that was taken back, or would be.
package struct PruneDocument: Codable, Sendable, Equatable {
    package var pruned: SchemaDocument
    /// Classes and properties that went, and that stay.
    package var count: Int
    package var kept: Int
    package var dryRun: Bool

    package init(pruned: SchemaDocument, count: Int, kept: Int, dryRun: Bool) {
        self.pruned = pruned
        self.count = count
        self.kept = kept
        self.dryRun = dryRun
    }
}

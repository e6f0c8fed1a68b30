package import Storage
import SyncModel

/// The body that moves an app to the other sync mode.
package struct MigrationRequest: AdminBody, Equatable {
    package static let keys: Set<String> = ["to", "field", "keepRoles", "confirm", "dryRun"]
    package static let shownKeys = keys

    /// `flexible` or `partition`.
    package var to: String
    /// The property that says which partition an object is of; `_partition` if absent, or that of the move before.
    package var field: String?
    /// The app's own roles stay; else they are made from its partition rules.
    package var keepRoles: Bool?
    /// The app's id once more.
    package var confirm: String?
    /// Says only what would be done.
    package var dryRun: Bool?

    package init(
        to: String, field: String? = nil, keepRoles: Bool? = nil, confirm: String? = nil, dryRun: Bool? = nil
    ) {
        self.to = to
        self.field = field
        self.keepRoles = keepRoles
        self.confirm = confirm
        self.dryRun = dryRun
    }
}

/// The plan of a move to the other sync mode: what it would do, and what stands in its way.
package struct MigrationPlan: Codable, Sendable, Equatable {
    package var app: String
    package var to: String
    package var field: String
    /// Realms and objects of the mode that the app has.
    package var realms = 0
    package var objects = 0
    /// Client realms that would reset.
    package var clientRealms = 0
    /// A sentence for what the rules would say.
    package var access: String?
    /// Why the app cannot move; empty if nothing is known that keeps it from it.
    package var problems: [String] = []

    package init(app: String, to: String, field: String) {
        self.app = app
        self.to = to
        self.field = field
    }
}

/// How far a move to the other sync mode is.
package struct MigrationDocument: Codable, Sendable, Equatable {
    package var app: String
    /// Also the campaign's.
    package var id: String
    package var to: String
    package var field: String
    /// `freezing`, `clearing`, `copying`, `settling`, `done` or `abandoned`.
    package var phase: String
    /// The realms that were copied so far.
    package var realms: Int
    package var objects: Int
    /// Milliseconds of Unix time.
    package var startedAt: UInt64
    package var phaseAt: UInt64
    package var finishedAt: UInt64?
    /// Why the app has stayed as it was.
    package var problem: String?

    package init(_ migration: ModeMigration, of app: String) {
        self.app = app
        id = migration.id
        to = migration.target.rawValue
        field = migration.field
        phase = migration.phase.rawValue
        realms = migration.realms
        objects = migration.objects
        startedAt = migration.startedAt
        phaseAt = migration.phaseAt
        finishedAt = migration.finishedAt
        problem = migration.problem
    }
}

package import SyncModel

/// The work that keeps a slice busy, and what its owner has refused since it took the slice; part of a worker's heartbeats.
package struct SliceActivity: Codable, Sendable, Equatable {
    /// Changesets integrated into a realm in the last minutes.
    package struct BusyRealm: Codable, Sendable, Equatable {
        package var realm: RealmName
        package var changesets: Int

        package init(realm: RealmName, changesets: Int) {
            self.realm = realm
            self.changesets = changesets
        }
    }

    /// Changesets integrated into an app's realms in the last minutes.
    package struct BusyApp: Codable, Sendable, Equatable {
        package var app: String
        package var changesets: Int

        package init(app: String, changesets: Int) {
            self.app = app
            self.changesets = changesets
        }
    }

    /// How often an app's clients were refused something.
    package struct Refusals: Codable, Sendable, Equatable {
        package var app: String
        /// Uploads whose merge would have gone beyond its budget.
        package var merges: UInt64
        /// The requests that went beyond a quota.
        package var quotas: UInt64

        package init(app: String, merges: UInt64 = 0, quotas: UInt64 = 0) {
            self.app = app
            self.merges = merges
            self.quotas = quotas
        }
    }

    package var slice: SliceNumber
    /// The busiest first.
    package var realms: [BusyRealm]
    package var apps: [BusyApp]
    package var refusals: [Refusals]

    package init(slice: SliceNumber, realms: [BusyRealm] = [], apps: [BusyApp] = [], refusals: [Refusals] = []) {
        self.slice = slice
        self.realms = realms
        self.apps = apps
        self.refusals = refusals
    }
}

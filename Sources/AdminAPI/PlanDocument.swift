package import Storage
package import SyncModel

/// The plan of a termination, a dry run: what it would do now.
package struct PlanDocument: Codable, Sendable, Equatable {
    /// The client realms last seen within a time, and not within a shorter one that is listed.
    package struct Age: Codable, Sendable, Equatable {
        /// Seconds; absent for those seen longer ago.
        package var within: UInt64?
        package var clientRealms = 0
        package var writers = 0
    }

    package struct Platform: Codable, Sendable, Equatable {
        /// The first word of the user agent: the SDK's name and version.
        package var platform: String
        package var clientRealms: Int

        package init(platform: String, clientRealms: Int) {
            self.platform = platform
            self.clientRealms = clientRealms
        }
    }

    package struct ClientRealm: Codable, Sendable, Equatable {
        package var partition: String
        package var slice: SliceNumber
        package var clientFile: FileIdent
        package var user: String
        package var platform: String
        package var lastSeen: UInt64
        package var hasUploaded: Bool
        /// Server versions.
        package var behind: UInt64

        package init(_ file: ClientFileRecord, of realm: RealmRecord, slice: SliceNumber, platform: String) {
            let latest = realm.latest.version
            partition = realm.name.partition
            self.slice = slice
            clientFile = file.ident
            user = file.user
            self.platform = platform
            lastSeen = file.lastSeen
            hasUploaded = file.upload.clientVersion > 0
            behind = latest > file.seenServerVersion ? latest.rawValue - file.seenServerVersion.rawValue : 0
        }
    }

    /// Messages in the slices' queues, of all apps.
    package struct Waiting: Codable, Sendable, Equatable {
        package var ready = 0
        package var unacknowledged = 0
        /// Slices whose queue or owner could not be asked.
        package var unknownSlices: [SliceNumber] = []

        package init() {}
    }

    package var app: String
    package var syncState: String
    package var clientRecovery: Bool
    package var generation: UInt64
    /// When it was made. Milliseconds of Unix time, as all times.
    package var at: UInt64
    package var realms = 0
    /// Client realms that would reset, beside those that are resetting already.
    package var clientRealms = 0
    /// The client realms among them that have ever uploaded; the others are unlikely to hold anything unsynced.
    package var writers = 0
    /// Client realms that an earlier campaign makes reset; a termination would take them over.
    package var alreadyResetting = 0
    package var lastSeen: [Age]
    package var platforms: [Platform] = []
    package var waiting = Waiting()
    /// Bytes of changesets that gateways have taken from the app's clients and no owner has integrated, as they said in the last
    /// seconds: the unsynced work that is known. What comes behind the termination goes back to its client. Nil from a coordinator of
    /// an earlier version.
    package var unsyncedBytes: UInt64?
    /// Writers not seen for an hour or more: whether they hold unsynced changes, only they know.
    package var offlineWriters = 0
    /// The client realms not seen for longest, writers first.
    package var listed: [ClientRealm] = []

    package init(_ app: AppRecord, at now: UInt64, ages: [UInt64]) {
        self.app = app.id
        syncState = app.syncState.rawValue
        clientRecovery = app.clientRecovery
        generation = app.generation
        at = now
        lastSeen = ages.map { Age(within: $0) } + [Age(within: nil)]
    }
}

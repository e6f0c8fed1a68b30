import Storage
import SyncModel

/// What a termination of an app's sync would do, as far as the server can know. Nothing is changed by asking.
struct TerminationPlan: Sendable, Encodable {
    /// Client realms that were last seen within a time and not within a shorter one listed.
    struct Age: Sendable, Encodable {
        /// In seconds; nil: longer ago than any listed.
        var within: UInt64?
        var clientRealms = 0
        /// Those that have ever uploaded something.
        var writers = 0
    }

    struct Platform: Sendable, Encodable {
        var platform: String
        var clientRealms: Int
    }

    struct ClientRealm: Sendable, Encodable {
        var partition: String
        var slice: Int
        var clientFile: FileIdent
        var user: String
        var platform: String
        var lastSeen: UInt64
        var hasUploaded: Bool
        /// Server versions that it has not been seen to have.
        var behind: UInt64
    }

    /// Messages on their way to the owners, of all apps: those of this one cannot be told apart without taking them. They come
    /// before the termination in their queues, so what they carry is integrated first.
    struct Waiting: Sendable, Encodable {
        var ready = 0
        var unacknowledged = 0
        /// Slices whose queue could not be asked, or that have no owner.
        var unknownSlices: [Int] = []
    }

    static let ages: [UInt64] = [300, 3600, 86_400, 7 * 86_400]
    static let maxPlatforms = 20
    static let other = "other"

    var app: String
    var syncState: AppRecord.SyncState
    var clientRecovery: Bool
    var generation: UInt64
    /// Milliseconds of Unix time.
    var at: UInt64
    var realms = 0
    /// Client realms that would reset.
    var clientRealms = 0
    var writers = 0
    /// Client realms that an earlier campaign has told, or will tell, to reset; a termination would take them over.
    var alreadyResetting = 0
    var lastSeen: [Age]
    var platforms: [Platform] = []
    var waiting = Waiting()
    /// Writers not seen for an hour or more: whether they hold unsynced changes, only they know.
    var offlineWriters = 0
    /// Those not seen for longest, writers first.
    var listed: [ClientRealm] = []

    private var counts: [String: Int] = [:]
    private let limit: Int

    private enum CodingKeys: CodingKey {
        case app, syncState, clientRecovery, generation, at, realms, clientRealms, writers, alreadyResetting, lastSeen
        case platforms, waiting, offlineWriters, listed
    }

    init(app: AppRecord, at now: UInt64, limit: Int) {
        self.app = app.id
        syncState = app.syncState
        clientRecovery = app.clientRecovery
        generation = app.generation
        at = now
        self.limit = limit
        lastSeen = Self.ages.map { Age(within: $0) } + [Age(within: nil)]
    }

    mutating func add(_ file: ClientFileRecord, of realm: RealmRecord, slice: SliceNumber) {
        switch file.state {
        case .live: break
        case .resetRequired:
            alreadyResetting += 1
            return
        case .superseded, .expired: return
        }
        let isWriter = file.upload.clientVersion > 0
        let silent = (at > file.lastSeen ? at - file.lastSeen : 0) / 1000
        let age = Self.ages.firstIndex { silent <= $0 } ?? Self.ages.count
        clientRealms += 1
        lastSeen[age].clientRealms += 1
        if isWriter {
            writers += 1
            lastSeen[age].writers += 1
            if silent > 3600 { offlineWriters += 1 }
        }
        let platform = Self.platform(file.userAgent)
        counts[counts[platform] != nil || counts.count < Self.maxPlatforms ? platform : Self.other, default: 0] += 1
        guard limit > 0 else { return }
        listed.append(
            ClientRealm(
                partition: realm.name.partition, slice: slice.value, clientFile: file.ident, user: file.user,
                platform: platform, lastSeen: file.lastSeen, hasUploaded: isWriter,
                behind: realm.latest.version > file.seenServerVersion
                    ? realm.latest.version.rawValue - file.seenServerVersion.rawValue : 0))
        if listed.count > limit * 2 + 100 { trim() }
    }

    mutating func finish() {
        trim()
        platforms = counts.map { Platform(platform: $0.key, clientRealms: $0.value) }
            .sorted { ($1.clientRealms, $0.platform) < ($0.clientRealms, $1.platform) }
    }

    private mutating func trim() {
        listed.sort {
            if $0.hasUploaded != $1.hasUploaded { return $0.hasUploaded }
            return ($0.lastSeen, $0.clientFile) < ($1.lastSeen, $1.clientFile)
        }
        listed.removeLast(max(0, listed.count - limit))
    }

    /// The SDK's name and version: the first word of the user agent, as far as it is one.
    static func platform(_ userAgent: String) -> String {
        let word = userAgent.prefix { $0 != " " && $0 != "(" && $0 != ";" }
        let isPlain = word.unicodeScalars.allSatisfy { (0x21...0x7e).contains($0.value) }
        return word.isEmpty || !isPlain ? "unknown" : String(word.prefix(60))
    }
}

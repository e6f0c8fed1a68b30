import AdminAPI
import Storage
import SyncModel

/// The effects that a termination of an app's sync would have, as far as the server can know. Nothing is changed by asking.
struct TerminationPlan: Sendable {
    static let ages: [UInt64] = [300, 3600, 86_400, 7 * 86_400]
    static let maxPlatforms = 20
    static let other = "other"

    private var document: PlanDocument
    private var platforms: [String: Int] = [:]
    private let limit: Int

    /// - Parameter limit: how many client realms to list.
    init(app: AppRecord, at now: UInt64, limit: Int) {
        document = PlanDocument(app, at: now, ages: Self.ages)
        self.limit = limit
    }

    mutating func addRealm() { document.realms += 1 }

    mutating func add(_ file: ClientFileRecord, of realm: RealmRecord, slice: SliceNumber) {
        switch file.state {
        case .live: guard file.isInUse else { return }
        case .resetRequired:
            document.alreadyResetting += 1
            return
        case .superseded, .expired: return
        }
        let isWriter = file.upload.clientVersion > 0
        let silent = (document.at > file.lastSeen ? document.at - file.lastSeen : 0) / 1000
        let age = Self.ages.firstIndex { silent <= $0 } ?? Self.ages.count
        document.clientRealms += 1
        document.lastSeen[age].clientRealms += 1
        if isWriter {
            document.writers += 1
            document.lastSeen[age].writers += 1
            if silent > 3600 { document.offlineWriters += 1 }
        }
        let platform = Self.platform(file.userAgent)
        let isListed = platforms[platform] != nil || platforms.count < Self.maxPlatforms
        platforms[isListed ? platform : Self.other, default: 0] += 1
        guard limit > 0 else { return }
        document.listed.append(PlanDocument.ClientRealm(file, of: realm, slice: slice, platform: platform))
        if document.listed.count > limit * 2 + 100 { trim() }
    }

    /// The whole plan.
    /// - Parameters:
    ///   - waiting: messages on their way to the owners, of all apps: those of this one cannot be told apart without
    ///     taking them. They come before the termination in their queues, so what they carry is integrated first.
    ///   - unsynced: bytes of the app's changesets that gateways have and no owner.
    mutating func finished(waiting: PlanDocument.Waiting, unsynced: UInt64) -> PlanDocument {
        trim()
        document.waiting = waiting
        document.unsyncedBytes = unsynced
        document.platforms = platforms.map { PlanDocument.Platform(platform: $0.key, clientRealms: $0.value) }
            .sorted { ($1.clientRealms, $0.platform) < ($0.clientRealms, $1.platform) }
        return document
    }

    private mutating func trim() {
        document.listed.sort {
            if $0.hasUploaded != $1.hasUploaded { return $0.hasUploaded }
            return ($0.lastSeen, $0.clientFile) < ($1.lastSeen, $1.clientFile)
        }
        document.listed.removeLast(max(0, document.listed.count - limit))
    }

    /// The SDK's name and version: the first word of the user agent, as far as it is one.
    static func platform(_ userAgent: String) -> String {
        let word = userAgent.prefix { $0 != " " && $0 != "(" && $0 != ";" }
        let isPlain = word.unicodeScalars.allSatisfy { (0x21...0x7e).contains($0.value) }
        return word.isEmpty || !isPlain ? "unknown" : String(word.prefix(60))
    }
}

import DequeModule
import Messages
import SyncModel

/// Versions of a realm that go on where a session stands.
struct RecentStretch: Sendable {
    var follows: ServerVersion
    var latest: ServerVersion
    var versions: SharedVersions
    /// The bytes of the versions behind these that are at hand.
    var bytesBehind: Int
}

/// The newest versions of one realm, without a gap, as notices have brought them. Pure, but for what the stretches share.
///
/// They are cut into stretches, all of the same size whatever the sizes of the notices: sessions that are behind by different amounts soon
/// stand at the same cut, and from there on are sent the same.
struct RecentTail: Sendable {
    /// The bytes at which a stretch is cut off.
    static let stretchBytes = 128 << 10

    private struct Closed: Sendable {
        var follows: ServerVersion
        var latest: ServerVersion
        var versions: SharedVersions
    }

    let generation: UInt64
    let salt: VersionSalt
    private(set) var latest: ServerVersion
    private var closed: Deque<Closed> = []
    /// The versions after the last cut, and where that is.
    private var open: [HistoryEntry] = []
    private var openFollows: ServerVersion
    private var openBytes = 0
    /// The part of the open versions that was asked for last.
    private var asked: (after: ServerVersion, versions: SharedVersions)?
    /// The bytes of all versions, without their views.
    private(set) var bytes = 0

    /// Begins with a notice; nil if that does not hold its versions.
    init?(_ notice: IntegratedNotice) {
        generation = notice.generation
        salt = notice.latest.salt
        latest = notice.follows
        openFollows = notice.follows
        guard append(notice) else { return nil }
    }

    /// Takes in the versions of a notice that follows the last one.
    ///
    /// - Returns: false if there would be a gap.
    mutating func append(_ notice: IntegratedNotice) -> Bool {
        guard notice.generation == generation, notice.latest.salt == salt else { return false }
        // Owners repeat the last notice of a realm that has come to rest.
        guard notice.latest.version > latest else { return true }
        guard notice.follows == latest, notice.entries.last?.serverVersion == notice.latest.version,
            notice.entries.first?.serverVersion == notice.follows + 1
        else { return false }
        for entry in notice.entries {
            open.append(entry)
            let count = SharedVersions.bytes(of: CollectionOfOne(entry))
            openBytes += count
            bytes += count
            if openBytes >= Self.stretchBytes { cut() }
        }
        latest = notice.latest.version
        asked = nil
        return true
    }

    private mutating func cut() {
        guard let last = open.last?.serverVersion else { return }
        closed.append(Closed(follows: openFollows, latest: last, versions: SharedVersions(open)))
        openFollows = last
        open = []
        openBytes = 0
    }

    /// The versions after `version`, to the next cut; nil if there are none, or if they are not at hand.
    mutating func stretch(after version: ServerVersion) -> RecentStretch? {
        guard version < latest else { return nil }
        guard version < openFollows else {
            let versions = asked.flatMap { $0.after == version ? $0.versions : nil } ?? part(of: open, after: version)
            asked = (version, versions)
            return RecentStretch(follows: version, latest: latest, versions: versions, bytesBehind: 0)
        }
        guard let index = closed.lastIndex(where: { $0.follows <= version }) else { return nil }
        let found = closed[index]
        return RecentStretch(
            follows: version, latest: found.latest,
            versions: found.follows == version ? found.versions : part(of: found.versions.entries, after: version),
            bytesBehind: closed[(index + 1)...].reduce(openBytes) { $0 + $1.versions.bytes })
    }

    private func part(of entries: [HistoryEntry], after version: ServerVersion) -> SharedVersions {
        SharedVersions(Array(entries.drop { $0.serverVersion <= version }))
    }

    /// Forgets the oldest stretches beyond a number of bytes.
    mutating func trim(to limit: Int) {
        while bytes > limit, let first = closed.popFirst() { bytes -= first.versions.bytes }
    }
}

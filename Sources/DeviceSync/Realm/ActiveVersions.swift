import SyncModel
internal import Synchronization

/// The versions of a realm that its frozen instances keep, as far as their configurations have a limit.
final class ActiveVersions: Sendable {
    /// How many keep each.
    private let counts = Mutex<[ClientVersion: Int]>([:])

    func retain(_ version: ClientVersion) { counts.withLock { $0[version, default: 0] += 1 } }

    func release(_ version: ClientVersion) {
        counts.withLock { counts in
            let count = (counts[version] ?? 1) - 1
            counts[version] = count > 0 ? count : nil
        }
    }

    /// - Parameter newest: the version that a write is about to follow with another.
    /// - Throws: `Realm.Error` with code `fail` if no further version may be kept.
    func checkRoom(beside newest: ClientVersion, for configuration: Realm.Configuration) throws {
        guard let limit = configuration.maximumNumberOfActiveVersions else { return }
        let kept = counts.withLock { counts in counts.count + (counts[newest] == nil ? 1 : 0) }
        guard kept > Int(clamping: limit) else { return }
        throw Realm.Error(
            .fail,
            "frozen realms, objects and collections keep \(kept) versions, of \(limit) that maximumNumberOfActiveVersions allows; release "
                + "some, then write again", fileURL: configuration.fileURL)
    }
}

import Storage
import SyncModel

/// Checks that the versions, salts, byte counts and authors of a history are consistent, entry by entry in order.
struct HistoryChecker {
    let record: RealmRecord
    /// The last own version of each client file that has written something.
    private(set) var highestClientVersion: [FileIdent: ClientVersion] = [:]
    private var previous: HistoryRecord?
    private var formerSalts: Set<VersionSalt> = []

    init(record: RealmRecord) { self.record = record }

    mutating func check(_ stored: HistoryRecord, _ findings: inout FindingList) {
        let version = stored.version
        if let previous {
            if version != previous.version &+ 1 {
                findings.add(.continuity, "version \(previous.version) is followed by \(version)")
            }
            let expected = previous.cumulativeBytes &+ UInt64(stored.entry.changeset.count)
            if stored.cumulativeBytes != expected {
                findings.add(
                    .continuity,
                    "version \(version) counts \(stored.cumulativeBytes) bytes of history; expected \(expected)")
            }
            if stored.salt != previous.salt {
                formerSalts.insert(previous.salt)
                if formerSalts.contains(stored.salt) {
                    findings.add(.continuity, "version \(version) has a salt that an earlier owner had laid down")
                }
            }
        }
        if stored.salt == 0 { findings.add(.continuity, "version \(version) has no salt") }
        checkAuthor(stored.entry, &findings)
        previous = stored
    }

    private mutating func checkAuthor(_ entry: HistoryEntry, _ findings: inout FindingList) {
        let version = entry.serverVersion
        switch entry.originFile {
        case 0: findings.add(.continuity, "version \(version) has no author")
        case .server:
            if entry.clientVersion != 0 {
                findings.add(
                    .continuity, "version \(version) is the server's and has client version \(entry.clientVersion)")
            }
        case let file:
            if let last = highestClientVersion[file], entry.clientVersion <= last {
                findings.add(
                    .continuity,
                    "version \(version) is client file \(file)'s version \(entry.clientVersion), after its \(last)")
            }
            highestClientVersion[file] = max(highestClientVersion[file] ?? 0, entry.clientVersion)
        }
    }

    func finish(_ findings: inout FindingList) {
        guard let previous else { return }
        if previous.version == record.latest.version, previous.salt != record.latest.salt {
            findings.add(.continuity, "the latest version, \(previous.version), has another salt in the history")
        }
        if record.historyBase == 0, previous.version == record.latest.version,
            previous.cumulativeBytes != record.historyBytes
        {
            findings.add(
                .continuity,
                "the history has \(previous.cumulativeBytes.counted("byte")); the realm's heading says \(record.historyBytes)"
            )
        }
    }
}

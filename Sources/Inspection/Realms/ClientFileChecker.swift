import Storage
import SyncModel

/// Checks client files against their realm.
struct ClientFileChecker {
    let record: RealmRecord
    /// The highest version of each client file that the history contains.
    let highestClientVersion: [FileIdent: ClientVersion]
    let reciprocals: [FileIdent: VersionSpan]
    /// The versions of the realm's complete bases.
    let bases: Set<ServerVersion>

    func check(_ file: ClientFileRecord, _ findings: inout FindingList) {
        let name = "client file \(file.ident)"
        if file.ident < 2 || file.ident >= record.nextIdent {
            findings.add(.clientFiles, "\(name): idents go from 2 to below \(record.nextIdent)")
        }
        // In a realm that was erased, the row may come from a session whose end did not say the salt.
        if file.file.salt == 0, !record.lostIdents.contains(file.ident) {
            findings.add(.clientFiles, "\(name) has no salt")
        }
        if file.generation > record.generation {
            findings.add(
                .clientFiles,
                "\(name) is of generation \(file.generation), and the realm of \(record.generation)")
            return
        }
        if file.state == .resetRequired, file.generation == record.generation, file.campaign == nil {
            findings.add(.clientFiles, "\(name) must reset and belongs to no campaign")
        }
        // Versions of an earlier generation cannot be compared with those of the present history.
        guard file.generation == record.generation else { return checkOutdated(file, name, &findings) }
        let latest = record.latest.version
        for (what, version) in [
            ("has seen", file.seenServerVersion), ("has uploaded on", file.upload.serverVersion),
            ("has locked", file.lockedServerVersion),
        ] where version > latest {
            findings.add(.clientFiles, "\(name) \(what) server version \(version); the latest is \(latest)")
        }
        if let highest = highestClientVersion[file.ident], highest > file.upload.clientVersion {
            findings.add(
                .clientFiles,
                "\(name) is recorded up to its version \(file.upload.clientVersion); the history has its \(highest)")
        }
        if file.state == .live, let start = file.historyStart { checkHistory(of: file, from: start, name, &findings) }
        if let span = reciprocals[file.ident], span.last > latest {
            findings.add(
                .reciprocals, "\(name) has reciprocals up to version \(span.last); the latest is \(latest)")
        }
        if file.state == .live, let span = reciprocals[file.ident], span.first <= file.upload.serverVersion {
            findings.add(
                .reciprocals,
                "\(name) has reciprocals from version \(span.first); its window begins after \(file.upload.serverVersion)"
            )
        }
    }

    /// Checks that the history contains everything that the client file may still need.
    private func checkHistory(
        of file: ClientFileRecord, from start: ServerVersion, _ name: String, _ findings: inout FindingList
    ) {
        let uploaded = file.upload.serverVersion
        if max(uploaded, start) < record.historyBase {
            findings.add(
                .clientFiles,
                "\(name) needs the history after version \(max(uploaded, start)); it begins after \(record.historyBase)"
            )
        }
        // A client of a flexible realm begins with nothing.
        if !record.name.isFlexible, uploaded < start, file.seenServerVersion < start, !bases.contains(start) {
            findings.add(.clientFiles, "\(name) has begun with the base at version \(start), which is not there")
        }
    }

    private func checkOutdated(_ file: ClientFileRecord, _ name: String, _ findings: inout FindingList) {
        if file.state == .live {
            findings.add(
                .clientFiles, "\(name) is live, and of generation \(file.generation) instead of \(record.generation)")
        }
        if reciprocals[file.ident] != nil {
            findings.add(.reciprocals, "\(name) is of an earlier generation and has reciprocals")
        }
    }
}

import SyncModel

/// The order of flexible DOWNLOADs (docs/protocol.md, "Flexible sync"): batches of one set hang together, hold at least
/// one entry, and never go back to an older set.
struct BootstrapChecker: Hashable, Sendable {
    let role: DownloadChecker.Role
    let version: ProtocolVersion
    /// The set in force: the IDENT's, then the last whose last batch was sent.
    private(set) var active: QueryVersion
    private var open: Open?

    private struct Open: Hashable {
        let queryVersion: QueryVersion
        let entries: Int
    }

    init(role: DownloadChecker.Role, version: ProtocolVersion, active: QueryVersion) {
        self.role = role
        self.version = version
        self.active = active
    }

    var isOpen: Bool { open != nil }

    private func refusal(_ message: String) -> SyncProtocolError {
        SyncProtocolError(.badSyntax, fault: role == .sending ? .sending : .received, "DOWNLOAD: \(message)")
    }

    mutating func check(_ batch: FlexibleBatch, entries: Int) throws(SyncProtocolError) {
        let state =
            version.hasBatchStates
            ? batch.state : batch.state.resolvedBeforeBatchStates(queryVersion: batch.queryVersion, active: active)
        guard state.isBootstrap else {
            if role == .sending {
                guard open == nil else { throw refusal("steady state in the middle of a bootstrap") }
                guard batch.queryVersion == active else {
                    throw refusal("steady state of set \(batch.queryVersion), \(active) is in force")
                }
            }
            return
        }
        guard batch.queryVersion >= active else {
            throw refusal("a bootstrap of set \(batch.queryVersion), superseded by \(active)")
        }
        if role == .sending, !version.hasBatchStates, batch.queryVersion == active, active > 0 {
            throw refusal("version \(version) cannot take a bootstrap of the set in force")
        }
        if let open, open.queryVersion != batch.queryVersion {
            if role == .sending { throw refusal("set \(batch.queryVersion) in the middle of set \(open.queryVersion)") }
            self.open = nil
        }
        let total = (open?.entries ?? 0) &+ entries
        if state == .lastInBatch {
            guard total > 0 else { throw refusal("a bootstrap without any entry") }
            open = nil
            active = batch.queryVersion
        } else {
            open = Open(queryVersion: batch.queryVersion, entries: total)
        }
    }
}

package import SyncModel

/// The check that a client makes of every DOWNLOAD of one session (docs/protocol.md, "What the client checks"): a gateway holds
/// one to check what it is about to send, a client one to check what came.
///
/// A DOWNLOAD that fails changes nothing; one that passes moves the cursors.
package struct DownloadChecker: Hashable, Sendable {
    package enum Role: Sendable {
        /// Refuses besides what stock clients survive only by chance.
        case sending
        case receiving
    }

    package let role: Role
    /// The receiver, whose own changesets must not come back.
    package let file: FileIdent
    /// The cursors of the last DOWNLOAD that counted; before the first, those of the IDENT.
    package private(set) var progress: SyncProgress
    /// The newest version of the client's own history, as far as known; nil skips the check of `upClientVer`.
    package var newestClientVersion: ClientVersion?
    /// The newest version that an UPLOAD has shown.
    private var reachedClientVersion: ClientVersion = 0
    private var bootstrap: BootstrapChecker?

    /// - Parameters:
    ///   - progress: download and latest cursor of the IDENT; as upload cursor the one recorded for the file.
    ///   - activeQueryVersion: of the IDENT; nil in partition mode.
    package init(
        role: Role, file: FileIdent, progress: SyncProgress, newestClientVersion: ClientVersion? = nil,
        activeQueryVersion: QueryVersion? = nil, version: ProtocolVersion = .maximum
    ) {
        self.role = role
        self.file = file
        self.progress = progress
        self.newestClientVersion = newestClientVersion
        self.bootstrap = activeQueryVersion.map {
            BootstrapChecker(role: role, version: version, active: $0)
        }
    }

    /// The subscription set in force, and whether a bootstrap of another is on its way; flexible mode only.
    package var activeQueryVersion: QueryVersion? { bootstrap?.active }
    package var isBootstrapping: Bool { bootstrap?.isOpen ?? false }

    /// A server's knowledge of the file, before the first DOWNLOAD: how far its uploads are on record.
    package mutating func identified(upload: UploadCursor) {
        progress.upload.clientVersion = max(progress.upload.clientVersion, upload.clientVersion)
        progress.upload.serverVersion = max(progress.upload.serverVersion, upload.serverVersion)
        newestClientVersion = max(newestClientVersion ?? 0, upload.clientVersion, reachedClientVersion)
    }

    /// An UPLOAD shows that the client's history reaches this far; counts once `newestClientVersion` is known at all. It may
    /// come before that: clients send it right behind their IDENT.
    package mutating func clientReached(_ version: ClientVersion) {
        reachedClientVersion = max(reachedClientVersion, version)
        guard let newest = newestClientVersion else { return }
        newestClientVersion = max(newest, version)
    }

    private var fault: SyncProtocolError.Fault { role == .sending ? .sending : .received }

    package mutating func check(_ download: Download) throws(SyncProtocolError) {
        func refusal(_ message: String) -> SyncProtocolError { Self.refusal(of: download, message, fault) }
        try Self.checkWithin(download, fault: fault)
        let new = download.progress
        let old = progress
        guard new.latest.version >= old.latest.version else { throw refusal("latestServerVer decreases") }
        guard new.download.serverVersion >= old.download.serverVersion else { throw refusal("dlServerVer decreases") }
        guard new.download.clientVersion >= old.download.clientVersion else { throw refusal("dlClientVer decreases") }
        guard new.upload.clientVersion >= old.upload.clientVersion else { throw refusal("upClientVer decreases") }
        guard new.upload.serverVersion == 0 || new.upload.serverVersion >= old.upload.serverVersion else {
            throw SyncProtocolError(
                .badProgress, session: download.session, fault: fault, "DOWNLOAD: upServerVer decreases")
        }
        if let newest = newestClientVersion, new.upload.clientVersion > newest {
            throw refusal("upClientVer lies beyond the client's history")
        }
        if let first = download.entries.first {
            let floor = old.download
            let isAbove =
                download.detail.mode == .partition
                ? first.serverVersion > floor.serverVersion : first.serverVersion >= floor.serverVersion
            guard isAbove else { throw refusal("the first entry's serverVer is not beyond the last DOWNLOAD") }
            guard first.clientVersion >= floor.clientVersion else {
                throw refusal("the first entry's clientVer lies before the last DOWNLOAD")
            }
        }
        guard download.entries.allSatisfy({ $0.originFile != file }) else {
            throw refusal("an entry is the receiver's own")
        }
        switch (download.batch, bootstrap) {
        case (nil, nil): progress = new
        case (let batch?, var checker?):
            do {
                try checker.check(batch, entries: download.entries.count)
            } catch {
                throw error.attributed(to: download.session)
            }
            bootstrap = checker
            // The client keeps the cursors of the last batch only (section 9.1).
            if batch.state != .moreToCome { progress = new }
        default: throw refusal("DOWNLOAD of the other sync mode")
        }
    }

    /// The rules that one DOWNLOAD meets or breaks by itself.
    static func checkWithin(_ download: Download, fault: SyncProtocolError.Fault) throws(SyncProtocolError) {
        func refusal(_ message: String) -> SyncProtocolError { Self.refusal(of: download, message, fault) }
        let progress = download.progress
        guard progress.download.serverVersion <= progress.latest.version else {
            throw refusal("dlServerVer lies beyond latestServerVer")
        }
        guard progress.download.clientVersion <= progress.upload.clientVersion else {
            throw refusal("dlClientVer lies beyond upClientVer")
        }
        guard progress.upload.serverVersion <= progress.download.serverVersion else {
            throw refusal("upServerVer lies beyond dlServerVer")
        }
        let isStrict = download.detail.mode == .partition
        var last = DownloadCursor()
        for entry in download.entries {
            guard entry.serverVersion > 0 else { throw refusal("an entry's serverVer is 0") }
            guard entry.serverVersion > last.serverVersion || (!isStrict && entry.serverVersion == last.serverVersion)
            else { throw refusal("the entries' serverVer do not increase") }
            guard entry.clientVersion >= last.clientVersion else {
                throw refusal("the entries' clientVer decrease")
            }
            guard entry.originFile > 0 else { throw refusal("an entry's originFileIdent is 0") }
            last = DownloadCursor(serverVersion: entry.serverVersion, clientVersion: entry.clientVersion)
        }
        guard last.serverVersion <= progress.download.serverVersion else {
            throw refusal("an entry's serverVer lies beyond dlServerVer")
        }
        guard last.clientVersion <= progress.download.clientVersion else {
            throw refusal("an entry's clientVer lies beyond dlClientVer")
        }
    }

    private static func refusal(
        of download: Download, _ message: String, _ fault: SyncProtocolError.Fault
    ) -> SyncProtocolError {
        SyncProtocolError(.badSyntax, session: download.session, fault: fault, "DOWNLOAD: \(message)")
    }
}

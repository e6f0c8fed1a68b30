import Merge
import SyncModel
import SyncProtocol

/// An UPLOAD on its way, as a gateway hands it on.
struct SimulatedUpload: Sendable {
    var message: Upload
    /// The client version of the progress that the upload follows.
    var follows: ClientVersion

    var head: UploadHead {
        UploadHead(follows: follows, progress: message.progress, lockedServerVersion: message.lockedServerVersion)
    }
}

/// What exists only while a connection does: what was sent and not taken yet, how far each side has got in sending, and the
/// checks that both ends make.
struct SimulatedSession: Sendable {
    static let ident: SessionIdent = 1
    static let salt: FileSalt = 7
    private static let bind = Bind(session: ident, target: "\"simulated\"", needsIdent: false)

    var uploads: [SimulatedUpload] = []
    var downloads: [Download] = []
    /// How the client has identified itself.
    let identification: Ident
    /// How far the client has scanned its history.
    var scanned: UploadCursor
    /// The client's own writes, as far as downloads of this session had to be merged with them.
    var window = LocalWindow()
    private var client: ClientSessionChecker
    /// The gateway's side, from the first message on.
    var gateway: Gateway?

    struct Gateway: Sendable {
        var checker: ServerSessionChecker
        /// How far the history has been sent.
        var position: DownloadCursor
    }

    /// A session of a client file that stands there.
    init(
        _ file: FileIdent, at progress: SyncProgress, newest: ClientVersion
    ) throws(SimulationFailure) {
        identification = Ident(
            session: Self.ident, file: ClientFileIdent(ident: file, salt: Self.salt), download: progress.download,
            latest: progress.latest)
        scanned = progress.upload
        client = ClientSessionChecker(bind: Self.bind, mode: .partition)
        try Self.checking("file \(file)") { () throws(SyncProtocolError) in
            try client.sendIdent(identification, upload: progress.upload, newestClientVersion: newest)
        }
    }

    // MARK: The client's end

    mutating func send(_ upload: SimulatedUpload) throws(SimulationFailure) {
        try Self.checking("file \(identification.file.ident)") { () throws(SyncProtocolError) in
            try client.send(.upload(upload.message))
        }
        scanned = upload.message.progress
        uploads.append(upload)
    }

    mutating func receive(_ download: Download, newest: ClientVersion) throws(SimulationFailure) {
        client.setNewestClientVersion(newest)
        try Self.checking("file \(identification.file.ident)") { () throws(SyncProtocolError) in
            try client.receive(.download(download))
        }
    }

    // MARK: The gateway's end

    /// The client identifies itself, if it has not yet.
    mutating func open(recorded: ClientFileProgress, latest: ServerVersion) throws(SimulationFailure) {
        guard gateway == nil else { return }
        guard identification.file.salt == Self.salt else {
            throw SimulationFailure(.versionsAreKept, "the server refuses the salt of an honest client")
        }
        do throws(CursorFault) {
            try recorded.check(
                identification.download, latest: identification.latest.version, current: latest)
        } catch {
            throw SimulationFailure(.versionsAreKept, "the server refuses an honest IDENT: \(error.message)")
        }
        var checker = ServerSessionChecker(bind: Self.bind, mode: .partition, version: .maximum)
        try Self.accept(checker.receive(.ident(identification)))
        checker.identified(upload: recorded.upload, lockedServerVersion: recorded.lockedServerVersion)
        gateway = Gateway(checker: checker, position: identification.download)
    }

    /// The gateway checks an UPLOAD that has arrived.
    mutating func arrived(_ upload: Upload) throws(SimulationFailure) {
        if let verdict = gateway?.checker.receive(.upload(upload)) { try Self.accept(verdict) }
    }

    /// The gateway checks a DOWNLOAD that is about to be sent.
    mutating func sending(_ download: Download) throws(SimulationFailure) {
        try Self.checking("the server") { () throws(SyncProtocolError) in
            try gateway?.checker.send(.download(download))
        }
    }

    private static func accept(_ verdict: ServerVerdict) throws(SimulationFailure) {
        guard verdict == .accept else {
            throw SimulationFailure(.versionsAreKept, "the server refuses an honest message: \(verdict)")
        }
    }

    private static func checking(
        _ who: String, _ body: () throws(SyncProtocolError) -> Void
    ) throws(SimulationFailure) {
        do throws(SyncProtocolError) {
            try body()
        } catch {
            throw SimulationFailure(.versionsAreKept, "\(who) refuses a message: \(error)")
        }
    }
}

internal import Changesets
internal import Logging
import SyncModel
internal import SyncProtocol

/// Why a session could not do its work.
enum SessionFailure: Error {
    /// This device's storage could not do it.
    case storage(StorageWork, any Error)
    /// What the server sent is wrong, and would be the next time too.
    case download(IntegrationError)
    /// A write that no server takes.
    case oversized(OversizedWrite)
}

/// One session on the connection, with the copy of the realm that it downloads into. Confined to the connection's queue.
final class OpenSession {
    /// What a session downloads into.
    enum Role: Sendable {
        /// The realm itself.
        case main
        /// The fresh copy of a client reset.
        case fresh
    }

    /// What a message of the server came to, once what it brings is in the copy.
    enum Event {
        case identified
        case integrated(Download)
        /// Every mark up to this one has been answered.
        case markReached(RequestIdent)
        /// The server refuses a subscription set.
        case refused(QueryVersion, String)
        case failed(ErrorCode, JSONErrorBody)
    }

    let role: Role
    let core: RealmCore
    var machine: ClientSession
    private let isFlexible: Bool
    private let retries: SyncRetries
    private let logger: Logging.Logger
    /// Nil until the first download.
    private var integrator: DownloadIntegrator?

    /// - Parameters:
    ///   - target: what BIND asks for.
    ///   - lastMark: the newest mark that an earlier session of the realm has used.
    ///   - retries: hears of work that the storage has done.
    init(
        _ role: Role, _ core: RealmCore, ident: SessionIdent, target: String, isFlexible: Bool, holdsIdent: Bool,
        lastMark: RequestIdent, retries: SyncRetries, logger: Logging.Logger
    ) {
        self.role = role
        self.core = core
        self.isFlexible = isFlexible
        self.retries = retries
        self.logger = logger
        let sync = core.sync
        machine = ClientSession(
            ident: ident, target: target, fileIdent: sync.ident, progress: sync.progress,
            newestVersion: core.snapshot.version, subscriptions: isFlexible ? core.subscriptions : nil,
            uploads: role == .main, holdsIdent: holdsIdent, lastMark: lastMark)
    }

    // MARK: Sending

    func nextMessage() throws(SessionFailure) -> ClientMessage? {
        try attempting(.upload) {
            try machine.nextMessage { cursor, version in
                let found = try core.uploadScan(after: cursor, upTo: version)
                retries.succeeded(at: .upload)
                return found
            }
        }
    }

    /// Integrates or discards what an earlier connection or process has stored of a bootstrap; to be called before anything is sent.
    /// - Returns: whether something was integrated.
    func resumeBootstrap() throws(SessionFailure) -> Bool {
        guard isFlexible, machine.phase == .unbound else { return false }
        do throws(SessionFailure) {
            return try attempting(.download) {
                guard let bootstrap = try BootstrapIntake(core: core).resume() else { return false }
                logger.info("a stored bootstrap is integrated", metadata: ["set": "\(bootstrap.version)"])
                try integrating { try $0.integrate(bootstrap, core.sync.rules) }
                return true
            }
        } catch .download(let error) {
            logger.error("a stored bootstrap is of no use", metadata: ["error": "\(error.message)"])
            try? BootstrapIntake(core: core).discard()
            return false
        }
    }

    // MARK: Receiving

    /// - Parameters:
    ///   - version: of the protocol on the connection.
    ///   - compatibility: the rules by which the app's copies are made, as far as the server has said.
    func receive(
        _ message: ServerMessage, _ version: ProtocolVersion, _ compatibility: PeerCompatibility?
    ) throws(SessionFailure) -> Event? {
        switch machine.receive(message) {
        case .persistIdent(let file):
            try persist(file, compatibility)
            return .identified
        case .integrate(let download):
            try integrate(download, version, compatibility)
            return .integrated(download)
        case .markReached(let mark):
            // A set whose data is here is complete.
            if isFlexible { try changeSubscriptions { $0.markReached() } }
            return .markReached(mark)
        case .queryRefused(let version, let reason):
            try changeSubscriptions { $0.refused(version, reason) }
            return .refused(version, reason)
        case .sessionError(let code, let body): return .failed(code, body)
        case nil: return nil
        }
    }

    private func persist(_ file: ClientFileIdent, _ compatibility: PeerCompatibility?) throws(SessionFailure) {
        try attempting(.identity) {
            try core.updateSync { sync in
                sync.compatibility = try sync.rules(saidBy: compatibility)
                sync.ident = file
            }
        }
        retries.succeeded(at: .identity)
    }

    private func integrate(
        _ download: Download, _ version: ProtocolVersion, _ compatibility: PeerCompatibility?
    ) throws(SessionFailure) {
        try attempting(.download) {
            let rules = try core.sync.rules(saidBy: compatibility)
            switch try BootstrapIntake(core: core).take(download, version) {
            case .steadyState: try integrating { try $0.integrate(download, rules) }
            case .whole(let set): try integrating { try $0.integrate(download, of: set, rules) }
            case .lastStored(let bootstrap): try integrating { try $0.integrate(bootstrap, rules) }
            case .stored: break
            }
        }
        retries.succeeded(at: .download)
    }

    /// Integrates something, and tells the state machine what came of it.
    private func integrating(_ body: (inout DownloadIntegrator) throws -> DownloadIntegrator.Integrated) throws {
        // Taken out of the session while it works, so that the changesets it keeps parsed are not copied.
        var integrator = integrator.take() ?? DownloadIntegrator(core: core)
        let (progress, version) = try body(&integrator)
        self.integrator = integrator
        machine.integrated(progress, newestVersion: version)
        subscriptionsMoved()
    }

    // MARK: Subscriptions

    func changeSubscriptions(_ change: (inout SubscriptionSets) -> Void) throws(SessionFailure) {
        try attempting(.subscriptions) { try core.updateSubscriptions(change) }
        retries.succeeded(at: .subscriptions)
        subscriptionsMoved()
    }

    /// Tells the state machine what has become of the copy's subscription sets.
    func subscriptionsMoved() {
        if isFlexible { machine.subscriptionsChanged(core.subscriptions) }
    }

    /// Runs work, and says of an error whose fault it is.
    private func attempting<Result>(
        _ work: StorageWork, _ body: () throws -> Result
    ) throws(SessionFailure) -> Result {
        do {
            return try body()
        } catch let error as IntegrationError where error.isTheServersFault {
            throw .download(error)
        } catch let error as OversizedWrite {
            throw .oversized(error)
        } catch {
            throw .storage(work, error)
        }
    }
}

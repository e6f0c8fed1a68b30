internal import Changesets
internal import GRDB
import SyncModel

/// What a synced realm's file knows of its server.
struct SyncFileState: Sendable, Equatable, Codable {
    var ident: ClientFileIdent?
    var progress = SyncProgress()
    /// What of an app's data the file has, as `SyncTarget.claim`; that never changes.
    var partition: String?
    var userID: String?
    /// The app's compatibility, once the server has said it.
    var compatibility: PeerCompatibility?

    /// The server keeps the file for another schema version than the app's, and everything in it is uploaded: the file is to be made
    /// anew when it is next opened.
    var isOutdated: Bool?

    /// Whether an opening that waits for the server's data has made the file, and they are not all here yet. Whatever became of that
    /// opening, the next one with `.once` waits too. Nil in a file that nobody has opened, and in those of earlier versions.
    var awaitsFirstDownload: Bool?

    /// The app has moved to the other sync mode since the file was made; nil: the file is as its configuration says.
    var move: ModeMove?

    /// Whether an opening with `.once` has to wait for the server's data.
    var needsFirstDownload: Bool { awaitsFirstDownload ?? (partition == nil) }

    /// Tells one file from another that takes its place; zeros as long as the server has given it no name.
    var identity: ClientFileIdent { ident ?? ClientFileIdent(ident: 0, salt: 0) }

    /// The rules by which this copy records and applies. Before the server has named them, nothing but this copy's own writes is
    /// applied; what the convergent recorder records is right under both kinds of rules. Files that synced before the setting
    /// existed belong to apps for stock clients.
    var rules: PeerCompatibility { compatibility ?? (ident == nil ? .convergent : .stockClients) }

    /// The rules by which this copy records and applies changes from now on.
    ///
    /// A server that does not say so makes its copies as stock clients do. A server that has stopped saying so, as in a
    /// cluster whose gateways are of an older version, must not be followed: the copies would come apart for good.
    /// - Parameter server: what the server on the connection has said.
    func rules(saidBy server: PeerCompatibility?) throws(IntegrationError) -> PeerCompatibility {
        if let server { return server }
        guard compatibility != .convergent else {
            throw IntegrationError(
                code: .otherSessionError,
                message: "the app's copies are made by the convergent rules, and this server does not say that its are")
        }
        return .stockClients
    }
}

/// The record of a client reset that the server has not yet acknowledged (docs/resets.md, "Cycle detection").
struct PendingReset: Sendable, Equatable, Codable {
    enum Mode: Int, Sendable, Codable { case discard = 0, recover = 1 }
    enum Action: Int, Sendable, Codable {
        case clientReset = 1
        case clientResetNoRecovery = 2
        case migrateToFLX = 3
        case revertToPBS = 4
    }
    var mode: Mode
    var action: Action
    /// Milliseconds of Unix time.
    var time: Int64
    var errorCode: Int
    var errorMessage: String
    var coreVersion = SDK.version
    /// The attempt to report on.
    var attempt = ""
    /// How many merges in a row were begun and neither failed nor were committed: the process died in them. 0 once one
    /// has ended either way.
    var cutOff = 0
}

extension PendingReset: FetchableRecord, PersistableRecord {
    static let databaseTableName = "client_reset_metadata"

    enum CodingKeys: String, CodingKey {
        case coreVersion = "core_version"
        case time, mode, action
        case errorCode = "error_code"
        case errorMessage = "error_msg"
        case attempt
        case cutOff = "cut_off"
    }
}

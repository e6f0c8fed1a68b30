import Messages
import SyncModel
import SyncProtocol

@testable import Gateway

/// What most tests of connections begin with.
enum SessionOpening {
    static let realm = RealmName(app: "tasks", partition: "\"tasks\"")

    /// Opens a session up to its first DOWNLOAD.
    static func open(
        _ client: inout SyncClient, session: SessionIdent = 1, partition: String = "\"tasks\""
    ) async throws -> ClientFileIdent {
        try await client.send(.bind(Bind(session: session, target: partition, needsIdent: true)))
        guard case .ident(session, let file) = try await client.nextMessage() else {
            throw HarnessError("expected IDENT")
        }
        try await client.send(.ident(Ident(session: session, file: file)))
        guard case .download(let download) = try await client.nextMessage(), download.session == session else {
            throw HarnessError("expected DOWNLOAD")
        }
        return file
    }

    static func upload(_ version: UInt64, session: SessionIdent = 1, bytes: [UInt8] = [1, 2, 3]) -> ClientMessage {
        .upload(
            Upload(
                session: session, progress: .init(clientVersion: ClientVersion(version)), lockedServerVersion: 0,
                entries: [
                    UploadedChangeset(
                        clientVersion: ClientVersion(version), serverVersion: 0, timestamp: 1, changeset: bytes)
                ]))
    }

    /// Binds and identifies new sessions, one after the other, until a download comes on one.
    static func isOpened(_ client: inout SyncClient, onAnyOf sessions: Range<UInt64>) async throws -> Bool {
        for session in sessions.map(SessionIdent.init) {
            try await client.send(.bind(Bind(session: session, target: "\"tasks\"", needsIdent: true)))
            reading: while true {
                switch try await client.nextMessage() {
                case .ident(session, let file): try await client.send(.ident(Ident(session: session, file: file)))
                case .download(let download) where download.session == session: return true
                case .jsonError(session, .otherSessionError, _): break reading
                default: throw HarnessError("expected IDENT, DOWNLOAD or a transient error on session \(session)")
                }
            }
        }
        return false
    }
}

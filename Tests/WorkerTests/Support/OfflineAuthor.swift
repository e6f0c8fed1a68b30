import AMQP
import Changesets
import Messages
import RealmState
import SyncModel

/// A client that takes the server's state as its own, edits it offline, and uploads its changesets in parts, all with the
/// base that it began from.
struct OfflineAuthor {
    var file: ClientFileIdent
    let session: UInt64
    private var state: RealmState
    private var base: ServerVersion
    private var integrated: ClientVersion = 0
    private var waiting: [(timestamp: SyncTimestamp, bytes: [UInt8])] = []

    init(file: ClientFileIdent, session: UInt64, at version: ServerVersion, _ state: RealmState) {
        self.file = file
        self.session = session
        self.state = state
        base = version
    }

    var hasWaiting: Bool { !waiting.isEmpty }

    /// Goes by what the server has now; nothing may be waiting.
    mutating func synchronize(with server: RealmState, at version: ServerVersion) {
        state = server
        base = version
    }

    mutating func edit(_ edits: inout RandomEdits, at timestamp: SyncTimestamp) {
        if let bytes = edits.transaction(&state) { waiting.append((timestamp, bytes)) }
    }

    /// The next of its changesets, as one message.
    mutating func upload(atMost count: Int, in realm: RealmName) -> ChangesetMessage? {
        guard !waiting.isEmpty else { return nil }
        let follows = integrated
        var entries: [UploadedChangeset] = []
        for item in waiting.prefix(count) {
            integrated += 1
            entries.append(
                .init(clientVersion: integrated, serverVersion: base, timestamp: item.timestamp, changeset: item.bytes))
        }
        waiting.removeFirst(entries.count)
        return ChangesetMessage(
            realm: realm,
            upload: .init(
                session: SessionReference(gateway: "g", number: session), clientFile: file.ident, generation: 1,
                follows: follows, progress: UploadCursor(clientVersion: integrated, serverVersion: base),
                lockedServerVersion: base, rights: .all), entries: entries)
    }

    /// Lives on as another client file after a reset.
    mutating func becomes(_ file: ClientFileIdent, with server: RealmState, at version: ServerVersion) {
        self.file = file
        integrated = 0
        waiting = []
        synchronize(with: server, at: version)
    }
}

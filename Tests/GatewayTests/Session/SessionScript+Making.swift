import Messages
import Storage
import SyncModel
import SyncProtocol

@testable import Gateway

/// What the tests of one session say, and a session that has come so far.
extension SessionScript {
    static func live(isOurs: Bool = true) throws -> SessionScript {
        var script = SessionScript()
        script.isOurs = isOurs
        try script.client(.bind(Bind(session: 1, target: "\"tasks\"", needsIdent: true)))
        try identify(&script)
        return script
    }

    static func identify(_ script: inout SessionScript) throws {
        guard case .ident(_, let file)? = script.takeLog().last else { throw HarnessError("expected an IDENT") }
        try script.client(.ident(Ident(session: 1, file: file)))
        _ = script.takeLog()
    }

    static func upload(_ version: ClientVersion, progress: ClientVersion? = nil, seen: ServerVersion = 0)
        -> Upload
    {
        Upload(
            session: 1, progress: .init(clientVersion: progress ?? version, serverVersion: seen),
            lockedServerVersion: seen,
            entries: [UploadedChangeset(clientVersion: version, serverVersion: seen, timestamp: 5, changeset: [1, 2])])
    }

    static func entry(_ version: ServerVersion, by file: FileIdent = 9, _ bytes: [UInt8] = [7]) -> HistoryEntry {
        HistoryEntry(
            serverVersion: version, clientVersion: ClientVersion(version.rawValue), originFile: file, timestamp: 3,
            changeset: bytes)
    }

    static func notice(
        follows: ServerVersion, latest: ServerVersion, entries: [HistoryEntry], acknowledges: UploadCursor? = nil,
        generation: UInt64 = 1
    ) -> IntegratedNotice {
        IntegratedNotice(
            realm: name, generation: generation, follows: follows,
            latest: SaltedServerVersion(version: latest, salt: 77), entries: entries,
            acknowledgements: acknowledges.map { [.init(clientFile: 2, upload: $0)] } ?? [])
    }
}

extension SessionEvent {
    /// A notice for one session alone.
    static func integrated(_ notice: IntegratedNotice) -> SessionEvent { .fanned(FannedNotice(notice)) }
}

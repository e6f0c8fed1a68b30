import Foundation
import Messages
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

/// What stock clients were recorded to send, answered by the session machine: the same kinds of message in the same
/// order as the recorded server's, with the same position in history.
@Suite struct TranscriptTests {
    private struct Line: Decodable {
        var kind: String
        var from: String?
        var connection: Int?
        var head: String?
        var body_base64: String?

        var bytes: [UInt8]? {
            guard kind == "message", let head else { return nil }
            return Array(head.utf8) + [0x0A] + [UInt8](Data(base64Encoded: body_base64 ?? "") ?? Data())
        }
    }

    private static func lines(_ name: String) throws -> [Line] {
        guard let file = RecordedVectors.files("transcripts").first(where: { $0.lastPathComponent == name }) else {
            return []
        }
        return try RecordedVectors.lines(of: file, as: Line.self)
    }

    private static func hasRecording(_ name: String) -> Bool {
        RecordedVectors.files("transcripts").contains { $0.lastPathComponent == name }
    }

    /// Kind, session and, of a DOWNLOAD, its cursors and entries: what must agree.
    private static func gist(_ message: ServerMessage) -> String? {
        switch message {
        case .pong: return nil
        case .download(let download):
            let (cursor, latest) = (download.progress.download, download.progress.latest)
            return "download \(download.session) \(cursor.serverVersion) \(cursor.clientVersion) "
                + "\(latest.version) \(download.entries.map { "\($0.serverVersion):\($0.clientVersion)" })"
        case .jsonError(let session, let code, let body): return "json_error \(session) \(code) \(body.action.wireName)"
        default: return "\(message.name) \(message.session ?? 0)"
        }
    }

    @Test(
        .enabled(if: hasRecording("pbs-first-connect-and-resume.ndjson"), "needs the recordings"))
    func firstConnectAndResumeAreAnsweredAsRecorded() throws {
        try replay("pbs-first-connect-and-resume.ndjson") { script in script.realm.salt = 508_627_287_126 }
    }

    @Test(.enabled(if: hasRecording("pbs-client-reset-recover.ndjson"), "needs the recordings"))
    func aClientResetIsAnsweredAsRecorded() throws {
        try replay("pbs-client-reset-recover.ndjson") { script in
            // The recording begins in mid-connection: four versions by others exist.
            script.realm.salt = 792_252_356_701
            script.realm.nextIdent = 4
            script.realm.history = (1...4).map { (version: UInt64) in
                HistoryEntry(
                    serverVersion: ServerVersion(version), clientVersion: ClientVersion(version), originFile: 3,
                    timestamp: 1, changeset: [0])
            }
        }
    }

    /// Feeds each client line; the recorded server's lines in between are compared once the client speaks again.
    private func replay(_ name: String, _ prepare: (inout SessionScript) -> Void) throws {
        var script = SessionScript()
        // Progress without changesets would only be reported later than in the recording.
        script.environment.now = 0
        prepare(&script)
        let parser = ClientMessageParser(mode: .partition)
        let serverParser = ServerMessageParser(mode: .partition)
        var expected: [Int: [String]] = [:]
        var sent: [Int: [String]] = [:]
        var remap: [UInt64: (FileIdent, FileSalt)] = [:]
        var recordedIdents: [(Int, FileIdent, FileSalt)] = []
        for line in try Self.lines(name) {
            guard let bytes = line.bytes, let socket = line.connection else { continue }
            if line.from == "server" {
                let message = try serverParser.parse(bytes)
                if case .ident(_, let file) = message { recordedIdents.append((socket, file.ident, file.salt)) }
                if let gist = Self.gist(message) { expected[socket, default: []].append(gist) }
                continue
            }
            // The recorded client names the ident that the recorded server gave it; ours gave another salt.
            for (socket, ident, _) in recordedIdents {
                let given = script.log.last { entry in
                    guard entry.socket == socket, case .ident = entry.message else { return false }
                    return true
                }
                if case .ident(_, let file)? = given?.message { remap[ident.rawValue] = (file.ident, file.salt) }
            }
            recordedIdents = []
            for entry in script.log {
                if let gist = Self.gist(entry.message) { sent[entry.socket, default: []].append(gist) }
            }
            _ = script.takeLog()
            var message = try parser.parse(bytes)
            if case .ident(var ident) = message, let (file, salt) = remap[ident.file.ident.rawValue] {
                ident.file = ClientFileIdent(ident: file, salt: salt)
                message = .ident(ident)
            }
            try script.client(message, on: socket)
        }
        for entry in script.log {
            if let gist = Self.gist(entry.message) { sent[entry.socket, default: []].append(gist) }
        }
        expectTrue(!expected.isEmpty)
        for socket in expected.keys.sorted() { expectEqual(sent[socket], expected[socket], "connection \(socket)") }
    }
}

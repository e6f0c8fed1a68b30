import Changesets
import Foundation
import LocalCluster
import SyncModel
import SyncProtocol

/// What the scenarios share: the test's app, realms of one partition, users of the stock client.
@MainActor
enum StockScenario {
    static let path = "\"tasks\""

    /// Plays the beginning of `pbs-first-connect-and-resume` up to where client A suspends: A has written the task `a`,
    /// B the task `b`, and both have both.
    static func firstConnect(_ cluster: LocalCluster) async throws -> (player: RecordingPlayer, users: [StockUser]) {
        let users = [try await StockUser(cluster), try await StockUser(cluster)]
        let recording = try Recording("pbs-first-connect-and-resume")
        let player = RecordingPlayer(recording)
        player.users = [4: users[0], 8: users[1], 9: users[0]]
        player.processes = ["A": [4, 9], "B": [8]]
        try await player.play(to: recording.index(of: "unbind 1"))
        return (player, users)
    }

    static func connection(_ player: RecordingPlayer, _ number: Int) throws -> StockConnection {
        guard let connection = player.connections[number] else { throw StockClientError("no connection \(number)") }
        return connection
    }

    static func file(_ player: RecordingPlayer, _ ident: FileIdent) throws -> StockFile {
        guard let file = player.files[ident] else { throw StockClientError("no file \(ident)") }
        return file
    }

    /// A new client realm that has downloaded everything.
    static func newcomer(_ cluster: LocalCluster) async throws -> (connection: StockConnection, file: StockFile) {
        let connection = try await StockUser(cluster).connect()
        let file = StockFile()
        try await connection.download(try await connection.open(path, file))
        return (connection, file)
    }

    /// A changeset that makes a task, as the recorded client writes one.
    static func task(_ id: String, name: String? = nil) -> [UInt8] {
        var changeset = Changeset()
        let table = changeset.strings.intern("Task")
        let key = PrimaryKey.string(changeset.strings.intern(ByteString(id)))
        changeset.instructions.append(.createObject(table: table, object: key))
        if let name {
            let field = changeset.strings.intern("name")
            changeset.instructions.append(
                .update(
                    .init(
                        target: FieldPath(table: table, object: key, field: field), value: .string(ByteString(name)),
                        qualifier: .isDefault(false))))
        }
        return changeset.encoded()
    }

    /// The recorded client's first upload: its schema.
    static func schemaOfTasks() throws -> [UInt8] {
        let recording = try Recording("pbs-first-connect-and-resume")
        guard case .message(let message) = recording.lines[try recording.index(of: "upload 1 0 125")],
            case .upload(let upload) = try ClientMessageParser(mode: .partition).parse(message.bytes),
            let entry = upload.entries.first
        else { throw StockClientError("no schema") }
        return entry.changeset
    }

    // MARK: The operator

    struct Campaign: Decodable {
        struct Counts: Decodable, Equatable {
            var found, notified, recovered, discarded, manual, failed, superseded, pending, unproven: Int
        }
        struct ClientRealm: Decodable {
            struct Report: Decodable {
                struct Changesets: Decodable { var recovered: Int }
                var result: String
                var evidence: String
                var confidence: Double
                var identOld: UInt64
                var identNew: UInt64?
                var changesets: Changesets?
            }
            var partition: String
            var clientFile: UInt64
            var user: String
            var outcome: String
            var report: Report?
        }
        var state: String
        var counts: Counts
        var clientRealms: [ClientRealm]?
    }

    private struct Started: Decodable { var campaign: String }

    /// Terminates sync, and enables it again at once if told so.
    static func terminate(_ cluster: LocalCluster, enable: Bool = true) async throws -> String {
        let arguments = ["sync", "terminate", cluster.app, "--yes", "--json"] + (enable ? ["--enable"] : [])
        return try JSONDecoder().decode(Started.self, from: Data(try await cluster.operate(arguments).utf8)).campaign
    }

    static func campaign(_ id: String, _ cluster: LocalCluster) async throws -> Campaign {
        try await cluster.operateJSON(Campaign.self, "campaigns", "show", id, "--client-realms")
    }

    /// Waits until a client realm of the campaign has this outcome.
    static func outcome(
        _ outcome: String, of file: FileIdent, in campaign: String, _ cluster: LocalCluster
    ) async throws -> Campaign.ClientRealm {
        var realms: [Campaign.ClientRealm] = []
        do {
            return try await StockClientError.within("client file \(file) is \(outcome)", limit: .seconds(90)) {
                realms = try await Self.campaign(campaign, cluster).clientRealms ?? []
                return realms.first { $0.clientFile == file.rawValue && $0.outcome == outcome }
            }
        } catch let error as StockClientError {
            throw StockClientError("\(error); the campaign says \(realms)")
        }
    }
}

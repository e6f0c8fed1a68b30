import AMQP
import Foundation
import Messages
import MessagingSupport
import SyncModel
import TestSupport

/// Stands for the workers: consumes every slice queue, keeps each realm's history in memory, integrates uploads as they
/// come (no merge), answers and notifies as the contracts say.
actor ScriptedOwner {
    private let amqp: AMQPConfiguration
    private let topology: Topology
    private let slices: SliceCount
    private var cluster: TestTopology?
    private var tasks: [Task<Void, Never>] = []
    private var realms: [RealmName: FakeRealm] = [:]
    private(set) var received: [String] = []
    private(set) var unbinds: [UnbindNotice] = []
    /// "bind" and "unbind" of each realm, as they came.
    private(set) var comings: [RealmName: [String]] = [:]
    private(set) var resets: [ResetMessage] = []
    private(set) var uploads: [ChangesetMessage] = []
    private(set) var outcomes: [AMQPMessage] = []
    /// Types of messages that are read and not answered.
    var silent: Set<String> = []

    init(amqp: AMQPConfiguration, topology: Topology, slices: SliceCount) {
        self.amqp = amqp
        self.topology = topology
        self.slices = slices
    }

    /// Rules under which uploads are sent back that were let in by older ones.
    private var newestRules: UInt64 = 0

    func refuse(under version: UInt64) { newestRules = version }

    /// Apps whose uploads are read and not integrated.
    var stuck: Set<String> = []

    func ignore(_ types: Set<String>) { silent = types }
    func leave(_ apps: Set<String>) { stuck = apps }

    func start() async throws {
        let cluster = try await TestTopology.open(topology, slices: slices, amqp: amqp, prefetch: 100)
        self.cluster = cluster
        let channel = cluster.channel
        for slice in slices.all {
            let consumer = try await channel.consume(queue: topology.slice(slice))
            tasks.append(
                Task {
                    while let batch = try? await consumer.nextBatch(max: 50) {
                        for delivery in batch {
                            await self.receive(delivery.message, slice)
                            try? await delivery.ack()
                        }
                    }
                })
        }
        let outcomes = try await channel.consume(queue: topology.outcomes)
        tasks.append(
            Task {
                while let batch = try? await outcomes.nextBatch(max: 50) {
                    for delivery in batch {
                        self.note(outcome: delivery.message)
                        try? await delivery.ack()
                    }
                }
            })
    }

    func stop() async {
        for task in tasks { task.cancel() }
        await cluster?.close()
    }

    private func note(outcome: AMQPMessage) { outcomes.append(outcome) }

    func history(of realm: RealmName) -> [HistoryEntry] { realms[realm]?.history ?? [] }

    /// Adds a version by somebody else without a notice.
    func write(_ changeset: [UInt8], to name: RealmName) {
        var realm = realms[name, default: FakeRealm()]
        realm.history.append(
            HistoryEntry(
                serverVersion: realm.latest.version + 1, clientVersion: 1, originFile: 99, timestamp: 1,
                changeset: changeset))
        realms[name] = realm
    }

    /// Adds a version by somebody else, and tells the gateways.
    func publish(_ changeset: [UInt8], to name: RealmName) async throws {
        let follows = realms[name]?.latest.version ?? 0
        write(changeset, to: name)
        guard let realm = realms[name] else { return }
        let notice = IntegratedNotice(
            realm: name, generation: realm.generation, follows: follows, latest: realm.latest,
            entries: Array(realm.history.dropFirst(Int(follows.rawValue))), acknowledgements: [])
        try await notify(notice, key: name.topicKey)
    }

    // MARK: What comes

    private func receive(_ message: AMQPMessage, _ slice: SliceNumber) async {
        let type = message.properties.type ?? ""
        received.append(type)
        guard !silent.contains(type) else { return }
        do {
            try await handle(type, message, slice)
        } catch {
            received.append("error: \(error)")
        }
    }

    private func handle(_ type: String, _ message: AMQPMessage, _ slice: SliceNumber) async throws {
        switch type {
        case BindRequest.type:
            let request = try message.decode(BindRequest.self)
            comings[request.context.realm, default: []].append("bind")
            var realm = realms[request.context.realm, default: FakeRealm()]
            let file = request.needsClientFile ? realm.allocate() : nil
            realms[request.context.realm] = realm
            try await answer(message, BoundAnswer(generation: realm.generation, slice: slice, clientFile: file))
        case IdentifyRequest.type:
            let request = try message.decode(IdentifyRequest.self)
            guard let realm = realms[request.context.realm],
                realm.salts[request.clientFile.ident] == request.clientFile.salt
            else {
                return try await answer(
                    message,
                    RefusedAnswer(
                        realm: request.context.realm, session: request.context.session, code: 208,
                        action: "ClientReset",
                        message: "bad client file ident", tryAgain: false, clientFile: request.clientFile.ident,
                        campaign: "c1"))
            }
            try await answer(
                message,
                IdentifiedAnswer(
                    generation: realm.generation, upload: realm.uploads[request.clientFile.ident] ?? UploadCursor(),
                    lockedServerVersion: 0, latest: realm.latest))
        case PageRequest.type:
            let request = try message.decode(PageRequest.self)
            guard let realm = realms[request.context.realm] else { return }
            try await answer(message, realm.page(for: request.clientFile, after: request.after, maxEntries: 2))
        case ChangesetMessage.type:
            let upload = try message.decode(ChangesetMessage.self)
            uploads.append(upload)
            guard !stuck.contains(upload.realm.app) else { return }
            if let claim = upload.upload, let rights = claim.rights, rights.rulesVersion < newestRules {
                let refusal = RefusedAnswer(
                    realm: upload.realm, session: claim.session, code: 200, action: "Transient",
                    message: "the rules have changed", tryAgain: true, rulesVersion: newestRules)
                let message = try AMQPMessage(refusal, persistent: false)
                try await cluster?.channel.publish(
                    message, exchange: "", routingKey: topology.gateway(claim.session.gateway))
                return
            }
            var realm = realms[upload.realm, default: FakeRealm()]
            let notice = realm.integrate(upload)
            realms[upload.realm] = realm
            if let notice { try await notify(notice, key: upload.realm.topicKey) }
        case ResetMessage.type:
            let reset = try message.decode(ResetMessage.self)
            resets.append(reset)
            let notice = ResetNotice(
                app: reset.realm.app, partition: reset.realm.partition, slice: slice, generation: 1,
                clientFile: reset.clientFile, campaign: "c2", code: 217, message: "the client asked for it")
            try await notify(notice, key: ResetNotice.topicKey(app: reset.realm.app))
        case UnbindNotice.type:
            let notice = try message.decode(UnbindNotice.self)
            comings[notice.realm, default: []].append("unbind")
            unbinds.append(notice)
        default: break
        }
    }

    private func answer(_ request: AMQPMessage, _ answer: some Message) async throws {
        guard let queue = request.properties.replyTo else { return }
        let message = try AMQPMessage(answer, correlationID: request.properties.correlationID, persistent: false)
        try await cluster?.channel.publish(message, exchange: "", routingKey: queue)
    }

    /// Publishes a notice as a worker does.
    func notify(_ notice: some Message, key: String) async throws {
        try await cluster?.channel.publish(
            try AMQPMessage(notice, persistent: false), exchange: topology.realms, routingKey: key)
    }
}

/// A realm of the scripted owner.
struct FakeRealm: Sendable {
    var generation: UInt64 = 1
    var salt: VersionSalt = 77
    var history: [HistoryEntry] = []
    var uploads: [FileIdent: UploadCursor] = [:]
    var salts: [FileIdent: FileSalt] = [:]
    var nextIdent: FileIdent = 2

    var latest: SaltedServerVersion {
        SaltedServerVersion(version: ServerVersion(UInt64(history.count)), salt: history.isEmpty ? 0 : salt)
    }

    mutating func allocate(ident: FileIdent? = nil, salt: FileSalt? = nil) -> ClientFileIdent {
        let file = ClientFileIdent(ident: ident ?? nextIdent, salt: salt ?? FileSalt(.random(in: 1...(1 << 62))))
        nextIdent = FileIdent(max(nextIdent, file.ident).rawValue + 1)
        salts[file.ident] = file.salt
        return file
    }

    func page(for file: FileIdent, after: DownloadCursor, maxEntries: Int) -> PageAnswer {
        var cursor = after
        var entries: [HistoryEntry] = []
        for entry in history.dropFirst(Int(after.serverVersion.rawValue)).prefix(maxEntries) {
            cursor.serverVersion = entry.serverVersion
            if entry.originFile == file {
                cursor.clientVersion = max(cursor.clientVersion, entry.clientVersion)
            } else if !entry.changeset.isEmpty {
                var entry = entry
                entry.clientVersion = cursor.clientVersion
                entries.append(entry)
            }
        }
        return PageAnswer(
            generation: generation, after: after, entries: entries, download: cursor, latest: latest,
            upload: uploads[file] ?? UploadCursor(), downloadableBytes: 0)
    }

    /// Nil for a gap.
    mutating func integrate(_ message: ChangesetMessage) -> IntegratedNotice? {
        guard let upload = message.upload else { return nil }
        let recorded = uploads[upload.clientFile] ?? UploadCursor()
        guard upload.follows <= recorded.clientVersion else { return nil }
        let follows = latest.version
        for entry in message.entries where entry.clientVersion > recorded.clientVersion {
            history.append(
                HistoryEntry(
                    serverVersion: latest.version + 1, clientVersion: entry.clientVersion,
                    originFile: upload.clientFile, timestamp: entry.timestamp, changeset: entry.changeset))
        }
        if upload.progress.clientVersion > recorded.clientVersion { uploads[upload.clientFile] = upload.progress }
        return IntegratedNotice(
            realm: message.realm, generation: generation, follows: follows, latest: latest,
            entries: Array(history.dropFirst(Int(follows.rawValue))),
            acknowledgements: [.init(clientFile: upload.clientFile, upload: uploads[upload.clientFile] ?? recorded)])
    }
}

import AMQP
import Changesets
import Foundation
import Logging
import Messages
import RealmState
import Storage
import StorageSQLite
import SyncModel
import Synchronization
import Testing

@testable import Worker

/// A slice's owner over a store in memory, spoken to as gateways and the coordinator do.
final class OwnerHarness: Sendable {
    static let app = "tasks"
    let realm: RealmName
    let control: any ControlStore
    let apps: FragileApps
    let store: any SliceStore
    let owner: SliceOwner
    let time: Time
    /// Whether messages are dealt with in turns, as a running worker does, so that merges may go on beside the slice.
    let takesTurns: Bool
    /// The version of the app's rules by which sessions are let in.
    let rulesVersion = Mutex<UInt64>(0)
    /// The notices of a flexible realm that nobody has taken.
    private let notices = Mutex<[IntegratedNotice]>([])

    private init(
        realm: RealmName, control: any ControlStore, apps: FragileApps, store: any SliceStore, owner: SliceOwner,
        time: Time, takesTurns: Bool
    ) {
        self.realm = realm
        self.control = control
        self.apps = apps
        self.store = store
        self.owner = owner
        self.time = time
        self.takesTurns = takesTurns
    }

    /// - Parameter known: what the process knows of apps already; else it asks the control store each time.
    static func make(
        limits: WorkerLimits = WorkerLimits(), on store: (any SliceStore)? = nil,
        control given: (any ControlStore)? = nil,
        apps known: AppDirectory? = nil, merges: AsidePool = AsidePool(), looks: AsidePool = AsidePool(),
        realm: RealmName = RealmName(app: OwnerHarness.app, partition: "\"store\""), takesTurns: Bool = false,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) async throws -> OwnerHarness {
        let control: any ControlStore
        if let given {
            control = given
        } else {
            control = try await SQLiteStores.inMemory().control()
            try await control.insert(
                AppRecord(id: app, syncMode: realm.isFlexible ? .flexible : .partition, createdAt: 0))
        }
        let apps = FragileApps(control)
        let opened: any SliceStore
        if let store {
            opened = store
        } else {
            opened = try await SQLiteStores.inMemory().store(for: SliceNumber(0))
        }
        let time = Time(1_800_000_000_000)
        let claim = try await opened.claim(
            by: "w-\(UUID())", now: time.now(), leaseUntil: time.now() + 1, gone: try await opened.ownership()?.owner)
        guard case .owned(let epoch) = claim else { throw WorkerError(.corrupt, "not owned: \(claim)") }
        let owner = SliceOwner(
            store: opened, epoch: epoch, apps: known ?? AppDirectory(store: apps, lifetime: .zero),
            topology: Topology(),
            limits: limits, merges: merges, looks: looks, clock: WorkerClock(now: time.now, uptime: time.now),
            logger: logger)
        return OwnerHarness(
            realm: realm, control: control, apps: apps, store: opened, owner: owner, time: time,
            takesTurns: takesTurns)
    }

    final class Time: Sendable {
        private let value: Mutex<UInt64>
        init(_ value: UInt64) { self.value = Mutex(value) }
        func now() -> UInt64 { value.withLock { $0 } }
        func advance(_ by: UInt64) { value.withLock { $0 += by } }
    }

    // MARK: Speaking

    @discardableResult
    func send(_ messages: [AMQPMessage]) async throws -> Published {
        let publications = takesTurns ? try await turns(messages) : try await owner.process(messages)
        await owner.arrived(publications)
        let published = Published(publications)
        if realm.isFlexible {
            let new = try published.every(IntegratedNotice.self)
            notices.withLock { $0 += new }
        }
        return published
    }

    private func turns(_ messages: [AMQPMessage]) async throws -> [Publication] {
        var waiting = await owner.read(messages)
        var publications: [Publication] = []
        while !waiting.isEmpty {
            let turn = try await owner.deal(with: waiting)
            publications += turn.publications
            if turn.isIdle { try await Task.sleep(for: .milliseconds(1)) }
            waiting = turn.left.map { waiting[$0] }
            time.advance(20)
        }
        return publications
    }

    func takeNotices() -> [IntegratedNotice] {
        notices.withLock { notices in
            defer { notices = [] }
            return notices
        }
    }

    /// - Parameter waits: whether the sender waits for an answer; nil: as gateways do, and publishers of changesets do not.
    @discardableResult
    func send(
        _ message: some Message, id: String = UUID().uuidString, waits: Bool? = nil
    ) async throws -> Published {
        let replyTo = waits ?? !(message is ChangesetMessage) ? "sluice.gateway.g" : nil
        return try await send([AMQPMessage(message, id: id, correlationID: "c", replyTo: replyTo)])
    }

    /// Goes on with what is to be done between messages until nothing is left.
    @discardableResult
    func finishJobs() async throws -> Published {
        var all: [Publication] = []
        while await owner.hasJobs {
            let made = try await owner.goOnWithJobs(for: .zero)
            await owner.arrived(made)
            all += made
        }
        return Published(all)
    }

    func context(
        _ session: UInt64, realm: RealmName? = nil, rights: SessionRights? = .all
    ) -> RequestContext {
        RequestContext(
            realm: realm ?? self.realm, session: SessionReference(gateway: "g", number: session),
            sentAt: time.now(), patience: 10_000, rights: rights == .all ? self.rights : rights)
    }

    /// The rights to read and write, by the rules that sessions are let in by.
    var rights: SessionRights { SessionRights(.readWrite, rulesVersion: rulesVersion.withLock { $0 }) }

    func bindRequest(
        session: UInt64, user: String = "u", connection: String = "c1", needsIdent: Bool = true
    ) -> BindRequest {
        BindRequest(
            context: context(session), user: user, connection: connection, needsClientFile: needsIdent,
            sessionReason: 0, protocolVersion: 10, userAgent: "test")
    }

    /// A new client file, bound and identified.
    func join(session: UInt64, user: String = "u", connection: String = "c1") async throws -> ClientFileIdent {
        let bound = try await send(bindRequest(session: session, user: user, connection: connection)).one(
            BoundAnswer.self)
        let file = try #require(bound.clientFile)
        _ = try await identify(file, session: session, user: user).one(IdentifiedAnswer.self)
        return file
    }

    func identifyRequest(
        _ file: ClientFileIdent, session: UInt64, user: String = "u", download: DownloadCursor = DownloadCursor(),
        latest: SaltedServerVersion = SaltedServerVersion(version: 0, salt: 0)
    ) -> IdentifyRequest {
        IdentifyRequest(context: context(session), user: user, clientFile: file, download: download, latest: latest)
    }

    /// Identifies a session as a gateway does that waits for the answer: the gateway confirms when it is asked.
    func identify(
        _ file: ClientFileIdent, session: UInt64, user: String = "u", download: DownloadCursor = DownloadCursor(),
        latest: SaltedServerVersion = SaltedServerVersion(version: 0, salt: 0)
    ) async throws -> Published {
        var request = identifyRequest(file, session: session, user: user, download: download, latest: latest)
        let answer = try await send(request)
        guard let asked = try answer.every(ConfirmAnswer.self).first else { return answer }
        request.confirms = asked.question
        return try await send(request)
    }

    /// A further session of a client file: bound, then identified.
    func rejoin(
        _ file: ClientFileIdent, session: UInt64, user: String = "u", download: DownloadCursor = DownloadCursor(),
        latest: SaltedServerVersion = SaltedServerVersion(version: 0, salt: 0)
    ) async throws -> Published {
        _ = try await send(bindRequest(session: session, user: user, needsIdent: false)).one(BoundAnswer.self)
        return try await identify(file, session: session, user: user, download: download, latest: latest)
    }

    func upload(
        _ file: ClientFileIdent, session: UInt64 = 1, follows: ClientVersion = 0, base: ServerVersion = 0,
        generation: UInt64 = 1,
        first: ClientVersion? = nil, timestamp: SyncTimestamp = 1_000, rights: SessionRights? = .all,
        _ changesets: [[UInt8]]
    ) -> ChangesetMessage {
        let first = first ?? follows + 1
        let entries = changesets.enumerated().map { index, bytes in
            UploadedChangeset(
                clientVersion: first + UInt64(index), serverVersion: base,
                timestamp: SyncTimestamp(timestamp.rawValue + UInt64(index)),
                changeset: bytes)
        }
        return ChangesetMessage(
            realm: realm,
            upload: .init(
                session: SessionReference(gateway: "g", number: session), clientFile: file.ident,
                generation: generation, follows: follows,
                progress: UploadCursor(clientVersion: entries.last?.clientVersion ?? follows, serverVersion: base),
                lockedServerVersion: base, rights: rights), entries: entries)
    }

    func page(
        _ file: ClientFileIdent, session: UInt64 = 1, after: DownloadCursor = DownloadCursor(), generation: UInt64 = 1,
        maxBytes: Int = 1 << 18, isMark: Bool = false
    ) async throws -> Published {
        try await send(
            PageRequest(
                context: context(session), clientFile: file.ident, generation: generation, after: after,
                maxBytes: maxBytes, isMark: isMark))
    }

    func unbind(
        _ file: ClientFileIdent?, session: UInt64, user: String = "u", connection: String = "c1",
        wasRefused: Bool = false
    ) async throws -> Published {
        try await send(
            UnbindNotice(
                realm: realm, session: SessionReference(gateway: "g", number: session), user: user,
                connection: connection, clientFile: file?.ident, isOrderly: true, wasRefused: wasRefused))
    }

    /// The realm's objects as the store has them, title by key.
    func titles() async throws -> [Int64: String] {
        let record = try #require(try await store.realm(realm))
        let schema = try Schema(decoding: record.schema)
        var titles: [Int64: String] = [:]
        for (row, body) in try await store.objects(in: record.id, after: nil, maxBytes: .max) {
            guard case .int(let key) = row.key, let table = schema.table(TableID(rawValue: row.table)),
                let column = table.columns.first(where: { $0.name == "title" })
            else { continue }
            if case .string(let title) = try StoredObject(decoding: body)[column] { titles[key] = title.string }
        }
        return titles
    }
}

/// What a batch published.
struct Published {
    var all: [Publication]
    init(_ all: [Publication]) { self.all = all }

    func every<M: Message>(_ type: M.Type) throws -> [M] {
        try all.filter { $0.message.properties.type == M.type }.map { try $0.message.decode(type) }
    }

    func one<M: Message>(_ type: M.Type) throws -> M {
        let found = try every(type)
        let types = all.map { $0.message.properties.type ?? "?" }
        let refusals = (try? every(RefusedAnswer.self).map { "\($0.code) \($0.message)" }) ?? []
        return try #require(found.count == 1 ? found.first : nil, "published \(types) \(refusals)")
    }

    var dead: [AMQPMessage] { all.filter { $0.target == .dead }.map(\.message) }
}

import SyncModel
import SyncProtocol

@testable import Worker

/// A client that sends as fast as it can: what it has, what it has asked for, and what it sends next.
struct QuickClient {
    private typealias Items = FlexibleItems

    /// What a subscription set selects.
    struct Wish {
        var owners: Set<Int64>
        var minA: Int64?

        var text: String { FlexibleItems.query(owners, minA: minA) }
        func selects(_ item: FlexibleItems.Item) -> Bool { owners.contains(item.owner) && item.a >= minA ?? .min }
    }
    /// What it has subscribed to, and how far it had written by then.
    typealias Sets = [(version: UInt64, wish: Wish, snapshot: ClientVersion)]

    let index: Int
    /// Whether the user may read and write everything. Those of wild clients may not always.
    private(set) var isAdmin = true
    private(set) var copy: FlexibleCopy?
    private(set) var sets: Sets = []
    /// While it resets, its session is about a fresh copy, once that has an ident.
    private(set) var isResetting = false
    private var fresh: FlexibleCopy?
    private var freshSets: Sets = []
    /// How often it has lost its connection.
    private(set) var connections = 0
    private var askedFor: UInt64 = 0
    private var markTarget: UInt64 = 0
    private var markSent: UInt64 = 0
    private var markReceived: UInt64 = 0
    private var mayUpload = false
    private var keys: Int64 = 0

    init(index: Int) { self.index = index }

    var wish: Wish { sets.last?.wish ?? Wish(owners: []) }
    var isUpToDate: Bool { copy?.active.version == sets.last?.version ?? 0 }
    /// Whether its session is about a file that has an ident.
    var hasIdent: Bool { synced != nil }

    /// The file that its session is about, and what is asked for in that.
    private var synced: FlexibleCopy? {
        get { isResetting ? fresh : copy }
        set { if isResetting { fresh = newValue } else { copy = newValue } }
    }
    private var syncedSets: Sets { isResetting ? freshSets : sets }

    // MARK: The user

    mutating func toggleAdmin() { isAdmin.toggle() }

    /// A key that no other client uses.
    mutating func nextKey() -> Int64 {
        keys += 1
        return Int64(index + 1) * 1_000 + keys
    }

    mutating func wrote(_ changed: FlexibleCopy) { copy = changed }

    mutating func subscribe(to wish: Wish) {
        guard let copy else { return }
        sets.append((version: UInt64(sets.count + 1), wish: wish, snapshot: copy.newest))
    }

    // MARK: Its session

    /// The session begins on a connection.
    mutating func bound() { markSent = markReceived }

    /// The connection is lost.
    /// - Parameter forLong: whether it is not back at once, so that it waits for what the server has before it uploads.
    mutating func lostConnection(forLong: Bool) {
        connections += 1
        guard forLong else { return }
        mayUpload = false
        markTarget = markReceived + 1
    }

    /// What it says with its ident.
    mutating func ident() -> Ident? {
        guard var copy = synced else { return nil }
        copy.comeAgain()
        synced = copy
        askedFor = copy.active.version
        let set = QuerySet(version: QueryVersion(copy.active.version), text: copy.active.queries)
        return Ident(
            session: 1, file: copy.file, download: copy.progress.download, latest: copy.progress.latest, query: set)
    }

    /// The next message, of all that there is to send, in the order in which clients send.
    mutating func nextMessage() -> ClientMessage? {
        guard var copy = synced else { return nil }
        if markTarget > markSent {
            markSent = markTarget
            return .mark(session: 1, request: RequestIdent(markTarget))
        }
        guard mayUpload || isResetting else { return nil }
        let next = syncedSets.first { $0.version > askedFor }
        if !isResetting, copy.scanned < next?.snapshot ?? copy.newest {
            let upload = copy.upload(through: next?.snapshot ?? copy.newest)
            synced = copy
            if let upload { return .upload(upload) }
        }
        guard let next else { return nil }
        askedFor = next.version
        markTarget += 1
        let set = QuerySet(version: QueryVersion(next.version), text: next.wish.text)
        return .query(SyncProtocol.Query(session: 1, query: set))
    }

    // MARK: What it is sent

    /// A new file, of the client itself or of its fresh copy.
    mutating func identified(_ file: ClientFileIdent, roles: String, schema: [UInt8]) throws {
        var copy = FlexibleCopy(file: file, roles: roles)
        if !isResetting { try copy.make(schema, at: 1) }
        synced = copy
        markTarget += 1
    }

    mutating func receive(_ download: Download) throws {
        let known = syncedSets.map { ($0.version, $0.wish.text) }
        try synced?.receive(download, Dictionary(uniqueKeysWithValues: known + [(0, "{}")]))
    }

    mutating func reachedMark(_ request: RequestIdent) {
        markReceived = request.rawValue
        mayUpload = true
    }

    /// An error has ended its session.
    mutating func sessionFailed() { synced?.forgetStored() }

    // MARK: Resets

    /// Makes a fresh copy, for the set in force.
    mutating func beginReset() {
        fresh = nil
        markTarget = markReceived
        guard let copy else { return }
        isResetting = true
        freshSets = sets.filter { $0.version == copy.active.version }.map { (version: 1, wish: $0.wish, snapshot: 0) }
    }

    /// Whether the fresh copy is complete.
    var canRecover: Bool {
        isResetting && copy != nil && fresh != nil && markReceived == markTarget
            && fresh?.active.version == freshSets.last?.version ?? 0
    }

    /// What was not acknowledged is recovered onto the fresh copy.
    mutating func recover() throws {
        guard let old = copy, let fresh else { return }
        copy = try old.recovered(onto: fresh)
        isResetting = false
        self.fresh = nil
        mayUpload = true
    }
}

import Logging
import Operations
import Storage
import SyncModel

/// Has every client file of one realm reset: marks all live ones, once for a campaign, then reports them and has their sessions told.
///
/// A realm of many client files is gone through by a job (`SliceJob`). Only its marks are stored: the message that
/// asks for the reset waits meanwhile, and begins again with an owner that knows nothing of them.
struct RealmReset: SlicePart {
    let work: SliceWork

    /// Marks all of the realm's live client files.
    ///
    /// - Returns: whether they are reported, too.
    /// - Throws: `WaitsForJob` if they are too many for one message; the reset becomes a job.
    func mark(_ context: RealmContext, for request: ResetRequest) async throws -> Bool {
        if work.memory.realmResets.takeFinished(request) { return true }
        guard work.memory.realmResets[request] == nil else { throw WaitsForJob() }
        let isMarked = try await store.isSeen(messageID: request.pass)
        guard try await store.countClientFiles(in: request.realm) > limits.termination.atOnce else {
            var run = RealmResetRun(request: request)
            while !isMarked, run.phase == .marking { try await mark(&run, context, limit: limits.maxFoundPerReport) }
            return false
        }
        work.memory.realmResets.keep(
            RealmResetRun(request: request, phase: isMarked ? .reporting(chunk: 0, chunks: nil) : .marking))
        logger.info(
            "all client files of a realm are reset in steps",
            metadata: .about(context.name, campaign: request.campaign))
        throw WaitsForJob()
    }

    /// Takes one step of the reset that has begun first.
    ///
    /// - Returns: whether there was anything to do.
    func step() async throws -> Bool {
        guard var run = work.memory.realmResets.first else { return false }
        let context = try await work.storedRealm(run.request.name)
        guard let context, context.record.id == run.request.realm else {
            // Erased meanwhile, with its client files; its message finds that out for itself.
            work.memory.realmResets.forget(run.request)
            return true
        }
        switch run.phase {
        case .marking: try await mark(&run, context, limit: limits.termination.rowsPerStep)
        case .reporting(let chunk, let chunks): try await report(&run, chunk, of: chunks)
        case .finished: break
        }
        if run.phase == .finished {
            work.memory.realmResets.finish(run.request)
        } else {
            work.memory.realmResets.keep(run)
        }
        return true
    }

    private func mark(_ run: inout RealmResetRun, _ context: RealmContext, limit: Int) async throws {
        let limit = max(1, limit)
        let files = try await store.clientFiles(
            in: run.request.realm, state: .live, after: run.last?.ident ?? 0, limit: limit)
        // Some client files may belong to a termination already, although it has not come to their rows.
        Resets(work: work).mark(
            files.filter { work.marked($0, of: context.name.app).state == .live }, in: context,
            campaign: run.request.campaign)
        run.last = files.last?.key ?? run.last
        if files.count < limit {
            work.stage { [pass = run.request.pass] in $0.seenMessages.append(pass) }
            run.phase = .reporting(chunk: 0, chunks: nil)
            run.last = nil
        }
        try await work.flush()
    }

    private func report(_ run: inout RealmResetRun, _ chunk: Int, of known: Int?) async throws {
        let chunks = if let known { known } else { try await reports(of: run.request.campaign) }
        run.last = try await Resets(work: work).report(
            run.request.found, chunk: chunk, of: chunks, after: run.last)
        run.phase = chunk + 1 < chunks ? .reporting(chunk: chunk + 1, chunks: chunks) : .finished
        try await work.flush()
    }
}

/// The request of a message to have all client files of a realm reset.
struct ResetRequest {
    var name: RealmName
    var realm: RealmID
    /// The campaign, as its reports name it.
    var found: FoundCampaign

    var campaign: String { found.campaign }
    /// Tells the request from others, and stands in the store for the marks: client files that are made later have nothing to do
    /// with the campaign.
    var pass: String { "reset \(campaign) of realm \(realm)" }
}

/// How far the reset of all client files of a realm has come.
struct RealmResetRun {
    enum Phase: Equatable {
        case marking
        case reporting(chunk: Int, chunks: Int?)
        case finished
    }

    let request: ResetRequest
    var phase = Phase.marking
    /// The last client file that was marked, or reported.
    var last: ClientFileKey?
}

/// The resets of a slice's large realms that go in steps, in the order in which they began. Each has a message that waits for it, so
/// they are no more than messages that an owner holds.
struct OpenRealmResets {
    private var open: [RealmResetRun] = []
    /// The finished resets whose messages have not been told yet. A message whose reset is not among them has its client files
    /// reported once more.
    private var finished: [String] = []
    private static let maxFinished = 100

    var isEmpty: Bool { open.isEmpty }
    var first: RealmResetRun? { open.first }

    subscript(request: ResetRequest) -> RealmResetRun? { open.first { $0.request.pass == request.pass } }

    mutating func keep(_ run: RealmResetRun) { open.put(run) { $0.request.pass == run.request.pass } }

    mutating func forget(_ request: ResetRequest) { open.removeAll { $0.request.pass == request.pass } }

    mutating func finish(_ request: ResetRequest) {
        forget(request)
        finished.append(request.pass)
        if finished.count > Self.maxFinished { finished.removeFirst() }
    }

    /// Whether the reset has gone through all of its steps; this tells its message, once.
    mutating func takeFinished(_ request: ResetRequest) -> Bool {
        guard let index = finished.firstIndex(of: request.pass) else { return false }
        finished.remove(at: index)
        return true
    }
}

import Logging
import Messages
import Storage
import SyncModel

/// Marks and reports the client files of a large termination: a job (`SliceJob`).
///
/// The app's new generation is there from the first commit on. Client files that are not marked yet are taken for marked wherever
/// they are read (`SliceWork.marked`), so that their clients are told at once.
struct TerminationRun: SlicePart {
    let work: SliceWork

    /// Reads what an owner before has left to do.
    func load() async throws {
        guard !work.memory.terminations.isLoaded else { return }
        work.memory.terminations = OpenTerminations(try await store.terminationSteps())
    }

    /// Whether a termination of the app is too much for one message, and becomes a job.
    func isLarge(_ app: String) async throws -> Bool {
        try await store.usage(ofApp: app).clientFiles > limits.termination.atOnce
    }

    /// Whether the reports of a campaign are too many for one message.
    func isLarge(campaign: String) async throws -> Bool {
        try await store.countClientFiles(campaign: campaign) > limits.termination.atOnce
    }

    /// Begins the steps with the next commit.
    ///
    /// - Parameter isMarked: only the reports are to be made, once more.
    func begin(_ generation: AppGenerationRecord, campaign: String, isMarked: Bool) async throws {
        let steps = TerminationSteps(
            app: generation.app, generation: generation.generation, campaign: campaign, isMarked: isMarked)
        work.stage { $0.terminationSteps.append(steps) }
        try await work.flush()
        work.memory.terminations.keep(steps)
    }

    /// Takes one step.
    ///
    /// - Returns: whether there was anything to do.
    func step() async throws -> Bool {
        guard let steps = work.memory.terminations.first else { return false }
        if steps.isMarked {
            try await report(steps)
        } else {
            work.memory.terminations.keep(
                try await store.mark(
                    steps, limit: max(1, limits.termination.rowsPerStep), epoch: work.environment.epoch))
        }
        return true
    }

    /// Reports the next part of the campaign's client files.
    private func report(_ before: TerminationSteps) async throws {
        var steps = before
        let chunks = if let known = steps.chunks { known } else { try await reports(of: steps.campaign) }
        steps.chunks = chunks
        let files = try await store.clientFiles(campaign: steps.campaign, after: steps.last, limit: foundPerReport)
        let report = FoundReport(
            kind: TerminationMessage.type, campaign: steps.campaign, app: steps.app, slice: slice,
            generation: steps.generation, reason: try await store.reason(campaign: steps.campaign),
            chunk: steps.reported, chunks: chunks, clientRealms: FoundReport.ClientRealm.found(files))
        try work.reportOnce(report)
        for file in files { try await inference.overtake(file.record, of: file.name, by: steps.campaign) }
        steps.last = files.last?.record.key ?? steps.last
        steps.reported += 1
        let isOver = steps.reported >= chunks
        work.stage { [steps] in
            if isOver { $0.terminationStepsDone.append(steps.campaign) } else { $0.terminationSteps.append(steps) }
        }
        try await work.flush()
        guard isOver else { return work.memory.terminations.keep(steps) }
        work.memory.terminations.forget(steps.campaign)
        logger.info(
            "all client files of a termination are marked and reported",
            metadata: ["app": "\(steps.app)", "campaign": "\(steps.campaign)", "reports": "\(chunks)"])
    }
}

/// The terminations of a slice that go in steps, in the order in which they began: at most one of an app.
struct OpenTerminations {
    private var open: [TerminationSteps]
    /// The terminations that an owner before has left were read.
    let isLoaded: Bool

    /// - Parameter stored: nil before it was read.
    init(_ stored: [TerminationSteps]? = nil) {
        open = stored ?? []
        isLoaded = stored != nil
    }

    var isEmpty: Bool { open.isEmpty }
    var first: TerminationSteps? { open.first }

    subscript(app: String) -> TerminationSteps? { open.first { $0.app == app } }

    mutating func keep(_ steps: TerminationSteps) { open.put(steps) { $0.campaign == steps.campaign } }

    mutating func forget(_ campaign: String) { open.removeAll { $0.campaign == campaign } }
}

extension SliceWork {
    /// The row as it is once the steps of a termination have come to it.
    func marked(_ file: ClientFileRecord, of app: String) -> ClientFileRecord {
        guard let steps = memory.terminations[app], steps.hasYetToMark(file) else { return file }
        var file = file
        (file.state, file.campaign) = (.resetRequired, steps.campaign)
        return file
    }

    /// - Throws: `WaitsForJob` while a termination of the app goes in steps: whatever else has its client files reset, or takes
    ///   them away, comes after that, so that each of them is found by each campaign that reaches it.
    func requireNoTermination(of app: String) throws {
        guard memory.terminations[app] == nil else { throw WaitsForJob() }
    }
}

extension FoundReport.ClientRealm {
    /// Returns those of a campaign's client files that a client may come back with. Should a client come back with another one, it is
    /// told of the campaign all the same, and counts from its first report on.
    static func found(_ files: [ListedClientFile]) -> [Self] {
        files.filter(\.record.isInUse).map { file in
            Self(
                partition: file.name.partition, clientFile: file.record.ident, user: file.record.user,
                lastSeen: file.record.lastSeen)
        }
    }
}

/// How much of a termination goes at once.
package struct TerminationLimits: Sendable {
    /// An app with no more client files in the slice is dealt with by the message itself.
    package var atOnce = 2_000
    /// Client files that one commit marks.
    package var rowsPerStep = 500
}

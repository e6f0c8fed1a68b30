import Logging

/// The kinds of jobs: what an owner does between messages, since it would take too long with any one of them. Each goes on in steps; a step is a
/// commit of bounded size, after which another message may be dealt with, or another owner may go on.
enum SliceJob: String, CaseIterable {
    /// Marks and reports the client files of a large termination.
    case termination
    /// Begins a large realm's history anew.
    case restart
    /// Marks and reports the client files of a large realm.
    case reset
    /// Fills a flexible realm's indexes.
    case indexes
    /// Lets go of before images that nobody needs.
    case images
    /// Gives room back to the file system.
    case space
    /// Deletes what was erased.
    case erasure

    /// Whether something may be left to be done.
    func isPending(_ memory: SliceMemory) -> Bool {
        switch self {
        case .termination: !memory.terminations.isLoaded || !memory.terminations.isEmpty
        case .restart: !memory.restarts.isEmpty
        case .reset: !memory.realmResets.isEmpty
        case .indexes: !memory.indexes.isEmpty
        case .images: !memory.trims.isEmpty
        case .space: memory.compaction.isReclaiming
        case .erasure: memory.erasure.isBehind
        }
    }

    /// Takes one step.
    ///
    /// - Returns: whether there was anything to do.
    func step(_ work: SliceWork) async throws -> Bool {
        switch self {
        case .termination: try await TerminationRun(work: work).step()
        case .restart: try await RealmRestart(work: work).step()
        case .reset: try await RealmReset(work: work).step()
        case .indexes: try await IndexFilling(work: work).step()
        case .images: try await ImageTrimming(work: work).step()
        case .space: try await Compaction(work: work).reclaimStep()
        case .erasure: try await ErasureJob(work: work).step()
        }
    }
}

/// Goes on with an owner's jobs, one step of each after the other, so that none waits for another.
struct SliceJobs: SlicePart {
    let work: SliceWork

    /// Whether any job may have something left to do.
    static func arePending(_ memory: SliceMemory) -> Bool {
        SliceJob.allCases.contains { $0.isPending(memory) }
    }

    /// Takes steps until nothing is left to do or the time is over; a round of them at least.
    func go(on time: Duration) async throws {
        let deadline = ContinuousClock.now + time
        while try await goOneRound(), ContinuousClock.now < deadline {}
    }

    /// Takes one step of each job.
    ///
    /// - Returns: whether there was anything to do.
    func goOneRound() async throws -> Bool {
        var goesOn = false
        for job in SliceJob.allCases where job.isPending(work.memory) {
            guard try await job.step(work) else { continue }
            logger.trace("job took a step", metadata: ["job": "\(job.rawValue)"])
            goesOn = true
        }
        return goesOn
    }
}

extension Array {
    /// Puts an element in another one's place, or at the end if that is not there.
    mutating func put(_ element: Element, inPlaceOf isFormer: (Element) -> Bool) {
        if let index = firstIndex(where: isFormer) { self[index] = element } else { append(element) }
    }
}

/// Says that the message in hand cannot be dealt with before a job has come further. Nothing was done for it.
struct WaitsForJob: Error {}

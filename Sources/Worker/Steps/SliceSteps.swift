/// What an owner does between messages, since it would take too long with any one of them: marking and reporting the client files
/// of large terminations and of large realms' resets, restarting large realms, deleting what was erased, filling indexes, letting go of before
/// images that nobody needs, giving room back to the file system.
///
/// Each step is a commit of bounded size, after which another message may be dealt with, or another owner may go on.
struct SliceSteps: SlicePart {
    let work: SliceWork

    /// Whether something may be left to be done.
    static func isPending(_ memory: SliceMemory) -> Bool {
        memory.erasure.isBehind || !memory.terminations.isLoaded || !memory.terminations.isEmpty
            || !memory.restarts.isEmpty || !memory.realmResets.isEmpty || !memory.indexes.isEmpty
            || !memory.trims.isEmpty || memory.compaction.isReclaiming
    }

    /// Takes steps until nothing is left to do or the time is over; a round of them at least.
    func go(on time: Duration) async throws {
        let deadline = ContinuousClock.now + time
        while try await goOneRound(), ContinuousClock.now < deadline {}
    }

    /// Takes one step of each kind, so that none waits for another.
    ///
    /// - Returns: whether there was anything to do.
    func goOneRound() async throws -> Bool {
        let terminations = try await TerminationRun(work: work).step()
        let restarts = try await RealmRestart(work: work).step()
        let resets = try await RealmReset(work: work).step()
        let indexes = try await IndexFilling(work: work).step()
        let trims = try await ImageTrimming(work: work).step()
        let reclaims = try await Compaction(work: work).reclaimStep()
        var erasures = false
        if work.memory.erasure.isBehind {
            erasures = try await ErasureSteps(work: work).step()
            work.memory.erasure.isBehind = erasures
        }
        return terminations || restarts || resets || indexes || trims || reclaims || erasures
    }
}

extension Array {
    /// Puts an element in another one's place, or at the end if that is not there.
    mutating func put(_ element: Element, inPlaceOf isFormer: (Element) -> Bool) {
        if let index = firstIndex(where: isFormer) { self[index] = element } else { append(element) }
    }
}

/// Says that the message in hand cannot be dealt with before what goes in steps has come further. Nothing was done for it.
struct WaitsForSteps: Error {}

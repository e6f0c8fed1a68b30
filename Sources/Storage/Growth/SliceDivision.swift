package import SyncModel

/// Gives a cluster more slices: fills new ones with the realms that go there, compares them with what they were copied from, then
/// has the cluster count them, and takes out of the old slices what has moved. No process may use the store meanwhile.
///
/// It goes on wherever it was interrupted. Until the cluster counts the new slices the old ones have everything, and it can be
/// given up. Realms keep their generations, versions, salts and client files: no client has to reset.
package struct SliceDivision: Sendable {
    /// How far it is.
    package struct Progress: Sendable, Equatable {
        package enum Step: String, Sendable { case copying, comparing, clearing }

        package var step: Step
        package var slice: SliceNumber
        package var slicesDone: Int
        package var slices: Int
        /// Realms that have been looked at in this step.
        package var realms: Int
    }

    package struct Report: Sendable, Equatable {
        package var growth: SliceGrowth
        /// Realms, with erased ones that are remembered.
        package var realms = 0
        /// The realms among them that go, or went, to new slices; 0 when all had gone before.
        package var moving = 0
        package var bytesMoving = 0
        /// Whether this run went on with a division that had been begun.
        package var isContinued = false
        /// The realms of the new slice that gets the most.
        package var mostRealms = 0
    }

    /// The owner of the slices meanwhile, as their history shows it.
    package static let owner = "sluice slices grow"
    /// Milliseconds; epochs, not leases, keep others out.
    private static let lease: UInt64 = 3_600_000
    private static let pageSize = 2_000

    private let store: any GrowingStore
    private let stores: any SliceStores
    private let cluster: ClusterRecord
    private let growth: SliceGrowth
    private let isContinued: Bool
    private let now: @Sendable () -> UInt64
    private let report: @Sendable (Progress) -> Void

    /// Finds out where the cluster stands.
    ///
    /// - Parameters:
    ///   - stores: the same store, whose slices are of this version.
    ///   - to: the number of slices to have; nil: that of the growth that was begun.
    ///   - now: milliseconds of Unix time.
    /// - Throws: `mismatch` if the cluster has as many slices, or another growth was begun; `notFound`.
    package init(
        _ store: any GrowingStore, stores: any SliceStores, to: SliceCount?, now: @escaping @Sendable () -> UInt64,
        report: @escaping @Sendable (Progress) -> Void
    ) async throws(StoreError) {
        self.store = store
        self.stores = stores
        self.now = now
        self.report = report
        let (cluster, begun) = try await store.growth()
        self.cluster = cluster
        if let begun {
            guard to == nil || to == begun.to else {
                throw StoreError.unfinishedGrowth(begun, at: store.place)
            }
            (growth, isContinued) = (begun, true)
            return
        }
        let count = try await store.sliceCount()
        guard let to else {
            throw StoreError(
                .mismatch, "no growth was begun: the cluster at \(store.place) has \(count.value.counted("slice"))")
        }
        guard to.value > count.value else {
            throw StoreError(
                .mismatch,
                "the cluster has \(count.value.counted("slice")); expected a higher number, found \(to.value)")
        }
        (growth, isContinued) = (SliceGrowth(from: count, to: to, step: .copying), false)
    }

    /// The slices that the cluster has had.
    package var oldSlices: [SliceNumber] { growth.from.all }

    // MARK: Looking

    /// Reports what would move; changes nothing.
    package func plan() async throws(StoreError) -> Report {
        var result = Report(growth: growth, isContinued: isContinued)
        var division = RealmDivision(among: growth.to)
        for slice in oldSlices {
            try await forEachPage(of: slice) { page throws(StoreError) in
                result.realms += page.count
                _ = division.moves(of: page, in: slice)
            }
        }
        count(division, in: &result)
        return result
    }

    private func count(_ division: RealmDivision, in result: inout Report) {
        result.moving = division.realms.values.reduce(0, +)
        result.bytesMoving = division.bytes.values.reduce(0, +)
        result.mostRealms = division.realms.values.max() ?? 0
    }

    /// The work that must come to an end before realms may move: work of slices that is not a realm's, or goes through all of an app's.
    package func work() async throws(StoreError) -> [String] {
        var found: [String] = []
        for table in try await store.sliceTables() {
            guard try SliceTable(table) == .work else { continue }
            for slice in oldSlices {
                if try await store.isEmpty(table.name, in: slice) { continue }
                found.append("\(SliceTable.words(forWorkIn: table.name)) in slice \(slice)")
            }
        }
        return found
    }

    // MARK: Doing

    /// - Throws: `unavailable` if a worker has a slice; `fenced` if one took a slice meanwhile; `mismatch` if what was copied does
    ///   not equal what it was copied from; what reading and writing throw.
    package func run() async throws(StoreError) -> Report {
        var result = Report(growth: growth, isContinued: isContinued)
        if growth.step == .copying {
            try await begin()
            let epochs = try await take()
            for slice in growth.newSlices { try await store.make(slice) }
            try await copy(&result)
            try await compare()
            // The epoch of a new slice's next owner is above those of all slices that its realms come from: each epoch
            // draws new salts.
            let highest = Epoch(epochs.values.map(\.value).max() ?? 0)
            for slice in growth.newSlices { try await store.finish(slice, cluster: cluster.id, epoch: highest) }
            // A worker that took a slice meanwhile has written changes that are not copied.
            for slice in oldSlices {
                let epoch = epochs[slice] ?? Epoch(0)
                try await stores.store(for: slice, mayMake: false).renew(epoch: epoch, leaseUntil: now() + Self.lease)
            }
            let made = Dictionary(growth.newSlices.map { ($0, highest) }) { first, _ in first }
            try await store.record(SliceGrowth(from: growth.from, to: growth.to, step: .clearing), made: made)
        }
        try await clear()
        try await release()
        try await store.record(nil, made: [:])
        return result
    }

    /// Leaves the cluster with the slices that it has.
    /// - Throws: `mismatch` if it counts the new ones already.
    package func abort() async throws(StoreError) {
        guard isContinued else { return }
        guard growth.step == .copying else {
            throw StoreError(
                .mismatch,
                """
                the cluster has \(growth.to.value.counted("slice")) already, and what has moved is being taken out of the others: \
                sluice slices grow goes on with that
                """)
        }
        for slice in growth.newSlices { try await store.remove(slice) }
        try await release()
        try await store.record(nil, made: [:])
    }

    private func begin() async throws(StoreError) {
        try await store.requireRights()
        for table in try await store.sliceTables() { _ = try SliceTable(table) }
        if !isContinued {
            for slice in growth.newSlices {
                guard try await store.exists(slice) else { continue }
                throw StoreError(
                    .alreadyExists,
                    "there is a slice \(slice) at \(store.place), though the cluster has \(growth.from.value): see whose it is"
                )
            }
            // Before the mark: this is refused, rather than interrupted.
            for slice in oldSlices { try await requireFree(slice) }
            try await store.record(growth, made: [:])
        }
        var isOurs = true
        for slice in oldSlices where isOurs {
            isOurs = try await stores.store(for: slice, mayMake: false).ownership()?.owner == Self.owner
        }
        // A worker has had a slice since: what was copied may be older than what it left.
        if !isOurs { for slice in growth.newSlices { try await store.remove(slice) } }
    }

    private func requireFree(_ slice: SliceNumber) async throws(StoreError) {
        guard let owner = try await stores.store(for: slice, mayMake: false).ownership(),
            owner.takeover(by: Self.owner, now: now()) == nil
        else { return }
        throw Self.held(slice, by: owner.owner)
    }

    private static func held(_ slice: SliceNumber, by owner: String) -> StoreError {
        StoreError(
            .unavailable,
            "worker \(owner) has slice \(slice): stop it, or wait until its lease has run out (sluice slices --history)"
        )
    }

    /// Takes the old slices: whoever had one can write nothing more.
    private func take() async throws(StoreError) -> [SliceNumber: Epoch] {
        var epochs: [SliceNumber: Epoch] = [:]
        for slice in oldSlices {
            let time = now()
            let claim = try await stores.store(for: slice, mayMake: false)
                .claim(by: Self.owner, now: time, leaseUntil: time + Self.lease, gone: nil)
            switch claim {
            case .owned(let epoch): epochs[slice] = epoch
            case .heldBy(let owner, _): throw Self.held(slice, by: owner)
            }
        }
        return epochs
    }

    private func release() async throws(StoreError) {
        for slice in oldSlices {
            let store = try await stores.store(for: slice, mayMake: false)
            guard let ownership = try await store.ownership(), ownership.owner == Self.owner else { continue }
            try await store.release(epoch: ownership.epoch, at: now())
        }
    }

    private func copy(_ result: inout Report) async throws(StoreError) {
        var division = RealmDivision(among: growth.to)
        for slice in oldSlices {
            for target in growth.newSlices { try await store.share(slice, with: target, of: growth.from) }
            try await forEachPage(of: slice) { page throws(StoreError) in
                tell(.copying, slice, realms: result.realms)
                result.realms += page.count
                for (target, chunks) in division.moves(of: page, in: slice) {
                    for chunk in chunks { try await store.copy(chunk, from: slice, to: target) }
                }
            }
        }
        count(division, in: &result)
        for slice in growth.newSlices { try await store.recount(slice) }
    }

    private func compare() async throws(StoreError) {
        var division = RealmDivision(among: growth.to)
        var realms = 0
        for slice in oldSlices {
            try await forEachPage(of: slice) { page throws(StoreError) in
                tell(.comparing, slice, realms: realms)
                realms += page.count
                for (target, chunks) in division.moves(of: page, in: slice) {
                    for chunk in chunks {
                        guard let table = try await store.difference(chunk, from: slice, to: target) else { continue }
                        throw different(target, "the table \(table) differs from that of slice \(slice)")
                    }
                }
            }
        }
        for slice in growth.newSlices {
            let (found, expected) = (try await store.countRealms(in: slice), division.realms[slice] ?? 0)
            guard found == expected else {
                throw different(slice, "expected \(expected.counted("realm")), found \(found)")
            }
        }
    }

    private func different(_ slice: SliceNumber, _ words: String) -> StoreError {
        StoreError(
            .mismatch,
            """
            slice \(slice) at \(store.place) does not equal what it was copied from: \(words). Nothing was removed; see that no \
            process uses the store, and begin again: sluice slices grow --abort, then sluice slices grow --to \(growth.to.value)
            """)
    }

    private func clear() async throws(StoreError) {
        var realms = 0
        for slice in oldSlices {
            try await forEachPage(of: slice) { page throws(StoreError) in
                tell(.clearing, slice, realms: realms)
                realms += page.count
                var division = RealmDivision(among: growth.to)
                let gone = division.moves(of: page, in: slice).flatMap(\.chunks).joined().sorted { $0.old < $1.old }
                for chunk in RealmMove.chunks(gone) { try await store.clear(chunk.map(\.old), in: slice) }
            }
            try await store.recount(slice)
        }
    }

    private func tell(_ step: Progress.Step, _ slice: SliceNumber, realms: Int) {
        report(
            Progress(
                step: step, slice: slice, slicesDone: slice.value, slices: growth.from.value, realms: realms))
    }

    private func forEachPage(
        of slice: SliceNumber, _ body: ([StoredRealm]) async throws(StoreError) -> Void
    ) async throws(StoreError) {
        var last: RealmID?
        while true {
            let page = try await store.realms(in: slice, after: last, limit: Self.pageSize)
            if !page.isEmpty { try await body(page) }
            guard page.count == Self.pageSize, let end = page.last else { return }
            last = end.id
        }
    }
}

import Changesets

/// One call of the engine: both sides as operations, and the loop that makes them meet (section 11).
struct MergeSession {
    private let matrix: RuleMatrix
    private let search: ConflictSearch
    private let meter: MergeMeter
    private var reader: OperationReader
    private var steps = PathSteps()
    private var local = OperationList()
    private var localVersions: [UInt64] = []

    /// The incoming side of the run in hand.
    private var incoming = OperationList()
    private var incomingVersions: [UInt64] = []
    private var index: ConflictIndex?
    private var filter = ObjectFilter()
    private var localIndex: LocalIndex?
    private var walk = ConflictWalk()

    init(compatibility: PeerCompatibility, search: ConflictSearch, meter: MergeMeter) {
        matrix = RuleMatrix(compatibility)
        self.search = search
        self.meter = meter
        reader = OperationReader(compatibility)
    }

    /// Makes room for local entries of so many instructions together.
    mutating func reserve(local count: Int) { local.reserve(count) }

    /// Adds a local entry; by ascending version, before the first run.
    mutating func addLocal(_ entry: LocalChangeset, rank: UInt32) throws(MergeError) {
        try meter.take(entry.changeset.instructions.count * MergeMeter.stepsPerInstruction)
        try reader.append(entry.changeset, rank: rank, to: &local, &steps)
        localVersions.append(entry.version)
    }

    /// Merges a run of incoming changesets with the local entries after their base, which keep what becomes of them for
    /// the next run.
    mutating func merge(
        _ run: ArraySlice<IncomingChangeset>, ranks: ArraySlice<UInt32>, after base: UInt64
    ) throws(MergeError) -> OperationList {
        incoming = OperationList()
        incoming.reserve(run.reduce(0) { $0 + $1.changeset.instructions.count })
        incomingVersions.removeAll(keepingCapacity: true)
        for (changeset, rank) in zip(run, ranks) {
            try meter.take(changeset.changeset.instructions.count * MergeMeter.stepsPerInstruction)
            try reader.append(changeset.changeset, rank: rank, to: &incoming, &steps)
            incomingVersions.append(changeset.version)
        }
        switch search {
        case .exhaustive:
            index = nil
        case .indexed, .indexedWithWholeLists, .indexedWithListPairs:
            index = ConflictIndex(
                incoming, steps,
                followsErasures: local.mayContain(.eraseTable) || local.mayContain(.eraseColumn),
                comparesRawErasures: !matrix.compatibility.comparesErasedValuesByContent)
        }
        try mergeAll(in: window(after: base))
        // What it took to find the conflicts makes room for the results.
        index = nil
        var merged = OperationList()
        swap(&merged, &incoming)
        return merged
    }

    private mutating func mergeAll(in window: Range<Int>) throws(MergeError) {
        let settled = try mergeLists(in: window)
        if let positions = positionsOfShortRun(in: window) {
            for position in positions where settled?.contains(Int(position)) != true {
                try mergeAll(local: Int(position))
            }
            return
        }
        filter.add(incoming)
        defer { filter.remove(incoming) }
        for position in window where settled?.contains(position) != true {
            if index == nil || filter.mayMeet(local.operations[position]) { try mergeAll(local: position) }
        }
    }

    /// The positions of the local operations after a version, those put in by rules excepted.
    private func window(after base: UInt64) -> Range<Int> {
        var (low, high) = (0, localVersions.count)
        while low < high {
            let middle = (low + high) / 2
            if localVersions[middle] <= base { low = middle + 1 } else { high = middle }
        }
        let end = local.ranges.last?.upperBound ?? 0
        return low < local.ranges.count ? local.ranges[low].lowerBound..<end : end..<end
    }

    /// What a run has to go through that is short beside the local history; nil if that is all of it.
    private mutating func positionsOfShortRun(in window: Range<Int>) -> [UInt32]? {
        guard index != nil, incoming.operations.count < window.count / 8,
            !incoming.mayContain(.eraseTable), !incoming.mayContain(.eraseColumn)
        else { return nil }
        if localIndex == nil { localIndex = LocalIndex(local.operations[..<window.upperBound]) }
        return localIndex?.positions(of: Set(incoming.operations.map(\.object)), in: window)
    }

    /// Merges lists by themselves where that costs less.
    ///
    /// - Returns: the local operations that have met all they had to.
    private mutating func mergeLists(in window: Range<Int>) throws(MergeError) -> RankSet? {
        guard let index else { return nil }
        let thresholds: ListGrid.Thresholds =
            switch search {
            case .indexed, .exhaustive: .standard
            case .indexedWithWholeLists: .wholes
            case .indexedWithListPairs: .pairs
            }
        let finder = ListFinder(
            pairsPerOperation: thresholds.pairsPerOperation, compatibility: matrix.compatibility)
        let lists = finder.lists(local: local, window, incoming: incoming, index, steps)
        guard !lists.isEmpty else { return nil }

        var sides = ListSides()
        exchange(&sides)
        defer { exchange(&sides) }
        var settled: RankSet?
        for list in lists {
            guard var grid = ListGrid(list, sides, matrix, thresholds, meter) else { continue }
            try grid.merge(&sides)
            var positions = settled ?? RankSet(capacity: sides.local.count)
            for position in list.local { positions.insert(Int(position)) }
            settled = positions
        }
        return settled
    }

    /// Lends both sides out without a copy, and takes them back.
    private mutating func exchange(_ sides: inout ListSides) {
        swap(&local.operations, &sides.local)
        swap(&incoming.operations, &sides.incoming)
        swap(&steps, &sides.steps)
    }

    /// Merges a local operation, and before it what a rule has put in front of it.
    private mutating func mergeAll(local position: Int) throws(MergeError) {
        if !local.inFront.isEmpty, let added = local.inFront[position] {
            for position in added { try merge(local: position) }
        }
        try merge(local: position)
    }

    private mutating func merge(local position: Int) throws(MergeError) {
        guard local.operations[position].isLive else { return }
        var walk = self.walk
        self.walk = ConflictWalk()
        defer { self.walk = walk }
        start(&walk, for: position)
        try merge(local: position, &walk)
    }

    /// - Parameter after: the incoming operation that the local one is there because of: it meets only those behind.
    private mutating func merge(
        local position: Int, _ walk: inout ConflictWalk, after cause: Int? = nil
    ) throws(MergeError) {
        while local.operations[position].isLive, let met = next(&walk) {
            try meter.take(MergeMeter.stepsPerMeeting)
            if let cause, !incoming.precedes(cause, met) { continue }
            if try merge(local: position, incoming: met) { try eraseColumnFirst(local: position, incoming: met) }
        }
    }

    private mutating func merge(local position: Int, incoming met: Int) throws(MergeError) -> Bool {
        do throws(RuleViolation) {
            return try matrix.merge(&local.operations[position], &incoming.operations[met], &steps)
        } catch {
            let writer = OperationWriter(symbols: reader.symbols, steps: steps)
            let localVersion = localVersions[Int(local.operations[position].changeset)]
            let incomingVersion = incomingVersions[Int(incoming.operations[met].changeset)]
            throw MergeError(
                code: error.code, message: error.message,
                local: writer.site(position, of: local, version: localVersion),
                incoming: writer.site(met, of: incoming, version: incomingVersion))
        }
    }

    /// 5.4: the erasing side erases the other's new column before the class it links to.
    private mutating func eraseColumnFirst(local position: Int, incoming met: Int) throws(MergeError) {
        let column = incoming.operations[met]
        if column.code == .addColumn {
            // What is put in on our side has to meet the rest of the incoming operations at once.
            let added = local.putEraseColumn(column.table, column.field, inFrontOf: position)
            var walk = ConflictWalk()
            start(&walk, for: added)
            try merge(local: added, &walk, after: met)
        } else {
            let column = local.operations[position]
            let added = incoming.putEraseColumn(column.table, column.field, inFrontOf: met)
            index?.insertEraseColumn(added, incoming)
        }
    }

    // MARK: Searching

    private mutating func start(_ walk: inout ConflictWalk, for position: Int) {
        if index == nil {
            walk.reset()
            walk.positions = incoming.allPositions()
        } else {
            index?.start(&walk, for: local.operations[position], incoming, steps)
        }
    }

    private mutating func next(_ walk: inout ConflictWalk) -> Int? {
        index == nil ? walk.nextCollected(incoming) : index?.next(&walk, incoming)
    }

    // MARK: Results

    var writer: OperationWriter { OperationWriter(symbols: reader.symbols, steps: steps) }

    func modifiedLocal() -> [TransformResult.Reciprocal] {
        let writer = writer
        return localVersions.indices.filter { writer.isModified($0, of: local) }.map { entry in
            TransformResult.Reciprocal(
                version: localVersions[entry], changeset: writer.changeset(entry, of: local))
        }
    }
}

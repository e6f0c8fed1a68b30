package import SyncModel

/// Copies a whole store into another one, of any engine, and compares the two. No process may use either meanwhile.
///
/// A copy that was interrupted goes on with the first part that is not whole.
package struct StoreCopy: Sendable {
    /// How far a copy has come.
    package struct Progress: Sendable, Equatable {
        package enum Step: String, Sendable { case copying, comparing }

        package var step: Step
        package var part: StorePart
        package var partsDone: Int
        package var parts: Int
        package var rows: Int
    }

    package struct Report: Sendable, Equatable {
        package var slices = 0
        package var realms = 0
        package var rows = 0
        package var bytes = 0
        /// Whether this run went on with a copy that had been begun.
        package var isContinued = false
        /// The digest of everything, equal for equal stores.
        package var digest = ""
    }

    /// Rows that follow from others as those are inserted, and what says which store it is: they come last.
    private static let last = ["app_usage", "meta", "settings"]

    private let source: any StoredTables
    private let target: any StoreCopyTarget
    private let slices: [SliceNumber]
    private let cluster: String
    private let report: @Sendable (Progress) -> Void

    /// - Parameters:
    ///   - slices: those that the source has.
    ///   - cluster: the source's id.
    package init(
        from source: any StoredTables, to target: any StoreCopyTarget, slices: [SliceNumber], cluster: String,
        report: @escaping @Sendable (Progress) -> Void
    ) {
        self.source = source
        self.target = target
        self.slices = slices.sorted()
        self.cluster = cluster
        self.report = report
    }

    /// - Parameter startsOver: copies again what an interrupted copy has finished: the source is not the same any more.
    /// - Throws: `alreadyExists` if the target is not empty; `mismatch` if the copy does not equal the source; what reading and
    ///   writing throw. Nothing of the source changes; the target is usable only when this returns.
    package func run(startsOver: Bool = false) async throws(StoreError) -> Report {
        var result = Report()
        var done = try await target.beginCopy(of: cluster)
        if startsOver { done = nil }
        result.isContinued = done != nil
        result.slices = slices.count
        let parts = slices.map { StorePart.slice($0) } + [.control]
        for (index, part) in parts.enumerated() where done?.contains(part) != true {
            report(Progress(step: .copying, part: part, partsDone: index, parts: parts.count, rows: result.rows))
            try await target.prepare(part)
            let tables = try await tables(of: part)
            for table in tables { try await target.clear(table, in: part) }
            for table in tables { try await copy(table, in: part, &result) }
            try await target.finish(part)
        }
        var digests: [String] = []
        for (index, part) in parts.enumerated() {
            report(Progress(step: .comparing, part: part, partsDone: index, parts: parts.count, rows: result.rows))
            let digest = try await compare(part)
            result.realms += digest.realms.count
            digests.append(digest.whole)
        }
        result.digest = PartDigest.combined(digests)
        try await target.endCopy()
        return result
    }

    /// The tables of a part, as both stores have them.
    /// - Throws: `mismatch` if they differ.
    private func tables(of part: StorePart) async throws(StoreError) -> [StoredTable] {
        let (there, here) = (try await source.tables(of: part), try await target.tables(of: part))
        for table in there {
            let twin = here.first { $0.name == table.name }
            guard let twin, Set(twin.columns) == Set(table.columns) else {
                throw StoreError(
                    .mismatch,
                    "\(part): the table \(table.name) differs between \(source.place) and \(target.place): both must be of this version of Sluice"
                )
            }
        }
        guard here.count == there.count else {
            throw StoreError(.mismatch, "\(part): \(target.place) has tables that \(source.place) does not have")
        }
        func rank(_ table: StoredTable) -> Int { Self.last.firstIndex(of: table.name).map { $0 + 1 } ?? 0 }
        return there.sorted { (rank($0), $0.name) < (rank($1), $1.name) }
    }

    private func copy(_ table: StoredTable, in part: StorePart, _ result: inout Report) async throws(StoreError) {
        // Inserting other rows may have made some.
        if Self.last.contains(table.name) { try await target.clear(table, in: part) }
        var pages = PageSize()
        var end: [StoredValue]?
        repeat {
            let page = try await source.page(of: table, in: part, after: end, limit: pages.limit)
            if !page.rows.isEmpty { try await target.insert(page.rows, into: table, in: part) }
            end = page.end
            result.rows += page.rows.count
            result.bytes += page.bytes
            pages.adapt(to: page.bytes)
        } while end != nil
    }

    private func compare(_ part: StorePart) async throws(StoreError) -> PartDigest {
        let tables = try await tables(of: part)
        let expected = try await PartDigest(of: tables, in: part, of: source)
        let found = try await PartDigest(of: tables, in: part, of: target)
        guard expected.whole != found.whole else { return found }
        throw StoreError(
            .mismatch,
            """
            \(part) of \(target.place) does not equal that of \(source.place): \(expected.difference(to: found)). See that no \
            process uses either store, empty the copy and make it again
            """)
    }
}

extension StoredPage {
    var bytes: Int { rows.reduce(0) { $0 + $1.reduce(0) { $0 + $1.size } } }
}

/// How many rows to read at once, so that they stay within some mebibytes however large a row is.
struct PageSize {
    private static let bytes = 2 << 20
    private static let limits = 8...2_000
    private(set) var limit = limits.lowerBound

    mutating func adapt(to bytes: Int) {
        if bytes > Self.bytes * 4 {
            limit = Self.limits.lowerBound
        } else if bytes < Self.bytes {
            limit = min(limit * 2, Self.limits.upperBound)
        }
    }
}

package import SyncModel

/// Copies a whole store into another one, of any engine, and compares the two. No process may use either meanwhile.
///
/// Rows go in the order of their keys, so a copy that was interrupted goes on after the last row that has arrived.
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
        /// It went on with a copy that had been begun.
        package var isContinued = false
        /// The digest of everything, equal for equal stores.
        package var digest = ""
    }

    /// Rows that follow from others as those are inserted: they are replaced by the source's when all others are there.
    private static let derived: Set<String> = ["app_usage"]
    /// What says which store it is. Some of it is there from the beginning, so its rows are no sign of how far a copy has come.
    private static let marked: Set<String> = ["meta", "settings"]

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

    /// - Throws: `alreadyExists` if the target is not empty; `mismatch` if the copy does not equal the source; what reading and
    ///   writing throw. Nothing of the source changes; the target is usable only when this returns.
    package func run() async throws(StoreError) -> Report {
        var result = Report()
        result.isContinued = try await target.beginCopy(of: cluster)
        result.slices = slices.count
        let parts = slices.map { StorePart.slice($0) } + [.control]
        for (index, part) in parts.enumerated() {
            report(Progress(step: .copying, part: part, partsDone: index, parts: parts.count, rows: result.rows))
            try await target.prepare(part)
            for table in try await ordered(tables(of: part)) { try await copy(table, in: part, &result) }
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
        var common: [StoredTable] = []
        for table in there {
            guard let twin = here.first(where: { $0.name == table.name }),
                Set(twin.columns) == Set(table.columns), twin.key == table.key
            else {
                throw StoreError(
                    .mismatch,
                    "\(part): the table \(table.name) differs between \(source.place) and \(target.place): both must be of this version of Sluice"
                )
            }
            common.append(table)
        }
        guard here.count == there.count else {
            throw StoreError(.mismatch, "\(part): \(target.place) has tables that \(source.place) does not have")
        }
        return common
    }

    private func ordered(_ tables: [StoredTable]) -> [StoredTable] {
        func rank(_ table: StoredTable) -> Int {
            Self.marked.contains(table.name) ? 2 : Self.derived.contains(table.name) ? 1 : 0
        }
        return tables.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }
            .map(\.element)
    }

    private func copy(_ table: StoredTable, in part: StorePart, _ result: inout Report) async throws(StoreError) {
        let isWhole = Self.derived.contains(table.name) || Self.marked.contains(table.name)
        if Self.derived.contains(table.name) { try await target.clear(table, in: part) }
        var pages = PageSize()
        var last = isWhole ? nil : try await target.lastKey(of: table, in: part)
        while true {
            let rows = try await source.rows(of: table, in: part, after: last, limit: pages.limit)
            guard let end = rows.last else { return }
            try await target.insert(rows, into: table, in: part)
            last = table.key(of: end)
            let bytes = rows.reduce(0) { $0 + $1.reduce(0) { $0 + $1.size } }
            result.rows += rows.count
            result.bytes += bytes
            pages.adapt(to: bytes)
        }
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

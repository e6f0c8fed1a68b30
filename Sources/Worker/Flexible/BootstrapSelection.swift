import Changesets
import Messages
import RealmState
import Storage
import SyncModel
import Views

/// The objects that the pages of a bootstrap have to look at: class by class those that one of the two views may have, by an index or by their
/// keys where that leads to them, else all objects of the class. What both views select in the same way is left out.
///
/// Each object comes once for either purpose, since no page cares for what was changed after the client's cursor: the others are where they
/// were when the pages began.
struct BootstrapSelection: SlicePart {
    let work: SliceWork
    let context: RealmContext
    /// The view that the client comes from, and the one that it goes to.
    let old: View
    let new: View

    /// What an object is looked at for.
    enum Purpose { case both, entering, leaving }

    struct Object {
        var row: ObjectRow
        var body: [UInt8]
        var purpose: Purpose
        /// Counts for how far the pages are only if it enters the view or leaves it: the other view's own way leads to the same objects.
        var countsIfChanged = false
        fileprivate var stage: Stage
        fileprivate var place: Place
    }

    struct Page {
        var objects: [Object] = []
        /// Where the next page goes on; nil: there is nothing more. Without what says how far that is.
        var position: BootstrapPosition?
        /// The next page has no objects.
        var isLast = false
    }

    /// A way through objects of one class.
    fileprivate struct Stage {
        var table: TableID
        var purpose: Purpose
        /// Nil: over all objects.
        var access: ClassAccess?
    }

    /// Where a stage goes on: behind the last object that was looked at.
    fileprivate struct Place {
        var value: [UInt8] = []
        /// Nil: before all objects of the value.
        var key: ObjectKey?
    }

    private enum Way {
        case nothing, all
        case access(ClassAccess)
    }

    /// Stages that one page may begin: each costs a look into the store.
    private static let stagesPerPage = 64
    /// How many values or keys a way may have before the objects of its class are counted.
    private static let manyValues = 1_000
    /// Objects that are asked for by their keys at once.
    private static let keysAtOnce = 500
    /// How many objects an index may lead to by ranges of values: each costs more than it does where all are read in their order.
    private static let mostByRanges = 100_000

    // MARK: Pages

    /// - Parameter position: nil for the first page.
    /// - Returns: nil if an index is not there any more that the page before went by.
    func page(after position: BootstrapPosition?, maxBytes: Int) async throws -> Page? {
        var page = Page(position: position)
        var place: Place?
        var current: Stage?
        if let position {
            guard let stage = stage(at: position) else { return nil }
            current = stage
            place = try self.place(of: position)
        } else {
            current = try await firstStage(from: 0)
        }
        var bytes = 0
        // One object may be as large as many pages.
        defer { context.noteMoved(max(0, bytes - maxBytes)) }
        var begun = 0
        var ranges = 0
        var isShared = current.map { shared($0) != nil } ?? false
        while let stage = current {
            let (found, end) = try await read(stage, after: place, maxBytes: maxBytes - bytes)
            var objects = found
            if stage.access?.column != nil { ranges += min(stage.access?.count ?? 0, limits.indexRangesAtOnce) }
            if isShared { for index in objects.indices { objects[index].countsIfChanged = true } }
            page.objects += objects
            bytes += objects.reduce(0) { $0 + $1.body.count + HistoryQuery.overhead }
            if let end {
                place = end
                page.position = self.position(stage, end)
                if bytes >= maxBytes || ranges >= limits.indexRangesPerPage { return page }
                continue
            }
            switch try await next(after: stage) {
            case .lost: return nil
            case .none: current = nil
            case .stage(let next):
                (current, place) = (next, nil)
                isShared = shared(next) != nil
                begun += 1
                page.position = self.position(next, nil)
                if begun == Self.stagesPerPage { return page }
            }
        }
        page.isLast = true
        // The last objects have a page of their own before the one that ends it all.
        if page.objects.isEmpty { page.position = nil }
        return page
    }

    /// How many objects all pages look at, about.
    func extent() async throws -> Int {
        var extent = 0
        var stages = 0
        var next = try await firstStage(from: 0)
        while let stage = next, stages < Self.stagesPerPage {
            extent += try await count(stage)
            stages += 1
            if case .stage(let following) = try await self.next(after: stage) { next = following } else { next = nil }
        }
        return extent
    }

    private func count(_ stage: Stage) async throws -> Int {
        switch stage.access {
        case nil: return try await countObjects(of: stage.table)
        case .keys(let keys)?: return keys.count
        case let access?:
            let all = try await count(access, of: stage.table)
            // What lies in both views' ranges is with the client already, and no page brings it.
            guard let shared = shared(stage) else { return all }
            return max(0, all - (try await count(shared, of: stage.table)))
        }
    }

    private func countObjects(of table: TableID) async throws -> Int {
        let version = context.record.latest.version
        if let known = context.flexible.counts.count(of: table, at: version) { return known }
        let counted = try await store.countObjects(
            in: context.record.id, of: table.rawValue, limit: ObjectCounts.most)
        return context.flexible.counts.keep(counted, of: table, at: version)
    }

    private func count(_ access: ClassAccess, of table: TableID) async throws -> Int {
        try await count(access, of: table, limit: Self.mostByRanges) ?? 0
    }

    /// - Returns: how many objects an index leads to, no more than a limit; nil if that is not to be told.
    private func count(_ access: ClassAccess, of table: TableID, limit: Int) async throws -> Int? {
        guard let query = query(access, of: table, after: nil) else { return nil }
        // Looking for each of very many values would take longer than it is worth.
        guard access.count <= min(limit, limits.indexRangesPerPage) else {
            return access.arePoints ? access.count : nil
        }
        return try await store.countEntries(query, limit: limit)
    }

    /// What a stage has in common with the other view's way by the same property, where the two queries look at nothing else; nil if they do.
    private func shared(_ stage: Stage) -> ClassAccess? {
        guard stage.purpose != .both, let access = stage.access, let column = access.column,
            let before = old[stage.table], let after = new[stage.table], before.differsOnly(in: column, from: after)
        else { return nil }
        let other = stage.purpose == .entering ? before : after
        return other.accesses?.first { $0.column == column }.flatMap { access.shared(with: $0) }
    }

    // MARK: Stages

    private enum Following {
        case none, lost
        case stage(Stage)
    }

    private func next(after stage: Stage) async throws -> Following {
        if stage.purpose == .entering {
            switch try await way(to: old[stage.table]) {
            case .nothing: break
            // All objects of the class would have had to be looked at from the beginning.
            case .all: return .lost
            case .access(let access):
                return .stage(Stage(table: stage.table, purpose: .leaving, access: access))
            }
        }
        return try await firstStage(from: stage.table.rawValue + 1).map { .stage($0) } ?? .none
    }

    /// Returns the first stage of the first class, from a number on, that has any; nil if no class has.
    private func firstStage(from number: UInt32) async throws -> Stage? {
        for table in context.state.schema.tables.map(\.id).sorted() where table.rawValue >= number {
            let (before, after) = (old[table], new[table])
            guard before?.query != nil || after?.query != nil else { continue }
            if let before, let after, before.selectsLike(after) { continue }
            switch (try await way(to: after), try await way(to: before)) {
            case (.nothing, .nothing): continue
            case (.all, _), (_, .all): return Stage(table: table, purpose: .both, access: nil)
            case (.access(let access), _): return Stage(table: table, purpose: .entering, access: access)
            case (.nothing, .access(let access)): return Stage(table: table, purpose: .leaving, access: access)
            }
        }
        return nil
    }

    /// The way to what a view has of a class that leads to the fewest objects.
    private func way(to view: ClassView?) async throws -> Way {
        guard let view, let accesses = view.accesses else { return .nothing }
        let indexed = context.indexed
        let usable = accesses.filter { access in
            access.column.map { indexed.isComplete($0, of: view.table.id) } ?? true
        }
        let only = usable.first { $0.column == nil } ?? (usable.count == 1 && usable[0].arePoints ? usable[0] : nil)
        if let only {
            // Looking at all of a few objects takes less than looking for many values.
            guard only.count > Self.manyValues else { return .access(only) }
            return try await countObjects(of: view.table.id) < only.count ? .all : .access(only)
        }
        // The entries of each access are counted only so far that the counting costs no more than what comes of it.
        for limit in [1_000, 10_000, Self.mostByRanges] {
            var fewest: (access: ClassAccess, count: Int)?
            for access in usable {
                guard let count = try await count(access, of: view.table.id, limit: limit) else { continue }
                if count < limit, count < fewest?.count ?? .max { fewest = (access, count) }
            }
            if let fewest { return .access(fewest.access) }
        }
        return usable.first(where: \.arePoints).map { .access($0) } ?? .all
    }

    private func query(_ access: ClassAccess, of table: TableID, after place: Place?) -> IndexQuery? {
        guard case .column(let column, let ranges) = access else { return nil }
        var query = IndexQuery(
            realm: context.record.id, table: table.rawValue, column: column.rawValue,
            ranges: ranges.map { IndexRange(low: $0.low, high: $0.high) })
        guard let place else { return query }
        if let key = place.key {
            query.after = (place.value, key)
        } else {
            query.ranges.removeAll { $0.high.lexicographicallyPrecedes(place.value) }
            if let first = query.ranges.first, first.low.lexicographicallyPrecedes(place.value) {
                query.ranges[0].low = place.value
            }
        }
        return query
    }

    // MARK: Reading

    /// - Returns: the next objects, and the last place that was looked at; nil if there was none left.
    private func read(
        _ stage: Stage, after place: Place?, maxBytes: Int
    ) async throws -> (objects: [Object], end: Place?) {
        func found(_ row: ObjectRow, _ body: [UInt8], _ value: [UInt8] = []) -> Object {
            Object(
                row: row, body: body, purpose: stage.purpose, stage: stage, place: Place(value: value, key: row.key))
        }
        let realm = context.record.id
        switch stage.access {
        case nil:
            let rows = try await store.objects(
                in: realm, of: stage.table.rawValue,
                after: place?.key.map { ObjectRow(table: stage.table.rawValue, key: $0) }, maxBytes: max(maxBytes, 1))
            return (rows.map { found($0.row, $0.body) }, rows.last.map { Place(key: $0.row.key) })
        case .keys(let keys):
            let last = place?.key?.detachedEncoding()
            let rest = keys.drop { key in
                last.map { !$0.lexicographicallyPrecedes(key.detachedEncoding()) } ?? false
            }
            let rows = rest.prefix(Self.keysAtOnce).map { ObjectRow(table: stage.table.rawValue, key: $0) }
            let bodies = try await store.objects(in: realm, at: rows)
            return (
                rows.compactMap { row in bodies[row].map { found(row, $0) } }, rows.last.map { Place(key: $0.key) }
            )
        case let access?:
            guard var query = query(access, of: stage.table, after: place) else { return ([], nil) }
            query.ranges = query.rest
            let next = query.ranges.dropFirst(limits.indexRangesAtOnce).first
            query.ranges = Array(query.ranges.prefix(limits.indexRangesAtOnce))
            let objects = try await store.objects(query, maxBytes: max(maxBytes, 1))
            return (
                objects.map { found($0.row, $0.body, $0.value) },
                objects.last.map { Place(value: $0.value, key: $0.row.key) }
                    ?? next.map { Place(value: $0.low, key: nil) }
            )
        }
    }

    // MARK: Positions

    private func position(_ stage: Stage, _ place: Place?) -> BootstrapPosition {
        BootstrapPosition(
            table: stage.table.rawValue, key: place?.key?.detachedEncoding() ?? [],
            way: stage.access.map { access in
                .init(
                    isLeaving: stage.purpose == .leaving, column: access.column?.rawValue, value: place?.value ?? [])
            }, done: 0)
    }

    /// Where a page goes on that comes after an object.
    func position(after object: Object) -> BootstrapPosition { position(object.stage, object.place) }

    /// Nil if the way is not there any more.
    private func stage(at position: BootstrapPosition) -> Stage? {
        let table = TableID(rawValue: position.table)
        guard let way = position.way else { return Stage(table: table, purpose: .both, access: nil) }
        let column = way.column.map { ColumnID(rawValue: $0) }
        if let column, !context.indexed.isComplete(column, of: table) { return nil }
        guard let access = (way.isLeaving ? old : new)[table]?.accesses?.first(where: { $0.column == column }) else {
            return nil
        }
        return Stage(table: table, purpose: way.isLeaving ? .leaving : .entering, access: access)
    }

    private func place(of position: BootstrapPosition) throws -> Place? {
        guard !position.key.isEmpty else {
            // The ranges before this value have nothing, or were gone through.
            return position.way.flatMap { $0.value.isEmpty ? nil : Place(value: $0.value, key: nil) }
        }
        return try WorkerError.reading("a bootstrap's position") {
            Place(value: position.way?.value ?? [], key: try ObjectKey(parsingDetached: position.key))
        }
    }
}

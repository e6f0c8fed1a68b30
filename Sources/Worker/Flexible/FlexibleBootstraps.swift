import Changesets
import Messages
import Query
import RealmState
import Storage
import SyncModel
import Views

/// Brings clients from one view to another, page by page.
///
/// The pages go over the objects that one of the views may have (`BootstrapSelection`), each page at its own time; what a version has touched since the client's cursor is left
/// out of them. The last one brings that, and everything as it is then: so no snapshot is held open, however slow a client is, and another
/// owner can go on.
struct FlexibleBootstraps: SlicePart {
    let work: SliceWork
    let app: AppRecord
    let context: RealmContext
    let file: ClientFileRecord
    let session: SessionReference
    /// The steps of merging that are counted for each byte of a set's text.
    private static let stepsPerByte: UInt64 = 20

    var pages: FlexiblePages { FlexiblePages(work: work, context: context, file: file) }

    /// - Returns: nil if the client is so far behind that it has to be reset.
    func page(_ request: BootstrapRequest, after cursor: DownloadCursor, maxBytes: Int) async throws -> PageAnswer? {
        func answer(_ outcome: BootstrapPart.Outcome) -> PageAnswer {
            self.answer(request, after: cursor, .init(cursor: cursor), outcome, progress: 0)
        }
        let views = try work.clientViews(of: file, in: context)
        // What the client has missed it must not be sent by rights that are no longer its user's.
        let isByNewRoles = views.views.latest.map { $0.roles != request.roles } ?? false
        var catchesUp = request.position?.version != nil
        if request.position == nil, request.version > 0, request.version == views.views.latest?.version, !isByNewRoles {
            catchesUp = try await work.isFarBehind(cursor.serverVersion, file.ident, in: context)
        }
        guard isNews(request, views, catchesUp: catchesUp) else {
            metrics.requestRepeated()
            return answer(.begunElsewhere)
        }
        if request.version == 0 { return try beginning(request, views, after: cursor) }
        try read(
            [request.definition] + (views.views.latest.map { [$0] } ?? []), of: views, in: context, findsObjects: true)
        // Finding the way to what a set may select takes as long as its text.
        work.cost += UInt64(request.queries.utf8.count) * Self.stepsPerByte
        let new: View
        do throws(ViewError) {
            new = try context.view(request.definition, of: views)
        } catch {
            return answer(.refused(error.message))
        }
        if request.position == nil, request.version > views.views.latest?.version ?? 0,
            let objection = try await QueryableFields(work: work, app: app).objection(to: new, of: file)
        {
            return answer(.refused(objection.message))
        }
        var columns = context.imaged
        let latest = context.record.latest.version
        let added = columns.add(new, since: latest)
        if case .columns = added, request.position != nil {
            // Pages before went by images that nobody keeps any more: the client begins anew, in another session.
            return answer(.begunElsewhere)
        }
        if request.position == nil, views.hasManyViews(toBegin: request.version) {
            var refusal = answer(
                .refused(
                    "the client has had \(views.views.segments.count) views (\(views.textBytes) bytes), by new subscriptions or new roles, that its uploads do not confirm yet:"
                        + " it has to wait until it has uploaded how far it is"))
            refusal.view?.bootstrap?.passes = true
            return refusal
        }
        if request.position == nil, let begun = views.begun, begun.version == request.version, begun != begins(request)
        {
            // Only once the client has left the session that is told so it is sure to have nothing.
            keepBegun(request, views)
            return answer(.begunElsewhere)
        }
        if request.position == nil, let refusal = try await refusal(request, views) { return answer(.refused(refusal)) }
        if case .nothing = added {} else { work.change(context).setImaged(columns) }
        ImageTrimming(work: work).needs(new, added, in: context)
        if request.position == nil { index(new) }
        let past = meter(context, limit: limits.evaluation.stepsPerRequest)
        defer { note(past) }
        let old = context.latestView(of: views).metered(by: past)
        if catchesUp {
            return try await catchUp(
                request, views, after: cursor, through: request.position?.version ?? cursor.serverVersion, from: old,
                to: new, maxBytes: maxBytes)
        }
        // A compensating write is to come in steady state, if the roles are still the same.
        guard let imaged = columns.start(of: new),
            request.position != nil || isByNewRoles || cursor.serverVersion == latest
                || context.flexible.tooDear.contains(file.ident)
        else { return answer(.behind) }
        return try await page(request, views, after: cursor, from: old, to: (new, imaged), maxBytes: maxBytes)
    }

    /// Whether a request asks for what its client has not been sent, as far as is on record. One that comes again, since its answer was lost or it was
    /// published twice, may find its own effect there, or that of a later one: then a page would bring next to nothing, from the view that the client
    /// is taken to have. What the client does have its next IDENT tells.
    private func isNews(_ request: BootstrapRequest, _ views: ClientViews, catchesUp: Bool) -> Bool {
        // A further page goes on with what was begun in its own session.
        if request.position != nil, views.begun != begins(request) { return false }
        guard let known = views.views.latest else { return true }
        if request.version == 0 || catchesUp { return request.version >= known.version }
        return request.version > known.version || request.version == known.version && request.roles != known.roles
    }

    /// Why there is no room for a set among what the app and the user may have; nil if there is. What new roles show of the set in force the client
    /// cannot do without.
    private func refusal(_ request: BootstrapRequest, _ views: ClientViews) async throws -> String? {
        guard request.version > views.views.latest?.version ?? 0 else { return nil }
        let wish = Allowances.Wish(bytes: views.growth(by: request.definition))
        do {
            try await Allowances(work: work).take(wish, of: AppUser(app: app.id, user: file.user), in: app)
            return nil
        } catch let refusal as Refusal {
            return refusal.message
        }
    }

    /// Has what a view may have found by its properties from now on, or once the indexes are filled.
    private func index(_ view: View) {
        var indexed = context.indexed
        guard indexed.add(view) else { return }
        work.change(context).setIndexed(indexed)
        work.memory.indexes.begin(context.name)
    }

    /// Set 0: the client has nothing yet but the schema.
    private func beginning(
        _ request: BootstrapRequest, _ known: ClientViews, after cursor: DownloadCursor
    ) throws -> PageAnswer {
        // An entry has a version, and a bootstrap an entry: a realm that has nothing begins with a version that says nothing.
        if context.record.latest.version == 0 {
            work.appendNothing(to: context)
        }
        let latest = context.record.latest.version
        var result = FlexiblePages.Stretch(
            entries: [schemaEntry(of: latest, cursor.clientVersion, in: context.nothing(for: known))], cursor: cursor)
        result.cursor.serverVersion = latest
        var views = ClientViews(
            views: ViewHistory([.init(start: latest, view: .empty(roles: request.roles))]), roles: request.roles,
            schemaVersion: known.schemaVersion)
        views.partition = known.partition
        work.change(context).update(file.ident) { [views] in
            $0.historyStart = latest
            $0.views = views.encoded()
        }
        return answer(request, after: cursor, result, .last, progress: 1)
    }

    private func page(
        _ request: BootstrapRequest, _ views: ClientViews, after cursor: DownloadCursor,
        from old: View, to next: (view: View, imaged: ServerVersion), maxBytes: Int
    ) async throws -> PageAnswer? {
        let new = next.view
        let touched = try await work.touches(after: cursor.serverVersion, in: context)
        let scanned = min(max(maxBytes, 1), limits.maxPageBytes)
        let selection = BootstrapSelection(work: work, context: context, old: old, new: new)
        guard let selected = try await selection.page(after: request.position, maxBytes: scanned) else {
            // An index is gone that pages before went by: the client begins anew, in another session.
            return answer(request, after: cursor, .init(cursor: cursor), .begunElsewhere, progress: 0)
        }
        let (part, count, counted) = try difference(selected.objects, without: touched, from: old, to: new, at: cursor)
        if let meter = new.meter, meter.overrun != nil { return tooDear(request, meter, at: cursor) }
        let isCut = count < selected.objects.count
        if let position = isCut ? selection.position(after: selected.objects[count - 1]) : selected.position {
            keepBegun(request, views)
            let begun = request.position
            var next = Self.next(position, after: begun, selected.objects.prefix(count), counted: counted)
            if begun == nil {
                next.total = selected.isLast && !isCut ? next.looked : UInt64(try await selection.extent())
            }
            return answer(
                request, after: cursor, part, .more(next), progress: Self.progress(at: next, pageBytes: scanned))
        }
        let latest = context.record.latest.version
        // A client says how far it is when there is something beyond what it has said, and by which roles it was sent the set that it says it
        // has only where it stands can tell: a version that says nothing.
        if views.mustBeConfirmed(at: latest)
            || latest == cursor.serverVersion && request.version == views.views.latest?.version
        {
            work.appendNothing(to: context)
        }
        guard var end = try await pages.stretch(after: cursor, views, from: old, to: next) else { return nil }
        let isTooDear = context.flexible.tooDear.contains(file.ident)
        if isTooDear || old.meter?.overrun != nil || new.meter?.overrun != nil {
            let meter = meter(context, limit: limits.evaluation.stepsPerRequest)
            defer { note(meter) }
            guard let whole = try await replacement(views, from: old, in: new.metered(by: meter), at: cursor) else {
                return nil
            }
            if meter.overrun != nil { return tooDear(request, meter, at: cursor) }
            end = whole
        }
        try waitIfDue(context)
        // Nobody asks for them before the client's next set.
        for view in [old, new] { view.forgetAccesses() }
        return last(request, views, after: cursor, end, maxBytes: maxBytes)
    }

    /// The set takes too much on what there is by now.
    func tooDear(_ request: BootstrapRequest, _ meter: EvaluationMeter, at cursor: DownloadCursor) -> PageAnswer {
        metrics.tooDear(app: app.id)
        return answer(
            request, after: cursor, .init(cursor: cursor), .refused("Invalid query: \(meter.refusal)"), progress: 0)
    }

    /// A position with how far that is.
    private static func next(
        _ position: BootstrapPosition, after begun: BootstrapPosition?,
        _ objects: ArraySlice<BootstrapSelection.Object>, counted: Int
    ) -> BootstrapPosition {
        var next = position
        next.done = (begun?.done ?? 0) &+ UInt64(objects.reduce(0) { $0 + $1.body.count })
        next.looked = begun.map { begun in begun.looked.map { $0 &+ UInt64(counted) } } ?? UInt64(counted)
        next.total = begun?.total
        return next
    }

    /// How much of a set's data pages have brought, in equal steps: as much as they have looked at of all the objects.
    static func progress(at position: BootstrapPosition, pageBytes: Int) -> Double {
        let share =
            if let looked = position.looked, let total = position.total {
                Double(looked) / Double(max(looked, total, 1))
            } else {
                // A gateway has passed on the position that does not know of it.
                Double(position.done) / (Double(position.done) + Double(pageBytes))
            }
        return min(Self.mostBeforeTheEnd, share)
    }

    /// What is said where all data is there but its end: stock clients' tests know it for that.
    static let mostBeforeTheEnd = 0.9999

    /// The page with which the client has the view.
    func last(
        _ request: BootstrapRequest, _ views: ClientViews, after cursor: DownloadCursor,
        _ stretch: FlexiblePages.Stretch, maxBytes: Int
    ) -> PageAnswer {
        var changed = views
        changed.views.begin(request.definition, at: context.record.latest.version, since: cursor.serverVersion)
        changed.roles = request.roles
        context.flexible.tooDear.remove(file.ident)
        // What is longer than a page the gateway may send in several messages.
        if stretch.entries.reduce(0, { $0 + $1.changeset.count }) > maxBytes { changed.begun = begins(request) }
        work.change(context).update(file.ident) { $0.views = changed.encoded() }
        return answer(
            request, after: cursor, stretch, .last, progress: 1, compensations: pages.notices(stretch.compensations))
    }

    func answer(
        _ request: BootstrapRequest, after cursor: DownloadCursor, _ stretch: FlexiblePages.Stretch,
        _ outcome: BootstrapPart.Outcome, progress: Double, compensations: [CompensationNotice] = []
    ) -> PageAnswer {
        let part = BootstrapPart(version: request.version, outcome: outcome, progress: progress)
        return pages.answer(after: cursor, stretch, ViewPart(compensations: compensations, bootstrap: part))
    }

    /// The entry that makes the realm's schema, as the client has it.
    func schemaEntry(of version: ServerVersion, _ clientVersion: ClientVersion, in view: View) -> HistoryEntry {
        HistoryEntry(
            serverVersion: version, clientVersion: clientVersion, originFile: .server, timestamp: clock.changesetNow,
            changeset: StateChangesets(schema: view.mapping?.visible ?? context.state.schema).schemaChangeset()
                .encoded())
    }

    private func begins(_ request: BootstrapRequest) -> BegunBootstrap {
        BegunBootstrap(version: request.version, of: session)
    }

    /// Remembers that the client is sent a set's data in this session.
    func keepBegun(_ request: BootstrapRequest, _ views: ClientViews) {
        var views = views
        guard views.begun != begins(request) else { return }
        views.begun = begins(request)
        work.change(context).update(file.ident) { $0.views = views.encoded() }
    }

    /// What makes the old view of some objects the new one, and of how many of them: the rest has to wait for another page if these take long.
    /// What cannot be told of the old view is brought anew.
    ///
    /// - Returns: besides, how many of these objects count for how far the pages are.
    private func difference(
        _ objects: [BootstrapSelection.Object], without touched: RecentTouches, from old: View, to new: View,
        at cursor: DownloadCursor
    ) throws -> (FlexiblePages.Stretch, count: Int, counted: Int) {
        var change = CopyChange(schema: context.state.schema, in: new)
        var count = 0
        var counted = 0
        // The objects come class by class.
        var pair: ClassPair?
        for selected in objects {
            let steps = (old.meter?.steps ?? 0) + (new.meter?.steps ?? 0)
            if steps > limits.evaluation.stepsPerPage || new.meter?.overrun != nil { break }
            count += 1
            if !selected.countsIfChanged { counted += 1 }
            let (row, body) = (selected.row, selected.body)
            let slot = ObjectSlot(TableID(rawValue: row.table), row.key)
            if pair?.id != slot.table { pair = ClassPair(slot.table, from: old, to: new, in: context.state.schema) }
            guard let pair, let table = pair.table, !touched.isTouched(slot, after: cursor.serverVersion) else {
                continue
            }
            let image = try SliceWork.object(body, only: pair.columns, of: context.name)
            // The object's place in the old view cannot always be told any more.
            let known = pair.isOld ? pair.before?.membership(of: image, row.key) : false
            let was = known ?? true
            let is_ = pair.after?.contains(image, row.key) ?? false
            try waitIfDue(context)
            let address = ObjectAddress(table.name, row.key)
            let isShownOtherwise = was && is_ && (known == nil || !pair.isShownAlike)
            if selected.countsIfChanged,
                was ? !is_ && selected.purpose == .leaving : is_ && selected.purpose == .entering
            {
                counted += 1
            }
            if was, !is_, selected.purpose != .entering { change.erase(address) }
            guard selected.purpose != .leaving else { continue }
            if isShownOtherwise { change.erase(address) }
            if is_, !was || isShownOtherwise {
                change.add(address, try SliceWork.object(body, of: context.name), without: pair.hidden)
            }
        }
        let entries = try change.entries(of: cursor.serverVersion, cursor.clientVersion, at: clock.changesetNow)
        return (FlexiblePages.Stretch(entries: entries, cursor: cursor), count, counted)
    }
}

/// The parts of two views that are about one class, looked up once for all of its objects.
private final class ClassPair {
    let id: TableID
    /// The class; nil if neither view selects anything of it.
    let table: TableSchema?
    let before: ClassView?
    let after: ClassView?
    /// Whether the old view has anything to do with the class.
    let isOld: Bool
    /// The properties that the new view's role hides.
    let hidden: Set<ColumnID>
    /// The properties by which either view decides, in ascending order.
    let columns: [ColumnID]
    let isShownAlike: Bool

    init(_ id: TableID, from old: View, to new: View, in schema: Schema) {
        self.id = id
        (before, after) = (old[id], new[id])
        isOld = before != nil
        hidden = after?.role?.hiddenColumns ?? []
        table = before?.query != nil || after?.query != nil ? schema.table(id) : nil
        columns = Set((before?.columns ?? []) + (after?.columns ?? [])).sorted()
        isShownAlike = old.showsAlike(new, id)
    }
}

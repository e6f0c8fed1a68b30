import Messages
import Query
import SyncModel
import SyncProtocol
import Synchronization
import Views

/// A notice of a flexible realm on its way to the sessions that hold one view, or to sessions that have to ask their owner what it means for
/// them.
final class ViewedNotice: Sendable {
    private let contents: NoticeContents
    private let group: ViewFan.Outcome.Group?
    /// What those get that wrote nothing of it, by the newest own version that they have integrated.
    private let parts = Mutex<[ClientVersion: SharedVersions.View?]>([:])

    /// - Parameter group: nil for sessions that have to ask.
    init(_ contents: NoticeContents, for group: ViewFan.Outcome.Group?) {
        self.contents = contents
        self.group = group
    }

    var fanned: FannedNotice { contents.fanned }
    /// Whether the notice's sessions are told of whatever concerns them: they stand where the notice begins.
    var isFollowed: Bool { group != nil }

    /// What a client realm gets that has `clientVersion` of its own history integrated before the notice; nil if its owner has to be asked.
    func part(for file: FileIdent, at clientVersion: ClientVersion) -> SharedVersions.View? {
        guard let group, let stretch = contents.stretch else { return nil }
        let isInIt = stretch.addressed.contains(file) || stretch.authors[file] != nil
        if !isInIt, let known = parts.withLock({ $0[clientVersion] }) { return known }
        // Not under the lock: two sessions may do the same work at the same time, but none waits for another's.
        let limit = contents.limits.stepsPerSet
        let meter = EvaluationMeter(perObject: limit, limit: 2 * limit)
        let found = stretch.part(
            for: file, at: clientVersion, group.slots, in: group.view.metered(by: meter), split: contents.split)
        let part = meter.overrun == nil ? found : nil
        var view = part.map { SharedVersions.View(entries: $0.entries, clientVersion: $0.clientVersion) }
        guard !isInIt else { return view }
        if let entries = view?.entries, !entries.isEmpty { view?.packed = try? PackedEntries(entries) }
        parts.withLock { [view] parts in
            if parts.count < SharedVersions.maxViews { parts.updateValue(view, forKey: clientVersion) }
        }
        return view
    }
}

/// A notice of a flexible realm, read as far as its sessions need it.
final class NoticeContents: Sendable {
    let fanned: FannedNotice
    /// Nil if the notice does not say what it touches.
    let stretch: FannedStretch?
    /// The bounds of working out what one session gets.
    let limits: EvaluationLimits
    private let splits = Mutex<[Int: SplitChangeset]>([:])

    init(_ notice: IntegratedNotice, _ limits: EvaluationLimits = EvaluationLimits()) {
        self.limits = limits
        fanned = FannedNotice(notice)
        stretch = notice.objects.flatMap { objects in
            try? FannedStretch(
                follows: notice.follows, latest: notice.latest.version, entries: notice.entries,
                before: objects.before.map(\.wrappedValue), now: objects.now,
                addressed: Set(notice.acknowledgements.map(\.clientFile)))
        }
    }

    /// An entry's changeset by objects; nil if it cannot be read.
    func split(_ index: Int) -> SplitChangeset? {
        if let known = splits.withLock({ $0[index] }) { return known }
        guard let split = try? SplitChangeset(parsing: fanned.notice.entries[index].changeset) else { return nil }
        splits.withLock { $0[index] = split }
        return split
    }
}

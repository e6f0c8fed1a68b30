import SyncModel

@testable import Views

/// The rule of which writes count (docs/flexible.md, "Which writes count"), gone through version by version.
struct NaiveWriteRule {
    typealias View = WriteCase.OwnerView

    /// A client at a version, under a view that is in force there.
    private struct Moment {
        var version: UInt64
        var isIn: Bool
    }

    let test: WriteCase

    /// Returns the views in force at a version: both at the version where one view takes another's place.
    ///
    /// - Parameter stood: the number of the view that the client had before; it has had that one, or later ones.
    func views(at version: UInt64, having stood: Int = 0) -> [View] {
        test.segments.indices.filter { index in
            guard index >= stood, test.segments[index].start.rawValue <= version || (index == stood && stood > 0) else {
                return false
            }
            return !hasEnded(index, before: version)
        }.map { test.segments[$0].view }
    }

    private func hasEnded(_ index: Int, before version: UInt64) -> Bool {
        index + 1 < test.segments.count && test.segments[index + 1].start.rawValue < version
    }

    private func isIn(_ owner: Int64?, _ view: View) -> Bool { owner.map { view.owners.contains($0) } ?? false }

    private func moments(since version: UInt64, having stood: Int = 0) -> [Moment] {
        (version...test.latest).flatMap { version in
            views(at: version, having: stood).map { Moment(version: version, isIn: isIn(test.owner(at: version), $0)) }
        }
    }

    /// The last version by which the client made or erased the object itself.
    var ownSince: UInt64? {
        test.touches.filter { version, isOwn in
            isOwn && (test.owner(at: version - 1) == nil) != (test.owner(at: version) == nil)
        }.keys.max()
    }

    /// The client changes or erases what it had, or puts another one in its place.
    private var goesOn: Bool { !test.write.creates || test.write.beginsWithErasure }

    /// The first view that the client may have had where it stood that explains its write: it goes on with what it had, and makes what it had not.
    private var stood: Int? {
        if let ownSince { return test.owner(at: ownSince) != nil ? 0 : nil }
        let possible = test.segments.indices.filter { index in
            let begun = test.segments[index].since ?? test.segments[index].start
            return begun.rawValue <= test.base && !hasEnded(index, before: test.base)
        }
        let owner = test.owner(at: test.base)
        if !goesOn, possible.contains(where: { !isIn(owner, test.segments[$0].view) }) { return nil }
        return possible.first { isIn(owner, test.segments[$0].view) }
    }

    var verdict: WriteVerdict {
        let known = ownSince ?? test.base
        let always = stood.map { moments(since: known, having: $0).allSatisfy(\.isIn) } ?? false
        let now = test.owner(at: test.latest)
        let isNow = test.segments.last.map { isIn(now, $0.view) } ?? false
        if stood != nil, always || goesOn {
            return .merge(resyncs: (isNow || test.write.erases) && (!always || wasSentAnew))
        }
        guard test.write.creates else { return .refuse }
        guard now != nil else { return .insert(resyncs: stood != nil || wasSentErasure || wasSentAnew) }
        return isNow ? .giveWay : .refuse
    }

    /// A client that went through all versions and views was sent an erasure for the key; its own it is not sent.
    private var wasSentErasure: Bool {
        let moments = moments(since: test.base)
        return zip(moments, moments.dropFirst()).contains { from, to in
            let isOwnErasure =
                from.version != to.version && test.touches[to.version] == true && test.owner(at: to.version) == nil
            return from.isIn && !to.isIn && !isOwnErasure
        }
    }

    /// A client that was brought from one view to another, page by page, may have been sent the object's erasure on the way.
    private var wasSentAnew: Bool {
        zip(test.segments, test.segments.dropFirst()).contains { old, new in
            let (since, end) = ((new.since ?? new.start).rawValue, new.start.rawValue)
            guard test.base < end else { return false }
            let isTouched = test.touches.keys.contains { $0 > since && $0 <= end }
            let places = (test.base...test.latest).filter { $0 >= since && $0 <= end }.map { version in
                [old.view, new.view].map { isIn(test.owner(at: version), $0) }
            }
            if places.contains([true, true]), old.view.shown != new.view.shown { return true }
            guard isTouched else { return false }
            return new.isRenewal || places.contains { $0.contains(true) } && places.contains { $0.contains(false) }
        }
    }
}

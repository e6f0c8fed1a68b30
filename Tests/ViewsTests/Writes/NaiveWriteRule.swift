import SyncModel

@testable import Views

/// The rule of which writes count (docs/architecture.md, "Flexible sync"), gone through version by version.
struct NaiveWriteRule {
    typealias View = WriteCase.OwnerView

    /// A client at a version, under a view that is in force there.
    private struct Moment {
        var version: UInt64
        var isIn: Bool
    }

    let test: WriteCase

    /// At the version where one view takes another's place both are in force.
    func views(at version: UInt64) -> [View] {
        test.segments.indices.filter { index in
            guard test.segments[index].start.rawValue <= version else { return false }
            return index + 1 == test.segments.count || version <= test.segments[index + 1].start.rawValue
        }.map { test.segments[$0].view }
    }

    private func isIn(_ owner: Int64?, _ view: View) -> Bool { owner.map { view.owners.contains($0) } ?? false }

    private func moments(since version: UInt64) -> [Moment] {
        (version...test.latest).flatMap { version in
            views(at: version).map { Moment(version: version, isIn: isIn(test.owner(at: version), $0)) }
        }
    }

    /// The last version by which the client made or erased the object itself.
    var ownSince: UInt64? {
        test.touches.filter { version, isOwn in
            isOwn && (test.owner(at: version - 1) == nil) != (test.owner(at: version) == nil)
        }.keys.max()
    }

    var verdict: WriteJudge<View>.Verdict {
        let known = ownSince ?? test.base
        let had =
            ownSince.map { test.owner(at: $0) != nil } ?? views(at: known).contains { isIn(test.owner(at: known), $0) }
        let always = had && moments(since: known).allSatisfy(\.isIn)
        let now = test.owner(at: test.latest)
        // The client changes or erases what it had, or puts another one in its place.
        let goesOn = !test.write.creates || test.write.beginsWithErasure
        if had, always || goesOn && !hasPutItOut(since: known) {
            let isNow = test.segments.last.map { isIn(now, $0.view) } ?? false
            return .merge(resyncs: (isNow || test.write.erases) && (!always || wasSentAnew))
        }
        if !had, test.write.creates, now == nil { return .insert(resyncs: wasSentErasure || wasSentAnew) }
        return .refuse
    }

    /// The client itself put the object out of its view.
    private func hasPutItOut(since known: UInt64) -> Bool {
        test.touches.contains { version, isOwn in
            guard isOwn, version > known, test.owner(at: version) != nil else { return false }
            return (views(at: version - 1) + views(at: version)).contains {
                isIn(test.owner(at: version - 1), $0) && !isIn(test.owner(at: version), $0)
            }
        }
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

package import RealmState
package import SyncModel

/// One object over the versions that a client had not seen when it wrote to the object.
package struct ObjectTimeline: Sendable {
    package struct Touch: Sendable {
        package var version: ServerVersion
        /// The client file in question has written it.
        package var isOwn: Bool
        /// The object before the version; nil if there was none.
        package var before: StoredObject?

        package init(version: ServerVersion, isOwn: Bool, before: StoredObject?) {
            self.version = version
            self.isOwn = isOwn
            self.before = before
        }
    }

    /// The version that the write is based on.
    package var base: ServerVersion
    package var latest: ServerVersion
    /// The versions after the base that touch the object, ascending.
    package var touches: [Touch]
    /// The object as it is; nil if there is none.
    package var now: StoredObject?

    package init(base: ServerVersion, latest: ServerVersion, touches: [Touch], now: StoredObject?) {
        self.base = base
        self.latest = latest
        self.touches = touches
        self.now = now
    }

    /// The version by which the client has made or erased the object itself; nil if there is none. What others did to the object before it
    /// is nothing to the client's later writes: these are not transformed past it.
    package var ownSince: ServerVersion? {
        let known = knownSince
        return known.made == nil ? nil : known.version
    }

    /// How the object was after a touch.
    fileprivate func after(_ index: Int) -> StoredObject? {
        index + 1 < touches.count ? touches[index + 1].before : now
    }

    fileprivate typealias State = (object: StoredObject?, from: ServerVersion, through: ServerVersion)

    /// How the object was, from which version on through which.
    fileprivate func states(since base: ServerVersion, _ touches: ArraySlice<Touch>) -> [State] {
        var states: [State] = []
        var from = base
        for touch in touches {
            states.append((touch.before, from, touch.version - 1))
            from = touch.version
        }
        states.append((now, from, latest))
        return states
    }

    /// Since when the client knows the object as it is then: since the base, or since the version by which it made or erased the
    /// object itself.
    fileprivate var knownSince: (version: ServerVersion, touches: ArraySlice<Touch>, made: Bool?) {
        for index in touches.indices.reversed() where touches[index].isOwn {
            let existed = touches[index].before != nil
            let exists = after(index) != nil
            if existed != exists { return (touches[index].version, touches[(index + 1)...], exists) }
        }
        return (base, touches[...], nil)
    }
}

/// Judges what a client has done to an object, by what it could know of the object. Pure.
///
/// A client *has* an object at a version if the object is in its view there, or if it made the object itself.
package struct WriteJudge<Element: Sendable>: Sendable {
    package enum Verdict: Equatable, Sendable {
        /// The write was sound when it was made: it is merged. `resyncs`: the client has to be sent the object as the write leaves it besides,
        /// since the client may have been sent the object's erasure in between.
        case merge(resyncs: Bool)
        /// A new object, which takes nobody else's place.
        case insert(resyncs: Bool)
        /// Another object of the key is in the client's view, which the client could not know when it made its own: that one stays, and nobody
        /// has done wrong.
        case giveWay
        /// The write does not count.
        case refuse
    }

    package let views: ViewHistory<Element>
    /// Whether a view has an object.
    package let isIn: @Sendable (StoredObject?, Element) -> Bool
    /// Whether two views show the same properties of objects of the class.
    package let isShownAlike: @Sendable (Element, Element) -> Bool

    package init(
        views: ViewHistory<Element>, isIn: @escaping @Sendable (StoredObject?, Element) -> Bool,
        isShownAlike: @escaping @Sendable (Element, Element) -> Bool = { _, _ in true }
    ) {
        self.views = views
        self.isIn = isIn
        self.isShownAlike = isShownAlike
    }

    package func verdict(on timeline: ObjectTimeline, _ write: ObjectWrite) -> Verdict {
        let (base, touches, made) = timeline.knownSince
        let states = timeline.states(since: base, touches)
        // Who erases the object first knew of it, also if another one takes its place.
        let knew = !write.creates || write.beginsWithErasure
        let stood: Int? =
            switch made {
            case true?: 0
            case false?: nil
            case nil: self.stood(at: base, with: states[0].object, knowing: knew)
            }
        let always =
            stood.map { stood in
                states.allSatisfy { state in
                    views.views(from: state.from, through: state.through, having: stood).allSatisfy {
                        isIn(state.object, $0)
                    }
                }
            } ?? false
        let isNow = views.latest.map { isIn(timeline.now, $0) } ?? false
        if stood != nil, always || knew {
            // At the client an erasure that came for the object may have taken the place of the client's own, so that what came with it
            // outlives both.
            return .merge(resyncs: (isNow || write.erases) && (!always || wasReplaced(timeline)))
        }
        guard write.creates else { return .refuse }
        if timeline.now == nil {
            return .insert(resyncs: stood != nil || mayHaveBeenErased(timeline) || wasReplaced(timeline))
        }
        return isNow ? .giveWay : .refuse
    }

    /// The number of the view that the client had at a version, if that one had an object. It may have had one of several there: it has changed
    /// or erased the object only if that was in its view, and made it only if not.
    private func stood(at version: ServerVersion, with object: StoredObject?, knowing knew: Bool) -> Int? {
        let possible = views.possible(at: version)
        let having = possible.filter { isIn(object, views.segments[$0].view) }
        return knew || having.count == possible.count ? having.first : nil
    }

    /// Whether the client may have been sent EraseObject since its base, which would take what it has made by now.
    private func mayHaveBeenErased(_ timeline: ObjectTimeline) -> Bool {
        let states = timeline.states(since: timeline.base, timeline.touches[...])
        for (index, state) in states.enumerated() {
            // By a new view.
            let inForce = views.views(from: state.from, through: state.through).map { isIn(state.object, $0) }
            if let first = inForce.firstIndex(of: true), inForce[first...].contains(false) { return true }
            // By a version, unless it is the client's own erasure.
            guard index + 1 < states.count else { continue }
            let next = states[index + 1]
            guard !(timeline.touches[index].isOwn && next.object == nil) else { continue }
            let was = views.views(from: state.through, through: state.through).contains { isIn(state.object, $0) }
            let stays = views.views(from: next.from, through: next.from).allSatisfy { isIn(next.object, $0) }
            if was, !stays { return true }
        }
        return false
    }

    /// Whether the client was sent the object's erasure, and the object perhaps, when it was brought from one view to another or over what it had
    /// missed, though the object was in its view at both ends.
    private func wasReplaced(_ timeline: ObjectTimeline) -> Bool {
        views.changes.contains { change in
            guard timeline.base < change.end else { return false }
            let isTouched = timeline.touches.contains { $0.version > change.since && $0.version <= change.end }
            if change.isRenewal, isTouched { return true }
            let states = timeline.states(since: timeline.base, timeline.touches[...]).filter {
                $0.from <= change.end && $0.through >= change.since
            }
            let places = states.map { (isIn($0.object, change.old), isIn($0.object, change.new)) }
            if places.contains(where: { $0 && $1 }), !isShownAlike(change.old, change.new) { return true }
            // A page may have sent the object as it was: then the last one erases whatever the client has under its key.
            return isTouched && places.contains { $0 || $1 } && !places.allSatisfy { $0 && $1 }
        }
    }
}

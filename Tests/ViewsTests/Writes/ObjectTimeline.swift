import RealmState
import SyncModel

@testable import Views

/// One object over the versions that a client had not seen when it wrote to the object.
struct ObjectTimeline {
    struct Touch {
        var version: ServerVersion
        /// The client file in question has written it.
        var isOwn: Bool
        /// The object before the version; nil if there was none.
        var before: StoredObject?
    }

    /// The version that the write is based on.
    var base: ServerVersion
    var latest: ServerVersion
    /// The versions after the base that touch the object, ascending.
    var touches: [Touch]
    /// The object as it is; nil if there is none.
    var now: StoredObject?

    /// - Parameter bases: those that the past is read for; nil: the timeline's own.
    func past<Element>(by judge: WriteJudge<Element>, bases: [ServerVersion]? = nil) -> ObjectPast {
        var reader = judge.reader(bases: bases ?? [base], latest: latest, now: now)
        for touch in touches.reversed() { reader.add(touch.version, isOwn: touch.isOwn, before: touch.before) }
        return reader.finish()
    }
}

extension WriteJudge {
    func verdict(on timeline: ObjectTimeline, _ write: ObjectWrite) -> WriteVerdict {
        timeline.past(by: self).verdict(on: write, basedOn: timeline.base)
    }
}

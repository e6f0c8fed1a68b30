import Changesets
import RealmState
import SyncModel
import TestSupport
import Testing

@testable import Views

/// Tests of which writes count, case by case.
@Suite struct WriteJudgeTests {
    /// An object of an owner; a view is the owners that it has.
    private static func object(_ owner: Int64) -> StoredObject { StoredObject([ColumnID(rawValue: 0): .int(owner)]) }

    private func verdict(
        views: [(ServerVersion, Set<Int64>)] = [(0, [1])], since: ServerVersion? = nil,
        isRenewal: Bool = false, isShownAlike: Bool = true, _ touches: [(own: Bool, before: Int64?)], now: Int64?,
        creates: Bool = false, erases: Bool = false
    ) -> WriteVerdict {
        // The last view's pages may have begun before.
        let segments = views.enumerated().map { index, view in
            ViewHistory<Set<Int64>>.Segment(
                start: view.0, view: view.1, since: index == views.count - 1 ? since : nil,
                isRenewal: index == views.count - 1 && isRenewal)
        }
        let judge = WriteJudge(
            views: ViewHistory(segments),
            isIn: { object, owners in
                guard case .int(let owner) = object[ColumnID(rawValue: 0)] else { return false }
                return owners.contains(owner)
            }, isShownAlike: { _, _ in isShownAlike })
        let touches = touches.enumerated().map { index, touch in
            ObjectTimeline.Touch(
                version: ServerVersion(11 + UInt64(index)), isOwn: touch.own, before: touch.before.map(Self.object))
        }
        return judge.verdict(
            on: ObjectTimeline(base: 10, latest: 20, touches: touches, now: now.map(Self.object)),
            // What erases the object and makes it, begins with that.
            ObjectWrite(creates: creates, erases: erases, beginsWithErasure: erases))
    }

    @Test func writeToObjectAlwaysInViewIsMerged() {
        expectEqual(verdict([], now: 1), .merge(resyncs: false))
        expectEqual(verdict([(false, 1)], now: 1), .merge(resyncs: false))
        expectEqual(verdict([(true, 1)], now: 1), .merge(resyncs: false))
    }

    @Test func writeToObjectTakenOutByOthersIsMerged() {
        expectEqual(verdict([(false, 1)], now: 2), .merge(resyncs: false))
        expectEqual(verdict([(false, 1)], now: nil), .merge(resyncs: false))
        expectEqual(verdict([(false, 1), (false, 2)], now: 1), .merge(resyncs: true))
        expectEqual(verdict([(false, 1), (false, nil)], now: 1), .merge(resyncs: true))
    }

    /// The client has the object until it hears that the object has left the view, and its user goes on with it.
    @Test func writeToObjectTakenOutByTheClientIsMerged() {
        expectEqual(verdict([(true, 1)], now: 2), .merge(resyncs: false))
        expectEqual(verdict([(true, 1), (false, 2)], now: 1), .merge(resyncs: true))
        // The client has been sent the erasure, and makes the object again.
        expectEqual(verdict([], now: 2, creates: true), .refuse)
    }

    @Test func aNewObjectTakesNobodysPlace() {
        expectEqual(verdict([], now: nil, creates: true), .insert(resyncs: false))
        expectEqual(verdict([], now: 2, creates: true), .refuse)
        // Another's of the same key, which the client is sent, or cannot see.
        expectEqual(verdict([(false, nil)], now: 1, creates: true), .giveWay)
        expectEqual(verdict([(false, nil)], now: 2, creates: true), .refuse)
        expectEqual(verdict([(false, nil), (false, 1)], now: nil, creates: true), .insert(resyncs: true))
        expectEqual(verdict([(false, nil), (false, 2)], now: nil, creates: true), .insert(resyncs: false))
    }

    @Test func objectMadeByTheClientCountsAsHeld() {
        expectEqual(verdict([(true, nil)], now: 1), .merge(resyncs: false))
        expectEqual(verdict([(true, nil), (false, 1)], now: 2), .merge(resyncs: false))
        expectEqual(verdict([(true, nil), (true, 1)], now: nil, creates: true), .insert(resyncs: false))
        // Erased and made anew in two uploads.
        expectEqual(verdict([(true, 1)], now: nil, creates: true), .insert(resyncs: false))
        // A new view has taken it from the client before the client's own erasure came.
        expectEqual(
            verdict(views: [(0, [1]), (11, [2])], [(false, 1), (true, 1)], now: nil, creates: true),
            .insert(resyncs: true))
        expectEqual(
            verdict(views: [(0, [1]), (13, [2])], [(false, 1), (true, 1)], now: nil, creates: true),
            .insert(resyncs: false))
    }

    /// Another client's object of the same key was in the new view when its pages began, and is gone when they end: the
    /// client may have been sent that object and its erasure, which takes the client's own object with it.
    @Test func objectPresentDuringANewViewsPagesIsSentAnew() {
        let views: [(ServerVersion, Set<Int64>)] = [(0, [1]), (12, [2])]
        let touches: [(own: Bool, before: Int64?)] = [(false, nil), (false, 2)]
        expectEqual(verdict(views: views, since: 11, touches, now: nil, creates: true), .insert(resyncs: true))
        // Nothing was there when they began, or it was in neither view.
        expectEqual(verdict(views: views, since: 12, touches, now: nil, creates: true), .insert(resyncs: false))
        expectEqual(
            verdict(views: views, since: 11, [(false, nil), (false, 3)], now: nil, creates: true),
            .insert(resyncs: false))
        // What the client made meanwhile, and goes on with.
        expectEqual(
            verdict(
                views: [(0, [1]), (13, [1, 2])], since: 11, [(false, nil), (false, 2), (true, nil)], now: 1),
            .merge(resyncs: true))
        // In both views all the time.
        expectEqual(
            verdict(views: [(0, [1]), (12, [1, 2])], since: 10, [(false, 1), (false, 1)], now: 1),
            .merge(resyncs: false))
    }

    /// The client was far behind: every object touched since its version was erased at it and sent anew.
    @Test func renewedObjectIsSentAnew() {
        let views: [(ServerVersion, Set<Int64>)] = [(0, [1]), (12, [1])]
        expectEqual(verdict(views: views, since: 10, isRenewal: true, [(false, 1)], now: 1), .merge(resyncs: true))
        expectEqual(
            verdict(views: views, since: 10, isRenewal: true, [(false, 1)], now: nil, erases: true),
            .merge(resyncs: true))
        // Nothing had been touched, or after that only.
        expectEqual(verdict(views: views, since: 10, isRenewal: true, [], now: 1), .merge(resyncs: false))
        expectEqual(
            verdict(views: [(0, [1]), (10, [1])], since: 5, isRenewal: true, [(false, 1)], now: 1),
            .merge(resyncs: false))
        expectEqual(
            verdict(views: views, since: 10, isRenewal: true, [(false, nil), (false, 2)], now: nil, creates: true),
            .insert(resyncs: true))
    }

    /// An object that new roles show differently is erased at the client and sent anew.
    @Test func objectShownDifferentlyIsSentAnew() {
        let views: [(ServerVersion, Set<Int64>)] = [(0, [1]), (12, [1])]
        expectEqual(verdict(views: views, isShownAlike: false, [], now: 1), .merge(resyncs: true))
        expectEqual(verdict(views: views, isShownAlike: true, [], now: 1), .merge(resyncs: false))
        expectEqual(
            verdict(views: [(0, [1]), (12, [2])], isShownAlike: false, [(true, nil)], now: 3), .merge(resyncs: false))
    }

    @Test func erasureIsToldIfTheObjectMayHaveBeenResent() {
        expectEqual(verdict([], now: 1, erases: true), .merge(resyncs: false))
        expectEqual(verdict([(false, 1)], now: 1, erases: true), .merge(resyncs: false))
        expectEqual(verdict([(false, 1), (false, 2)], now: 1, erases: true), .merge(resyncs: true))
        // Another object takes the erased one's place at once.
        expectEqual(verdict([], now: 1, creates: true, erases: true), .merge(resyncs: false))
        expectEqual(verdict([(false, 1)], now: 2, creates: true, erases: true), .merge(resyncs: true))
        expectEqual(verdict([], now: 2, creates: true, erases: true), .refuse)
        expectEqual(verdict([], now: nil, creates: true, erases: true), .insert(resyncs: false))
    }

    @Test func objectNeverHeldCannotBeChanged() {
        expectEqual(verdict([], now: 2), .refuse)
        expectEqual(verdict([], now: nil), .refuse)
        expectEqual(verdict([(false, 2)], now: 1), .refuse)
        expectEqual(verdict([(false, 1), (false, nil)], now: 2, creates: true), .refuse)
        expectEqual(verdict([(false, 1), (false, nil)], now: 1, creates: true), .giveWay)
    }

    /// What the client does to an object where it has got another view tells which of the two it had.
    @Test func whereOneViewTakesAnothersPlaceTheWriteTellsWhichOneTheClientHad() {
        let views: [(ServerVersion, Set<Int64>)] = [(0, [1]), (10, [2])]
        // The client has the object, and nothing took the object from it.
        expectEqual(verdict(views: views, [], now: 2), .merge(resyncs: false))
        expectEqual(verdict(views: views, [(false, 2)], now: 2), .merge(resyncs: false))
        expectEqual(verdict(views: views, [], now: 2, erases: true), .merge(resyncs: false))
        expectEqual(verdict(views: views, [], now: 1), .merge(resyncs: false))
        // The client makes an object of its own, so it did not have this one.
        expectEqual(verdict(views: views, [], now: 2, creates: true), .giveWay)
        expectEqual(verdict(views: views, [(false, 2)], now: nil, creates: true), .insert(resyncs: true))
        // The client may have lost the object and got it back.
        expectEqual(verdict(views: [(0, [2]), (10, [1]), (10, [2])], [], now: 2), .merge(resyncs: true))
        expectEqual(verdict(views: [(0, [1]), (15, [2])], [], now: 1), .merge(resyncs: false))
        expectEqual(verdict(views: [(0, [1]), (9, [2])], [], now: 1), .refuse)
    }

    /// Stock clients bring a set's data in by several commits, before the last of which they say that they stand where they stood.
    @Test func aWriteInTheMiddleOfASetsDataCounts() {
        let views: [(ServerVersion, Set<Int64>)] = [(0, [1]), (13, [2])]
        expectEqual(verdict(views: views, since: 10, [], now: 2), .merge(resyncs: false))
        // What was touched meanwhile the last page erases and brings anew.
        expectEqual(verdict(views: views, since: 10, [(false, 2)], now: 2), .merge(resyncs: true))
        expectEqual(verdict(views: views, since: 11, [], now: 2), .refuse)
        expectEqual(verdict(views: views, since: 10, [], now: 2, creates: true), .giveWay)
    }

    @Test func viewsAreForgottenWhenNothingIsBasedOnThem() {
        var history = ViewHistory<Int>([.init(start: 0, view: 1), .init(start: 5, view: 2), .init(start: 9, view: 3)])
        expectEqual(history.views(from: 5, through: 5), [1, 2])
        expectEqual(history.views(from: 6, through: 8), [2])
        expectEqual(history.views(from: 0, through: 20), [1, 2, 3])
        history.trim(before: 5)
        expectEqual(history.segments.count, 3)
        history.trim(before: 6)
        expectEqual(history.views(from: 6, through: 9), [2, 3])
        history.trim(before: 100)
        expectTrue(history.latest == 3 && history.segments.count == 1)
    }
}

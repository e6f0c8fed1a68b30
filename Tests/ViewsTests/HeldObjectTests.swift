import SyncModel
import TestSupport
import Testing
import Views

/// What becomes of one object at a client: rule by rule.
@Suite struct HeldObjectTests {
    typealias Place = HeldObject.Place
    typealias Passage = HeldObject.Passage

    /// Versions from 11 on that touch the object, each with whether it is the client's own and how the object was before; a client at 10.
    struct Case: Sendable {
        var name: String
        var touches: [(isOwn: Bool, before: Place)]
        var now: Place
        var passage: Passage
        /// The touch after which the client is resynced.
        var resyncAfter: Int?
    }

    static let cases: [Case] = [
        Case(name: "in and in", touches: [(false, .inView)], now: .inView, passage: .passes(after: 10)),
        Case(name: "out and in", touches: [(false, .outside)], now: .inView, passage: .enters(erasingFirst: false)),
        Case(name: "new", touches: [(false, .missing)], now: .inView, passage: .passes(after: 10)),
        Case(
            name: "new, and out for a moment", touches: [(false, .missing), (false, .inView), (false, .outside)],
            now: .inView, passage: .enters(erasingFirst: true)),
        Case(
            name: "new, out of the view at first", touches: [(false, .missing), (false, .outside)], now: .inView,
            passage: .enters(erasingFirst: false)),
        Case(name: "in and out", touches: [(false, .inView)], now: .outside, passage: .leaves),
        Case(name: "erased", touches: [(false, .inView)], now: .missing, passage: .leaves),
        Case(name: "out and out", touches: [(false, .outside)], now: .outside, passage: .nothing),
        Case(
            name: "out in between", touches: [(false, .inView), (false, .outside)], now: .inView,
            passage: .enters(erasingFirst: true)),
        Case(
            name: "in for a moment", touches: [(false, .outside), (false, .inView)], now: .outside, passage: .nothing),
        Case(name: "made by itself", touches: [(true, .missing)], now: .inView, passage: .passes(after: 11)),
        Case(
            name: "made by itself, then out", touches: [(true, .missing), (false, .inView)], now: .outside,
            passage: .leaves),
        Case(name: "erased by itself", touches: [(true, .inView)], now: .missing, passage: .nothing),
        Case(
            name: "erased and made anew by itself", touches: [(true, .inView), (true, .missing)], now: .inView,
            passage: .passes(after: 12)),
        Case(
            name: "erased by itself, made by another", touches: [(true, .inView), (false, .missing)], now: .inView,
            passage: .passes(after: 11)),
        Case(name: "put out by itself", touches: [(true, .inView)], now: .outside, passage: .leaves),
        Case(
            name: "resynced", touches: [(false, .inView), (true, .outside)], now: .inView,
            passage: .enters(erasingFirst: true), resyncAfter: 1),
        Case(
            name: "resynced, and made by others since", touches: [(true, .inView), (false, .missing)], now: .inView,
            passage: .enters(erasingFirst: true), resyncAfter: 0),
        Case(
            name: "resynced while out", touches: [(false, .inView)], now: .outside, passage: .leaves, resyncAfter: 0),
        Case(
            name: "resynced, then out", touches: [(true, .inView), (false, .inView)], now: .outside, passage: .leaves,
            resyncAfter: 0),
    ]

    @Test(arguments: cases.indices) func passes(_ index: Int) {
        let test = Self.cases[index]
        var held = HeldObject(at: 10)
        for (index, touch) in test.touches.enumerated() {
            let version = ServerVersion(11 + UInt64(index))
            held.touch(version, isOwn: touch.isOwn, before: touch.before)
            if test.resyncAfter == index { held.resync(version) }
        }
        expectEqual(held.passage(now: test.now), test.passage, "\(test.name)")
    }

    @Test func anObjectThatIsOnlyResyncedIsPutRight() {
        var held = HeldObject(at: 10)
        held.resync(11)
        expectEqual(held.passage(now: .inView), .enters(erasingFirst: true))
        expectEqual(held.passage(now: .missing), .leaves)
    }

    @Test func aBootstrapLeavesAloneWhatIsInBothViews() {
        let passes = Passage.passes(after: 10)
        expectEqual(passes.changing(wasInOld: true, wasInNew: true, isInNew: true), passes)
        expectEqual(passes.changing(wasInOld: true, wasInNew: true, isInNew: false), .leaves)
        // The page with the object may have erased it.
        expectEqual(passes.changing(wasInOld: true, wasInNew: false, isInNew: true), .enters(erasingFirst: true))
        // The page with the object may have made it.
        expectEqual(Passage.nothing.changing(wasInOld: false, wasInNew: true, isInNew: false), .leaves)
        expectEqual(
            Passage.nothing.changing(wasInOld: false, wasInNew: true, isInNew: true), .enters(erasingFirst: true))
        expectEqual(Passage.nothing.changing(wasInOld: false, wasInNew: false, isInNew: false), .nothing)
        // The page with the object may have made another one of the same key than is there now.
        expectEqual(
            Passage.passes(after: 12).changing(wasInOld: false, wasInNew: true, isInNew: true),
            .enters(erasingFirst: true))
        // What the client has made meanwhile it has.
        expectEqual(
            Passage.passes(after: 12).changing(wasInOld: false, wasInNew: false, isInNew: true), .passes(after: 12))
    }
}

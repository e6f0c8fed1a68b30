package import RealmState
package import SyncModel

/// The verdict on what a client has done to an object, by what it could know of the object.
///
/// A client *has* an object at a version if the object is in its view there, or if it made the object itself.
package enum WriteVerdict: Equatable, Sendable {
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

/// The views by which an upload is judged, and how they are asked. Pure.
package struct WriteJudge<Element: Sendable> {
    /// When a view was in force, and when the client may have had it.
    struct Span {
        /// The client may have been sent the view's objects from this version on.
        var since: ServerVersion
        var start: ServerVersion
        /// Nil: it is the present one. At its last version the next one is in force, too.
        var end: ServerVersion?
        /// The version from which on the view is asked.
        var asked: ServerVersion
    }

    /// What a view says of an object.
    enum Answer { case isIn, isOut, unclear }

    package let views: ViewHistory<Element>
    /// Whether a view has an object.
    private(set) var isIn: (StoredObject, Element) -> Bool
    /// Whether it cannot be told any more whether a view had an object.
    private(set) var isUnclear: (StoredObject, Element) -> Bool
    /// Whether two views show the same properties of objects of the class.
    private(set) var isShownAlike: (Element, Element) -> Bool
    let spans: [Span]

    package init(
        views: ViewHistory<Element>, isIn: @escaping (StoredObject, Element) -> Bool,
        isUnclear: @escaping (StoredObject, Element) -> Bool = { _, _ in false },
        isShownAlike: @escaping (Element, Element) -> Bool = { _, _ in true }
    ) {
        self.views = views
        self.isIn = isIn
        self.isUnclear = isUnclear
        self.isShownAlike = isShownAlike
        let segments = views.segments
        var spans = segments.indices.map { index in
            let segment = segments[index]
            return Span(
                since: segment.since ?? segment.start, start: segment.start,
                end: index + 1 < segments.count ? segments[index + 1].start : nil,
                asked: min(segment.since ?? segment.start, segment.start))
        }
        // While the next one's pages came, and no later than any after it: those asked at a version are neighbours.
        for index in spans.indices.dropLast().reversed() {
            spans[index].asked = min(spans[index].asked, spans[index + 1].asked)
        }
        self.spans = spans
    }

    /// The same views, asked about another object.
    package func asking(
        isIn: @escaping (StoredObject, Element) -> Bool,
        isUnclear: @escaping (StoredObject, Element) -> Bool = { _, _ in false },
        isShownAlike: @escaping (Element, Element) -> Bool
    ) -> WriteJudge {
        var judge = self
        judge.isIn = isIn
        judge.isUnclear = isUnclear
        judge.isShownAlike = isShownAlike
        return judge
    }

    /// Reads one object's past.
    ///
    /// - Parameters:
    ///   - bases: the versions that the client's changesets of the object are based on, ascending; not empty.
    ///   - now: the object as it is; nil if there is none.
    package func reader(
        bases: [ServerVersion], latest: ServerVersion, now: StoredObject?
    ) -> PastReader<Element> {
        PastReader(self, bases: bases, latest: latest, now: now)
    }
}

/// Makes an object's past of the versions that touch it, the newest first. Holds one state of the object at a time, and asks each view only
/// about states that it may have shown.
package struct PastReader<Element: Sendable> {
    /// How the object was from the version that the reader has come to.
    private struct State {
        var object: StoredObject?
        var through: ServerVersion
    }

    /// What has been found of the state after the one in hand.
    private struct Newer {
        var object: StoredObject?
        /// The views that were asked, and their answers.
        var asked: Range<Int>
        var answers: [WriteJudge<Element>.Answer]
        /// Whether all that are in force where it begins have the object.
        var stays: Bool
        var isOwn: Bool
    }

    /// How the client was brought from one view to the next: the last times of what matters of that.
    private struct Change {
        var touch: ServerVersion?
        var both: ServerVersion?
        var any: ServerVersion?
        var notBoth: ServerVersion?
        var unclear: ServerVersion?
    }

    private let judge: WriteJudge<Element>
    private var bases: [ServerVersion]
    private let base: ServerVersion
    private var past: ObjectPast
    /// The views that the client may have had at each base: of one that goes on with the object, and of one that makes it.
    private var stood: [(base: ServerVersion, knowing: Int?, making: Int?)] = []
    /// The last version through which each of these views lacked the object, once the client may have had the view; by the view's number.
    private var lacked: [Int: ServerVersion] = [:]
    /// The last view that lacked the object at some time while it was in force.
    private var lastLacking: Int?
    private var state: State
    private var newer: Newer?
    /// The changes from one view to the next, by the number of the later view.
    private var changes: [Int: Change] = [:]
    /// The views that are asked of the state in hand.
    private var window: Range<Int>
    /// How often a view was asked.
    package private(set) var asked = 0

    fileprivate init(
        _ judge: WriteJudge<Element>, bases: [ServerVersion], latest: ServerVersion, now: StoredObject?
    ) {
        self.judge = judge
        self.bases = bases
        base = bases.first ?? latest
        past = ObjectPast(latest: latest, hasViews: !judge.spans.isEmpty)
        past.isThere = now != nil
        state = State(object: now, through: latest)
        window = judge.spans.count..<judge.spans.count
    }

    /// The object as it was from the oldest version on that was taken in.
    package var object: StoredObject? { state.object }

    /// Takes in a version that touches the object, older than those before.
    ///
    /// - Parameter object: as it was before the version; nil if there was none.
    package mutating func add(_ version: ServerVersion, isOwn: Bool, before object: StoredObject?) {
        guard version > base else { return }
        if let object, past.last == nil { past.last = (version, object) }
        let exists = state.object != nil
        if isOwn, past.own == nil, exists != (object != nil) { past.own = (version, exists) }
        close(from: version, isTouch: true)
        newer?.isOwn = isOwn
        state = State(object: object, through: version - 1)
    }

    /// All versions after the oldest base are taken in.
    package mutating func finish() -> ObjectPast {
        close(from: base, isTouch: false)
        for (base, knowing, making) in stood {
            past.standings[base] = ObjectPast.Standing(
                knowing: knowing.map { hasAlwaysHad($0, since: base) },
                making: making.map { hasAlwaysHad($0, since: base) })
        }
        for (number, change) in changes {
            let (old, new) = (judge.views.segments[number - 1], judge.views.segments[number])
            if let touch = change.touch {
                // A page may have sent the object as it was: then the last one erases whatever the client has under its key.
                if new.isRenewal { replaced(touch - 1) }
                if let any = change.any, let notBoth = change.notBoth { replaced(min(touch - 1, any, notBoth)) }
            }
            if let unclear = change.unclear, new.start > 0 { replaced(min(unclear, new.start - 1)) }
            if let both = change.both, new.start > 0, !judge.isShownAlike(old.view, new.view) {
                replaced(min(both, new.start - 1))
            }
        }
        return past
    }

    private func hasAlwaysHad(_ number: Int, since base: ServerVersion) -> Bool {
        lastLacking.map { $0 <= number } ?? true && lacked[number].map { $0 < base } ?? true
    }

    /// Whether the client may have had a view at one of the bases that are left.
    private func mayHaveStood(_ span: WriteJudge<Element>.Span) -> Bool {
        let index = bases.partitioningIndex { $0 >= span.since }
        return index < bases.count && span.end.map { bases[index] <= $0 } ?? true
    }

    /// The client was sent the object's erasure, and the object perhaps, when it was brought from one view to another or over what it had
    /// missed.
    private mutating func replaced(_ version: ServerVersion) {
        past.replacedAfter = max(past.replacedAfter ?? version, version)
    }

    private mutating func erased(_ version: ServerVersion) {
        past.erasedAfter = max(past.erasedAfter ?? version, version)
    }

    // MARK: One state

    /// Goes on to the state before.
    ///
    /// - Parameter isTouch: whether the state in hand begins with a version that touches the object.
    private mutating func close(from: ServerVersion, isTouch: Bool) {
        let spans = judge.spans
        let (object, through) = (state.object, state.through)
        let isPresent = newer == nil
        // The present view is asked of the present object, whatever was in force.
        var upper = window.upperBound
        while upper > 0, spans[upper - 1].asked > through, !(isPresent && upper == spans.count) { upper -= 1 }
        var lower = min(window.lowerBound, upper)
        while lower > 0, spans[lower - 1].end.map({ $0 >= from }) ?? true { lower -= 1 }
        window = lower..<upper
        let answers = answers(object)
        func isIn(_ number: Int) -> Bool { answers[number - lower] == .isIn }
        func isUnclear(_ number: Int) -> Bool { answers[number - lower] == .unclear }
        func isInForce(_ number: Int, at version: ServerVersion) -> Bool {
            spans[number].start <= version && spans[number].end.map { $0 >= version } ?? true
        }
        if isPresent {
            past.isInView = answers.last == .isIn
            past.isShown = window.contains { isInForce($0, at: through) && isIn($0) }
        }
        var isLackedLater = false
        var isErased = false
        for number in window.reversed() {
            let span = spans[number]
            let isInForce = span.start <= through
            if !isIn(number) {
                if number == 0 ? isInForce : span.since <= through, lacked[number] == nil, mayHaveStood(span) {
                    lacked[number] = through
                }
                guard isInForce else { continue }
                lastLacking = max(lastLacking ?? number, number)
                past.lackedSince = max(past.lackedSince ?? from, from)
                isLackedLater = true
            } else if isInForce, isLackedLater, !isErased, let end = span.end {
                // By a new view.
                erased(min(end, through))
                isErased = true
            }
        }
        let isUnclearInForce = window.contains { isUnclear($0) && spans[$0].start <= through }
        if isUnclearInForce { erased(through) }
        // By a version, unless it is the client's own erasure.
        if let newer, !newer.stays, !(newer.isOwn && newer.object == nil),
            window.contains(where: { isInForce($0, at: through) && isIn($0) })
        {
            erased(through)
        }
        for number in window.dropFirst() {
            let span = spans[number]
            guard span.since <= through, from <= span.start else { continue }
            var change = changes[number] ?? Change()
            if isTouch, change.touch == nil, span.since < from { change.touch = from }
            let (old, new) = (isIn(number - 1), isIn(number))
            if old, new, change.both == nil { change.both = through }
            if old || new, change.any == nil { change.any = through }
            if !(old && new), change.notBoth == nil { change.notBoth = through }
            if isUnclearInForce, change.unclear == nil { change.unclear = through }
            changes[number] = change
        }
        while let base = bases.last, base >= from {
            bases.removeLast()
            let possible = window.filter { spans[$0].since <= base && spans[$0].end.map { base <= $0 } ?? true }
            stood.append(
                (
                    base, possible.first { isIn($0) || isUnclear($0) },
                    possible.allSatisfy(isIn) ? possible.first : nil
                ))
        }
        newer = Newer(
            object: object, asked: window, answers: answers,
            stays: window.allSatisfy { !isInForce($0, at: from) || isIn($0) }, isOwn: false)
    }

    /// What the views of the window say. What has not changed is not asked again.
    private mutating func answers(_ object: StoredObject?) -> [WriteJudge<Element>.Answer] {
        guard let object else { return Array(repeating: .isOut, count: window.count) }
        let known = newer.flatMap { !window.isEmpty && $0.object == object ? $0 : nil }
        return window.map { number in
            if let known, known.asked.contains(number) { return known.answers[number - known.asked.lowerBound] }
            asked += 1
            let view = judge.views.segments[number].view
            return judge.isIn(object, view) ? .isIn : judge.isUnclear(object, view) ? .unclear : .isOut
        }
    }
}

extension Array {
    /// The first index whose element, and all after it, belong to the second part.
    fileprivate func partitioningIndex(_ belongsToSecond: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if belongsToSecond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

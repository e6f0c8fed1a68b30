package import SyncModel

/// The views that a client file has had, by the versions at which the client was brought from one to the next.
package struct ViewHistory<Element: Sendable>: Sendable {
    package struct Segment: Sendable {
        /// The client was sent this view's objects as of this version.
        package var start: ServerVersion
        package var view: Element
        /// The version at which the client stood when the first page of the view's data was made; nil: all came at once, as of `start`.
        package var since: ServerVersion?
        /// Whether all that had been touched since where the client stood was erased at the client and sent anew: the client was far behind, or its
        /// user's roles had changed.
        package var isRenewal: Bool

        package init(start: ServerVersion, view: Element, since: ServerVersion? = nil, isRenewal: Bool = false) {
            self.start = start
            self.view = view
            self.since = since
            self.isRenewal = isRenewal
        }
    }

    /// The segments in the order of their starts, of which several may be equal.
    package private(set) var segments: [Segment]

    package init(_ segments: [Segment] = []) { self.segments = segments }

    package var latest: Element? { segments.last?.view }
    package var start: ServerVersion? { segments.first?.start }

    package mutating func begin(_ view: Element, at version: ServerVersion, since: ServerVersion? = nil) {
        segments.append(Segment(start: version, view: view, since: since))
    }

    /// How the client was brought from one view to another.
    package struct Change: Sendable {
        package var old: Element
        package var new: Element
        /// Where the client stood until the last page, and where that has brought it.
        package var since: ServerVersion
        package var end: ServerVersion
        package var isRenewal: Bool
    }

    package var changes: [Change] {
        zip(segments, segments.dropFirst()).map { old, new in
            Change(
                old: old.view, new: new.view, since: new.since ?? new.start, end: new.start, isRenewal: new.isRenewal)
        }
    }

    /// Returns the views in force at some of the versions. At the version where one view takes the place of another both are: a client that stands
    /// there may have been sent the new one's objects or not.
    ///
    /// - Parameter stood: the number of the one that the client had at the first version: those before it do not count any more, and it counts
    ///   from there on.
    package func views(from first: ServerVersion, through last: ServerVersion, having stood: Int = 0) -> [Element] {
        segments.indices.dropFirst(stood).compactMap { index in
            let end = index + 1 < segments.count ? segments[index + 1].start : nil
            guard segments[index].start <= last || index == stood && stood > 0, end.map({ first <= $0 }) ?? true else {
                return nil
            }
            return segments[index].view
        }
    }

    /// The numbers of those that a client may have had that says that it stands at a version: between the first page of a view's data and the last
    /// one, clients begin to bring it in before they say that they stand elsewhere.
    package func possible(at version: ServerVersion) -> [Int] {
        segments.indices.filter { index in
            let end = index + 1 < segments.count ? segments[index + 1].start : nil
            return segments[index].since ?? segments[index].start <= version && end.map { version <= $0 } ?? true
        }
    }

    /// Forgets what was in force only before a version.
    package mutating func trim(before version: ServerVersion) {
        while segments.count > 1, segments[1].start < version { segments.removeFirst() }
    }

    /// Keeps the first ones.
    package mutating func keep(_ count: Int) { segments = Array(segments.prefix(count)) }
}

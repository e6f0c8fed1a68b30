package import SyncModel

/// One object as a client holds it, told by the versions that touch the object: what happened to it and how it was before, and in the end
/// what is to be sent.
///
/// | when the client's cursor stood | since then | at the end | what is sent |
/// |---|---|---|---|
/// | in the view | always in it | in | others' instructions, version by version |
/// | in the view | out of it at some version | in | EraseObject, and the object whole |
/// | out of it | | in | the object whole |
/// | not there | made by others, in the view ever since | in | others' instructions, version by version |
/// | in the view | | out | EraseObject |
/// | out of it | | out | nothing |
///
/// What a client made, changed or erased itself it has done to its own copy. So an object that the client made is held from that
/// version on, and one that it erased is not.
package struct HeldObject: Equatable, Sendable {
    /// How the object was at a version.
    package enum Place: Equatable, Sendable {
        case missing
        case outside
        case inView
        /// The user may see it; whether the queries selected it cannot be told any more.
        case unclear
        /// Nobody can tell any more whether the user could see the object.
        case veiled

        /// Whether the object may have been in the view.
        package var isUnclear: Bool { self == .unclear || self == .veiled }
    }

    /// The change of the object at the client.
    package enum Passage: Equatable, Sendable {
        /// Others' instructions of the versions after this one.
        case passes(after: ServerVersion)
        /// The object whole, as it is at the end.
        case enters(erasingFirst: Bool)
        /// EraseObject.
        case leaves
        case nothing
    }

    private struct Event: Equatable {
        enum Kind { case own, others, resync }
        var version: ServerVersion
        var kind: Kind
        /// How the object was before a version that touches it; nil for a resync, which touches nothing.
        var before: Place?
    }

    /// Where the client stands.
    package let cursor: ServerVersion
    private var events: [Event] = []

    package init(at cursor: ServerVersion) { self.cursor = cursor }

    /// A version touches the object.
    ///
    /// - Parameter isOwn: the client itself has written it.
    package mutating func touch(_ version: ServerVersion, isOwn: Bool, before: Place) {
        events.append(Event(version: version, kind: isOwn ? .own : .others, before: before))
    }

    /// The client is sent EraseObject as of this version, since a write of its own does not count, or may have been undone in its copy.
    package mutating func resync(_ version: ServerVersion) {
        events.append(Event(version: version, kind: .resync))
    }

    /// How the object was where the client stands.
    package func start(now: Place) -> Place { place(after: -1, now: now) }

    /// The change to send for the client to have the object as it is now.
    package func passage(now: Place) -> Passage {
        /// The version after which the client has what others wrote; nil: it does not hold the object.
        let start = start(now: now)
        var held: ServerVersion? = start == .inView ? cursor : nil
        /// Whether the client may have something under the object's key that must go.
        var mustErase = start.isUnclear
        for (index, event) in events.enumerated() {
            let after = place(after: index, now: now)
            switch event.kind {
            case .resync:
                held = nil
                mustErase = true
            case .own where event.before == .missing && after != .missing:
                held = after == .inView ? event.version : nil
                mustErase = mustErase || after != .inView
            case .own where event.before != .missing && after == .missing:
                held = nil
                mustErase = false
            case .others where event.before == .missing && after == .inView && held == nil && !mustErase:
                // The instructions that make the object hold all of it.
                held = event.version - 1
            case .own, .others:
                guard held != nil, after != .inView else { continue }
                held = nil
                mustErase = true
            }
        }
        if let held, !mustErase { return .passes(after: held) }
        if now == .inView { return .enters(erasingFirst: mustErase) }
        return mustErase ? .leaves : .nothing
    }

    /// Whether an erasure would tell the client of an object that its user may never have seen.
    package func isVeiled(now: Place) -> Bool {
        let places = events.compactMap(\.before) + [now]
        return places.contains(.veiled)
            && !places.contains { $0 == .inView || $0 == .unclear } && !events.contains { $0.kind != .others }
    }

    /// How the object was after an event, which is how it was before the next version that touches it.
    private func place(after index: Int, now: Place) -> Place {
        events[(index + 1)...].lazy.compactMap(\.before).first ?? now
    }
}

extension HeldObject.Passage {
    /// The passage of an object that a version touched while the client was sent a new subscription set's data, page by page and
    /// whatever the object's state was when its page was read.
    ///
    /// - Parameters:
    ///   - wasInOld, wasInNew: whether the object was in the old view, and in the new one, when the client stood at the beginning.
    ///   - isInNew: whether it is in the new one now.
    ///   - isByNewRoles: whether the views differ by their roles: then nothing is sent of what the object was in between, and the new roles may
    ///     show other properties of it.
    package func changing(wasInOld: Bool, wasInNew: Bool, isInNew: Bool, isByNewRoles: Bool = false) -> Self {
        if case .passes = self {
            // What was in both was left alone by the pages; what was in the old one alone may have been erased by them. What was in the new one
            // alone they may have made, though it is another by now that the client made itself or can be sent by versions.
            guard isInNew else { return .leaves }
            return wasInOld != wasInNew || isByNewRoles ? .enters(erasingFirst: true) : self
        }
        if isInNew { return .enters(erasingFirst: true) }
        switch self {
        case .leaves, .enters(erasingFirst: true): return .leaves
        case .passes, .enters, .nothing: return wasInOld || wasInNew ? .leaves : .nothing
        }
    }
}

import Changesets

/// The deviations of merging (docs/merge.md, "Where we differ").
extension PeerCompatibility {
    /// D1: a move of a list's element carries along what the other side changes inside that list. The reference
    /// rewrites the move's own source index instead.
    var movesCarryNestedPaths: Bool { self == .convergent }

    /// D2: two erasures from a set are equal if their values are. The reference compares where the values' bytes
    /// were in its parse buffers.
    var comparesErasedValuesByContent: Bool { self == .convergent }

    /// D3: erasing a column discards every change in it. The reference discards only updates, so that the rest fails
    /// when it is applied.
    var erasedColumnDiscardsEveryChange: Bool { self == .convergent }

    /// D12 (docs/merge.md), found by random edits of mixed values: clearing a
    /// collection that is an element of a list follows the element when the other side inserts, erases or moves elements
    /// there. The reference leaves its index alone, and so clears, or turns into a collection, whatever has come to that
    /// place.
    var clearsFollowTheirElement: Bool { self == .convergent }

    /// D13 (docs/merge.md), found by trying every combination: a set takes 1 and 1.0, or
    /// any two NaN, for one member, so merging does too. The reference takes them for two, and each peer keeps its own.
    var unifiesTwinsInSets: Bool { self == .convergent }

    /// D6: no honest peer makes a Set inside a mixed value. The reference's release build lets the newer of such an
    /// update and a Clear win.
    var rejectsSetMarkers: Bool { self == .convergent }
}

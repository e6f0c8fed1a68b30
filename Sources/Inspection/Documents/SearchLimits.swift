/// The bounds of one search for documents.
package struct SearchLimits: Sendable {
    /// The objects that one page looks at, in bytes: a search for little in much is cut into pages that may be empty.
    package var pageBytes = 16 << 20
    /// The steps of `EvaluationMeter` that trying the objects of one page may take: about a second.
    package var pageSteps = 1 << 28
    /// The bytes that are read from the store at once.
    package var readBytes = 1 << 20
    /// The objects that a search looks at which cannot be cut into pages.
    package var examined = 5_000_000
    /// The steps that trying them may take in all: about half a minute.
    package var steps = 10_000_000_000
    /// How long it may go on.
    package var patience = Duration.seconds(60)
    /// The bytes that the objects may take that a sorted search holds.
    package var sortedBytes = 64 << 20
    /// Objects that are read by their keys at once.
    package var keysAtOnce = 16
    /// The ranges of an index that are looked through.
    package var ranges = 64

    package init() {}
}

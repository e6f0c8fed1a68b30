/// How large writes and filters may be. Their text is bounded by `ExtendedJSONLimits`.
package struct DocumentLimits: Hashable, Sendable {
    /// The writes of one batch.
    package var writes: Int
    /// The objects that one write by filter may change.
    package var matches: Int
    /// The instructions of a batch.
    package var instructions: Int
    /// The names and indexes of one path.
    package var pathElements: Int
    /// Conditions within each other in a filter.
    package var filterDepth: Int
    /// The conditions of one filter, and the fields that one update changes.
    package var terms: Int

    package init(
        writes: Int = 1_000, matches: Int = 10_000, instructions: Int = 1_000_000, pathElements: Int = 64,
        filterDepth: Int = 32, terms: Int = 10_000
    ) {
        self.writes = writes
        self.matches = matches
        self.instructions = instructions
        self.pathElements = pathElements
        self.filterDepth = filterDepth
        self.terms = terms
    }
}

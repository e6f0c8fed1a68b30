/// How large an aggregation may be.
package struct PipelineLimits: Hashable, Sendable {
    package var stages: Int
    /// The names of one path.
    package var pathElements: Int
    /// Conditions and values within each other.
    package var conditionDepth: Int
    /// The conditions of one filter, and the fields of one stage.
    package var terms: Int
    /// The bytes of memory that sorts and groups hold at once.
    package var heldBytes: Int
    /// The groups of one stage.
    package var groups: Int
    /// The documents that come of it.
    package var results: Int
    /// The bytes of memory that these take.
    package var resultBytes: Int

    package init(
        stages: Int = 50, pathElements: Int = 64, conditionDepth: Int = 32, terms: Int = 1_000,
        heldBytes: Int = 64 << 20, groups: Int = 100_000, results: Int = 10_000, resultBytes: Int = 16 << 20
    ) {
        self.stages = stages
        self.pathElements = pathElements
        self.conditionDepth = conditionDepth
        self.terms = terms
        self.heldBytes = heldBytes
        self.groups = groups
        self.results = results
        self.resultBytes = resultBytes
    }
}

/// How large a query may be. Beyond these it is refused before anything is done for it.
package struct QueryLimits: Sendable {
    /// The bytes of the text.
    package var bytes = 256 * 1024
    /// Conditions and constants together.
    package var terms = 100_000
    /// Parentheses, negations and arithmetic operators within each other.
    package var depth = 100
    /// Subqueries within each other.
    package var subqueryDepth = 8
    /// Names and indexes of one path.
    package var pathElements = 64
    /// Comparisons that one object may have to be tried on, where the query is of a subscription: members of a list count once, if one look
    /// tells whether a value is among them.
    package var comparisons = 10_000

    package init() {}
}

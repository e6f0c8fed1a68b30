/// The rules that a query follows where those of servers and of programs differ.
package enum QueryDialect: Sendable {
    /// The query language of docs/queries.md, as servers read it.
    case language
    /// `NSPredicate`, as programs on devices write it: 0 and 1 stand for Boolean values and these for them, no text contains the empty one, `[d]` ignores diacritical
    /// marks, `BETWEEN` behind a collection wants one object to meet both bounds, SUBQUERY takes sets and dictionaries, `@min` and `@max` take dates.
    case predicate
}

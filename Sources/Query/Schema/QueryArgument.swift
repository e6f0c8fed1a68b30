package import RealmState

/// A value for `$0`, `$1` ... in a query's text. Links are values that name class and key.
package enum QueryArgument: Sendable, Hashable {
    case value(Value)
    case list([Value])
}

import Changesets
import Query
import RealmState
package import Rules

/// What an app's rules allow subscriptions to look at (docs/rules.md, "The document").
extension View {
    /// Returns the properties, by class, that queries look at though they are not queryable. The primary key always is
    /// queryable.
    package func fieldsNotQueryable(by queryable: Queryable) -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        for (className, query) in queries {
            let fields = query.condition.ownProperties.filter { $0.slot != .key }.map(\.name.string)
            let missing = fields.filter { !queryable.includes($0, of: className) }
            if !missing.isEmpty { found[className] = Set(missing) }
        }
        return found
    }

    /// Why a client may not ask for the queries; nil if it may.
    package func objection(by queryable: Queryable) -> ViewError? {
        if let (className, fields) = fieldsNotQueryable(by: queryable).min(by: { $0.key < $1.key }) {
            let keys = fields.sorted().prefix(Self.mostNamed).map { "key \"\($0)\" is not a queryable field" }
            let others = fields.count > keys.count ? ", nor are \(fields.count - keys.count) others" : ""
            return ViewError(
                "Invalid query: \"\(className)\": \(keys.joined(separator: ", "))\(others): the app's rules name what subscriptions may look at in"
                    + " /queryable/classes/\(className) and /queryable/global",
                className: ByteString(className))
        }
        guard let indexed = queryable.indexed else { return nil }
        let unbound = queries.filter { className, query in
            !query.condition.binds(ByteString(indexed))
                && self[ByteString(className)]?.table.column(ByteString(indexed)) != nil
        }
        return unbound.map(\.0).min().map { className in
            ViewError(
                "Invalid query: \"\(className)\": each query must compare the indexed queryable field \"\(indexed)\" with"
                    + " == or IN, and join everything else to that by AND",
                className: ByteString(className))
        }
    }

    /// Properties that a refusal names.
    private static let mostNamed = 8

    private var queries: [(String, ObjectQuery)] {
        classes.values.compactMap { view in view.query.map { (view.table.name.string, $0) } }
    }
}

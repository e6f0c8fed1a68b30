import Changesets
import Query
import RealmState

/// Queries from arbitrary bytes: the first one chooses the class and the arguments, the rest is the text.
///
/// A text is refused with a place inside it, or it is a query that can be tried on any object; its canonical text is a query
/// whose canonical text is the same again, after the order of operands has settled, and its normal form selects the same objects.
enum QueryFuzz {
    static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
        guard let choice = bytes.first else { return }
        let text = ByteString(Array(bytes.dropFirst()))
        let className = choice & 1 == 0 ? FuzzedClasses.item : FuzzedClasses.other
        let arguments = choice & 2 == 0 ? [] : FuzzedClasses.arguments
        let query: ObjectQuery
        do throws(QueryError) {
            query = try ObjectQuery(text, on: className, schema: FuzzedClasses.schema, arguments: arguments)
        } catch {
            guard error.offset >= 0, error.offset <= text.count, !error.message.isEmpty else {
                throw BrokenLaw("a refusal names no place in the text: \(error)")
            }
            return
        }
        _ = try? query.checkSubscription()
        let normal = ObjectQuery(
            className: className, condition: NormalizedQuery(query).condition, schema: FuzzedClasses.schema)
        for object in FuzzedClasses.objects(of: className) {
            let selected = query.matches(object.object, key: object.key, in: FuzzedClasses.realm)
            guard normal.matches(object.object, key: object.key, in: FuzzedClasses.realm) == selected else {
                throw BrokenLaw("the normal form of \(text) selects others")
            }
        }
        _ = query.arrangement.applied(
            to: FuzzedClasses.objects(of: className), of: className, in: FuzzedClasses.realm)
        try checkCanonicalText(query, className)
    }

    private static func checkCanonicalText(_ query: ObjectQuery, _ className: ByteString) throws(BrokenLaw) {
        // Folded constants lose their freedom from types, and escapes are checked anew: what is refused then is no law.
        guard
            let again = try? ObjectQuery(
                ByteString(query.canonicalText), on: className, schema: FuzzedClasses.schema)
        else { return }
        guard
            let settled = try? ObjectQuery(ByteString(again.canonicalText), on: className, schema: FuzzedClasses.schema)
        else { throw BrokenLaw("the canonical text \(again.canonicalText) cannot be read") }
        let (left, right) = (again.canonicalText.utf8.sorted(), settled.canonicalText.utf8.sorted())
        guard left == right else {
            throw BrokenLaw("the canonical text \(again.canonicalText) becomes \(settled.canonicalText)")
        }
    }
}

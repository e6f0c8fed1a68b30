import Changesets
import SyncModel

/// The bounds of a subscription set.
package struct ViewLimits: Sendable {
    /// The bytes of the set's text.
    package var bytes = 256 << 10
    package var classes = 1_000

    package init() {}

    /// Why a set's text is too long; nil if it is not.
    package func refusal(ofBytes count: Int) -> ViewError? {
        count <= bytes ? nil : ViewError("the subscriptions have \(count) bytes, \(bytes) allowed")
    }
}

extension ViewDefinition {
    /// Class name to query.
    func parsedQueries(limits: ViewLimits) throws(ViewError) -> [ByteString: ByteString] {
        if let refusal = limits.refusal(ofBytes: queries.utf8.count) { throw refusal }
        let value: JSONValue
        do {
            value = try JSONParser.parse(queries)
        } catch {
            throw ViewError("the subscriptions are no valid JSON: \(error.message)")
        }
        guard let members = value.objectValue else { throw ViewError("the subscriptions are no JSON object") }
        guard members.count <= limits.classes else {
            throw ViewError("the subscriptions name \(members.count) classes, \(limits.classes) allowed")
        }
        var result: [ByteString: ByteString] = [:]
        for (name, member) in members {
            guard let text = member.stringValue else {
                throw ViewError("class \"\(name)\": expected a query in a string", className: ByteString(name))
            }
            result[ByteString(name)] = ByteString(text)
        }
        return result
    }
}

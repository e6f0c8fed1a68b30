import Changesets
import Query
import RealmState
import SyncModel

/// A line of a recording: a query, and what the reference made of it.
struct RecordedQuery {
    var text: String
    var className: ByteString
    var arguments: [QueryArgument] = []
    var canonical: String?
    var ids: [ObjectKey] = []
    var isOrdered: Bool
    /// The canonical text read and written once more, where that differs.
    var canonicalAgain: String?
    var canonicalIDs: [ObjectKey]?
    /// The reference cannot read its own text.
    var cannotBeReadAgain: Bool
    var hasCanonicalAccident: Bool
    /// Where the reference departs from its own rules.
    var accident: String?
    var reason = ""
    var isRefused: Bool
    /// The reference's process ended: any answer will do.
    var isAbort = false

    init?(_ members: [String: JSONValue], defaultClass: ByteString) {
        guard let text = members["q"]?.stringValue else { return nil }
        self.text = text
        className = members["class"]?.stringValue.map { ByteString($0) } ?? defaultClass
        for argument in members["args"]?.arrayValue ?? [] {
            guard let value = RecordedValue.value(argument) else { return nil }
            if case .list(let values) = value {
                arguments.append(.list(values))
            } else {
                arguments.append(.value(value))
            }
        }
        canonical = members["canonical"]?.stringValue
        canonicalAgain = members["canonicalAgain"]?.stringValue
        isOrdered = members["ordered"] == .bool(true)
        cannotBeReadAgain = members["canonicalError"] != nil
        hasCanonicalAccident = members["canonicalAccident"] != nil
        switch members["accident"] {
        case .string(let name): accident = name
        case .array(let names): accident = names.compactMap(\.stringValue).joined(separator: "+")
        case .bool(true): accident = "accident"
        default: break
        }
        let error = members["error"]?.objectValue
        isRefused = error != nil
        if let error {
            reason = "\(error["kind"]?.stringValue ?? ""): \(error["why"]?.stringValue ?? "")"
            isAbort = error["kind"]?.stringValue == "abort"
        } else {
            guard let found = members["ids"]?.arrayValue, canonical != nil else { return nil }
            ids = found.compactMap(Self.key)
            guard ids.count == found.count else { return nil }
        }
        canonicalIDs = members["canonicalIds"]?.arrayValue.map { $0.compactMap(Self.key) }
    }

    private static func key(_ json: JSONValue) -> ObjectKey? {
        switch json {
        case .integer(let value): return .int(value)
        case .string(let text):
            guard case .objectID(let value)? = RecordedValue.value(.object(["$oid": .string(text)])) else { return nil }
            return .objectID(value)
        default: return nil
        }
    }
}

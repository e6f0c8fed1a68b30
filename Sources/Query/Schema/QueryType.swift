package import Changesets

/// The type of a property, a constant or a side of a comparison.
package enum QueryType: String, Sendable, Hashable {
    case int
    case bool
    case string
    case binary
    case mixed
    case timestamp
    case float
    case double
    case decimal
    case link
    case objectID = "objectId"
    case uuid
    /// The name of a type, which `@type` gives.
    case typeName = "@type"
    /// Null without a type of its own.
    case null

    var isNumeric: Bool { self == .int || self == .float || self == .double || self == .decimal }

    /// Whether values of the two types can be compared at all.
    func isComparable(with other: QueryType) -> Bool {
        self == other || (isNumeric && other.isNumeric) || self == .mixed || other == .mixed || self == .null
            || other == .null
    }

    package init?(_ type: PayloadType) {
        switch type {
        case .null: self = .mixed
        case .int: self = .int
        case .bool: self = .bool
        case .string: self = .string
        case .binary: self = .binary
        case .timestamp: self = .timestamp
        case .float: self = .float
        case .double: self = .double
        case .decimal: self = .decimal
        case .link: self = .link
        case .objectID: self = .objectID
        case .uuid: self = .uuid
        case .set, .list, .erased, .dictionary, .objectValue, .globalKey: return nil
        }
    }
}

/// The type of a property of a class, or of the elements of its collection, as `Property` tells it.
@frozen public enum PropertyType: Int32, Hashable, Sendable {
    /// An integer.
    case int = 0
    /// A Boolean value.
    case bool = 1
    /// A string.
    case string = 2
    /// Bytes.
    case data = 3
    /// A point in time.
    case date = 4
    /// A 32-bit floating-point number.
    case float = 5
    /// A 64-bit floating-point number.
    case double = 6
    /// A link to an object, or an embedded object.
    case object = 7
    /// The objects that link to the object.
    case linkingObjects = 8
    /// A value of any type.
    case any = 9
    /// An object identifier.
    case objectId = 10
    /// A decimal number.
    case decimal128 = 11
    /// A UUID.
    case UUID = 12

    init(_ content: PropertyContent) {
        self =
            switch content {
            case .int: .int
            case .bool: .bool
            case .string: .string
            case .data: .data
            case .date: .date
            case .float: .float
            case .double: .double
            case .decimal128: .decimal128
            case .objectId: .objectId
            case .uuid: .UUID
            case .any: .any
            case .object: .object
            }
    }

    /// The type for people.
    var name: String {
        switch self {
        case .objectId: "object id"
        case .UUID: "uuid"
        case .any: "mixed"
        case .linkingObjects: "linking objects"
        default: "\(self)"
        }
    }
}

/// Why a pair of instructions cannot be merged. The run adds which ones they were.
enum RuleViolation: Error {
    /// A definition that the two sides have differently, such as "the name of the primary key".
    case schemaMismatch(String)
    case listMismatch(ListMismatch)
    case inconsistentPaths
    /// A thing that no honest history contains.
    case impossible(String)

    enum ListMismatch {
        case sizesDiffer, outOfRange
    }

    var code: MergeError.Code {
        switch self {
        case .schemaMismatch: .schemaMismatch
        case .listMismatch: .listMismatch
        case .inconsistentPaths: .inconsistentPaths
        case .impossible: .impossiblePair
        }
    }

    var message: String {
        switch self {
        case .schemaMismatch(let what): "expected both sides to define the same schema, but \(what) differs"
        case .listMismatch(.sizesDiffer): "expected both sides to know the list with the same size"
        case .listMismatch(.outOfRange): "expected an index inside the list"
        case .inconsistentPaths: "expected a list index where the other side changes a list's elements, found a key"
        case .impossible(let what): what
        }
    }
}

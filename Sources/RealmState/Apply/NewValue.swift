import Changesets

/// A payload with its strings looked up.
enum NewValue {
    /// Null, a scalar or a link.
    case value(Value)
    case list, dictionary, set
    case objectValue
    case erased
}

/// What a path instruction does at the end of its path.
enum FieldOperation {
    case update(NewValue)
    case addInteger(Int64)
    case insert(NewValue, priorSize: UInt32)
    case move(to: UInt32, priorSize: UInt32)
    case erase(priorSize: UInt32)
    case clear(CollectionType)
    case setInsert(NewValue)
    case setErase(NewValue)

    var name: String {
        switch self {
        case .update: "Update"
        case .addInteger: "AddInteger"
        case .insert: "ArrayInsert"
        case .move: "ArrayMove"
        case .erase: "ArrayErase"
        case .clear: "Clear"
        case .setInsert: "SetInsert"
        case .setErase: "SetErase"
        }
    }
}

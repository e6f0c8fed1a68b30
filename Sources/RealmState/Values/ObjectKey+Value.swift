package import Changesets

extension ObjectKey {
    /// The key that a value is; nil if it can be none.
    package init?(_ value: Value) {
        switch value {
        case .null: self = .null
        case .int(let value): self = .int(value)
        case .string(let value): self = .string(value)
        case .objectID(let value): self = .objectID(value)
        case .uuid(let value): self = .uuid(value)
        default: return nil
        }
    }
}

extension Value {
    /// A key as queries compare it: one that no property can hold is null.
    package init(_ key: ObjectKey) {
        self =
            switch key {
            case .null, .globalKey: .null
            case .int(let value): .int(value)
            case .string(let value): .string(value)
            case .objectID(let value): .objectID(value)
            case .uuid(let value): .uuid(value)
            }
    }
}

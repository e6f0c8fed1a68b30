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

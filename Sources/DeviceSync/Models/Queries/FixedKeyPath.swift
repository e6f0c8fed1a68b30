/// A key path over properties, for closures that run anywhere.
///
/// Unchecked: key paths never change, and one over properties has caught nothing that could.
struct FixedKeyPath<Root, Value>: @unchecked Sendable {
    let path: KeyPath<Root, Value>
}

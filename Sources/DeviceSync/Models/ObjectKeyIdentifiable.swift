/// A model that lists of views tell apart by `id`: the same object has the same number, whichever instance shows it.
///
///     class Item: Object, ObjectKeyIdentifiable { ... }
public protocol ObjectKeyIdentifiable: Identifiable {
    /// A number that tells the object from others, as long as the process runs.
    var id: UInt64 { get }
}

extension ObjectKeyIdentifiable where Self: ObjectBase {
    /// A number that tells the object from others, as long as the process runs. That of an unmanaged object changes when the object is added to a
    /// realm.
    public var id: UInt64 { UInt64(bitPattern: Int64(hashValue)) }
}

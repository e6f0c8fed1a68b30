/// Makes a property of a `Projection` show something of its object: what a key path leads to.
///
///     @Projected(\Person.name) var name
///     @Projected(\Person.home?.city) var city
///     @Projected(\Person.dogs.projectTo.name) var dogNames: ProjectedCollection<String>
///
/// What is assigned is assigned to the object. A key path that cannot be assigned to, such as one that goes over an optional, traps then.
@propertyWrapper
public struct Projected<T: ObjectBase & RealmCollectionValue & ThreadConfined, Value> {
    private let keyPath: KeyPath<T, Value>

    /// A property that shows what the key path leads to.
    public init(_ projectedKeyPath: KeyPath<T, Value>) { keyPath = projectedKeyPath }

    /// Only properties of classes can be projected.
    @available(
        *, unavailable, message: "@Projected can only be used on properties of a class that inherits from Projection"
    )
    public var wrappedValue: Value {
        get { preconditionFailure("@Projected outside of a projection") }
        // swift-format-ignore: UseSingleLinePropertyGetter
        set { preconditionFailure("@Projected outside of a projection") }
    }

    /// Reads and writes what the property shows.
    public static subscript<Owner: Projection<T>>(
        _enclosingInstance owner: Owner, wrapped _: ReferenceWritableKeyPath<Owner, Value>,
        storage path: ReferenceWritableKeyPath<Owner, Self>
    ) -> Value {
        get { owner.rootObject[keyPath: owner[keyPath: path].keyPath] }
        set {
            guard let writable = owner[keyPath: path].keyPath as? ReferenceWritableKeyPath<T, Value> else {
                preconditionFailure(
                    "what is projected of class \(ModelName.of(T.self)) here is computed, or goes over an optional; assign it to the object"
                )
            }
            owner.rootObject[keyPath: writable] = newValue
        }
    }
}

/// A projected property in the memory of a projection, whatever its type.
protocol ProjectedStorage {
    static func keyPath(at place: UnsafeMutableRawPointer) -> AnyKeyPath
}

extension Projected: ProjectedStorage {
    static func keyPath(at place: UnsafeMutableRawPointer) -> AnyKeyPath {
        place.assumingMemoryBound(to: Self.self).pointee.keyPath
    }
}

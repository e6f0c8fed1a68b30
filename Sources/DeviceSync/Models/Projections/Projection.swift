/// What a `Projection` is, whatever it is of.
public protocol ProjectionObservable: AnyObject, ThreadConfined {
    /// The class of the objects.
    associatedtype Root: ObjectBase & RealmCollectionValue & ThreadConfined
    /// The object.
    var rootObject: Root { get }
    /// A projection of an object.
    init(projecting object: Root)
}

/// Shows of an object what a part of a program needs: some properties, by names of its own, and what key paths lead to from them.
///
///     class PersonCard: Projection<Person> {
///         @Projected(\Person.name) var title
///         @Projected(\Person.home?.city) var city
///         @Projected(\Person.dogs.projectTo.name) var dogNames: ProjectedCollection<String>
///     }
///
///     let cards = realm.objects(PersonCard.self)
///
/// A projection keeps nothing: it reads and writes its object, belongs where the object belongs, and is observed as the object is.
open class Projection<Root: ObjectBase & RealmCollectionValue & ThreadConfined>: ProjectionObservable,
    RealmCollectionValue, CustomStringConvertible
{
    /// The object.
    public let rootObject: Root

    /// A projection of an object, which may be an unmanaged one.
    public required init(projecting object: Root) {
        rootObject = object
        // What is wrong with a declaration is found by whoever first uses it.
        _ = ProjectionSchema.of(self)
    }

    /// Whether both are projections of one object.
    public static func == (left: Projection, right: Projection) -> Bool { left.rootObject == right.rootObject }

    /// Hashes what tells objects apart.
    public func hash(into hasher: inout Hasher) { hasher.combine(rootObject) }

    /// The properties, line by line, with what they show.
    open var description: String {
        let lines = ProjectionSchema.of(self).map { property in
            let value = Description.of(rootObject[keyPath: property.keyPath], Description.maxDepth)
            return
                "\t\(property.name)(\\.\(property.origins.joined(separator: ", "))) = \(Description.indented(value));"
        }
        let address = String(UInt(bitPattern: ObjectIdentifier(rootObject)), radix: 16)
        return "\(type(of: self))<\(type(of: rootObject))> <0x\(address)> {\n\(lines.joined(separator: "\n"))\n}"
    }

    /// The name of the objects' class in a realm.
    public class func className() -> String { ModelName.of(Root.self) }

    // MARK: As its object

    /// The realm; nil for the projection of an unmanaged object.
    public var realm: Realm? { rootObject.realm }
    /// Whether the object was deleted.
    public var isInvalidated: Bool { rootObject.isInvalidated }
    /// Whether the object belongs to a frozen realm.
    public var isFrozen: Bool { rootObject.isFrozen }
    /// A projection of the frozen object. That of an unmanaged object traps.
    public func freeze() -> Self { Self(projecting: rootObject.freeze()) }
    /// A projection of the live object behind a frozen one; nil if it was deleted since. That of an unmanaged object traps.
    public func thaw(_isolation: (any Actor)? = #isolation) -> Self? {
        rootObject.thawedHandle(_isolation).map { Self(projecting: Root.managed($0)) }
    }

    /// The object's place.
    public var _pointer: _ThreadSafePointer? { rootObject._pointer }
    /// A projection of the object.
    public static func _found(_ pointer: _ThreadSafePointer) -> Self? {
        Root._found(pointer).map { Self(projecting: $0) }
    }

    /// The objects' shape.
    public static var _shape: _PropertyShape { Root._shape }
    /// The object.
    public func _encoded(_ writer: _ObjectWriter) -> _StoredValue { rootObject._encoded(writer) }
    /// A projection of the object.
    public static func _decode(_ stored: _StoredValue) -> Self { Self(projecting: Root._decode(stored)) }
    /// The projection itself, or one of an object that is made of a dictionary or an array.
    public static func _convert(_ any: Any?) throws -> Self {
        try any as? Self ?? Self(projecting: Root._convert(any))
    }
}

extension Projection: RealmFetchable, KeypathSortable {}

extension ObjectKeyIdentifiable where Self: ProjectionObservable {
    /// What tells the object from others, as long as the process runs.
    public var id: UInt64 { UInt64(bitPattern: Int64(rootObject.hashValue)) }
}

internal import Changesets
internal import RealmState

/// The objects that link to an object by one of their properties, as a property of a model. It follows the links; changing them changes it.
///
///     @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
public struct LinkingObjects<Element: Object>: RealmCollection {
    private let place: _Field?
    /// What the collection is of in a class that is declared in the old style.
    let origin: OldStyleOrigin?

    init(field: _Field?) { (place, origin) = (field, nil) }

    init(origin: OldStyleOrigin) { (place, self.origin) = (nil, origin) }

    var field: _Field? { place ?? origin?.field }

    /// The objects; nil for those of an unmanaged object, to which nothing links.
    var results: Results<Element>? {
        guard let field, case .backlink(let property)? = field.property?.role,
            let origin = ModelSchema.of(Element.self)[property]
        else { return nil }
        let className = ByteString(ModelName.of(Element.self))
        return Results(
            instance: field.instance, className: className,
            query: ResultsQuery(source: .origins(of: field.owner.address, over: origin.name)))
    }

    /// The realm; nil for an unmanaged object.
    public var realm: Realm? { field.map { Realm(instance: $0.instance) } }
    /// Whether the object that the others link to was deleted.
    public var isInvalidated: Bool { field.map { !$0.exists } ?? false }
    /// Whether the collection belongs to a frozen realm.
    public var isFrozen: Bool { field?.instance.isFrozen ?? false }
    /// The position of the first object.
    public var startIndex: Int { 0 }
    /// The position after the last object.
    public var endIndex: Int { results?.endIndex ?? 0 }
    /// One object.
    public subscript(_ position: Int) -> Element {
        guard let results else { preconditionFailure("index \(position), there are 0 objects") }
        return results[position]
    }
    /// The objects that there are now.
    public func makeIterator() -> AnyIterator<Element> { results?.makeIterator() ?? AnyIterator { nil } }
}

extension LinkingObjects: _Backlinks {
    /// The shape of a property that has the objects that link to the object.
    public static var _shape: _PropertyShape {
        _PropertyShape(
            type: .object(ModelName.of(Element.self)), collection: .list, target: Element.self, isBacklink: true)
    }
    /// Nothing.
    public static func _initial() -> Self { Self(field: nil) }
    /// The live collection.
    public static func _read(_ field: _Field, holding stored: _StoredValue?) -> Self { Self(field: field) }
    /// Nothing of its own.
    public func _encoded(_ writer: _ObjectWriter) -> _StoredValue { _StoredValue(.list([])) }
    /// Traps: it follows the links.
    public static func _convert(_ any: Any?) throws -> Self {
        throw ValueMismatch(description: "what links to an object cannot be set; change the links")
    }
}

/// A collection that is a property of a model: `List`, `MutableSet`, `Map`.
public protocol _PropertyCollection: _Persistable, ThreadConfined {
    /// The place of a managed collection; nil for an unmanaged one.
    var _field: _Field? { get }
}

/// What a collection that is a property of a model consists of: its own contents, or the place in a realm that has them.
enum CollectionStorage<Contents> {
    case unmanaged(Contents)
    case managed(_Field)

    var field: _Field? { if case .managed(let field) = self { field } else { nil } }
}

/// Contents that begin empty.
protocol _EmptyMaking { init() }
extension Array: _EmptyMaking {}
extension Dictionary: _EmptyMaking {}

/// How such a collection keeps what it consists of.
protocol StoredCollection: AnyObject {
    associatedtype Contents: _EmptyMaking
    var storage: CollectionStorage<Contents> { get set }
}

extension StoredCollection {
    /// Where a change is to be written, or nil for an unmanaged collection, which is changed here. A place that cannot be written traps.
    func writablePlace(of what: String, orChange change: (inout Contents) -> Void) -> _Field? {
        switch storage {
        case .unmanaged(var contents):
            // Two owners would make a copy of the first that changes it.
            storage = .unmanaged(Contents())
            change(&contents)
            storage = .unmanaged(contents)
            return nil
        case .managed(let field):
            field.checkWritable(what)
            return field
        }
    }
}

extension _PropertyCollection {
    /// The realm; nil for an unmanaged collection.
    public var realm: Realm? { _field.map { Realm(instance: $0.instance) } }
    /// Whether the object that the collection belongs to was deleted, or another value is in the place of a collection that was an `AnyRealmValue`.
    public var isInvalidated: Bool { _field.map { !$0.exists } ?? false }
    /// Whether the collection belongs to a frozen realm.
    public var isFrozen: Bool { _field?.instance.isFrozen ?? false }

    /// A frozen collection, which shows the contents as they are now even after later changes. An unmanaged one traps.
    public func freeze() -> Self {
        let field = field(toBe: "frozen")
        return Self._read(field.moved(to: field.instance.frozen()), holding: nil)
    }

    /// The live collection behind a frozen one; nil if the object that it belongs to was deleted since. An unmanaged one traps.
    public func _thawed(_ isolation: (any Actor)?) -> Self? { thaw(_isolation: isolation) }

    /// The live collection behind a frozen one; nil if the object that it belongs to was deleted since. An unmanaged one traps.
    public func thaw(_isolation: (any Actor)? = #isolation) -> Self? {
        let field = field(toBe: "thawed")
        let live = Self._read(field.moved(to: field.instance.thawed(_isolation)), holding: nil)
        return live.isInvalidated ? nil : live
    }

    /// The place of a managed collection. An unmanaged one traps.
    func field(toBe what: String) -> _Field {
        guard let _field else {
            preconditionFailure("only a \(Self._shape.collection) of a realm can be \(what); this one is unmanaged")
        }
        return _field
    }

    /// Whether the collection is the field's.
    public func _shows(_ field: _Field) -> Bool { _field?.isSame(as: field) ?? false }
    /// The collection's place.
    public var _pointer: _ThreadSafePointer? { _field.map { _ThreadSafePointer($0) } }
    /// The collection.
    public static func _found(_ pointer: _ThreadSafePointer) -> Self? {
        pointer.field.map { _read($0, holding: nil) }
    }
}

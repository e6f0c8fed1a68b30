internal import Changesets
import SyncModel
internal import Synchronization

/// An object or a collection that belongs to the thread, queue or actor of its realm. A `ThreadSafeReference` takes it elsewhere.
public protocol ThreadConfined: SendableMetatype {
    /// The realm; nil for what is unmanaged.
    var realm: Realm? { get }
    /// Whether the object, or what the collection is part of, was deleted.
    var isInvalidated: Bool { get }
    /// Whether this belongs to a frozen realm.
    var isFrozen: Bool { get }
    /// The same, frozen: as it is now even after later changes. What is unmanaged traps.
    func freeze() -> Self
    /// What it takes to find the object or collection in another `Realm` of the same file; nil for what is unmanaged.
    var _pointer: _ThreadSafePointer? { get }
    /// The same object or collection; nil if it is gone.
    static func _found(_ pointer: _ThreadSafePointer) -> Self?
}

/// The place of an object or a collection.
public struct _ThreadSafePointer: Sendable {
    enum Place: Sendable {
        case object(ObjectHandle)
        case field(_Field)
        /// A collection that has no place: `Results` and what is made of these.
        case collection(any Sendable)
    }
    let place: Place
    let instance: RealmInstance
    /// What an `AnyRealmCollection` hides.
    var hidden: (any RealmCollection.Type)?

    init(_ handle: ObjectHandle) { (place, instance) = (.object(handle), handle.instance) }

    init(_ field: _Field) { (place, instance) = (.field(field), field.instance) }

    init<Element>(_ results: Results<Element>) { self.init(results, in: results.instance) }

    /// - Parameter collection: a collection that finds itself again by what it is.
    init(_ collection: any Sendable, in instance: RealmInstance) {
        (place, self.instance) = (.collection(collection), instance)
    }

    private init(_ pointer: _ThreadSafePointer, in instance: RealmInstance) {
        (place, self.instance) = (pointer.place, instance)
    }

    /// The same place as another instance of the realm shows it.
    func moved(to instance: RealmInstance) -> _ThreadSafePointer {
        var moved: _ThreadSafePointer
        switch place {
        case .object(let handle): moved = _ThreadSafePointer(handle.moved(to: instance))
        case .field(let field): moved = _ThreadSafePointer(field.moved(to: instance))
        case .collection: moved = _ThreadSafePointer(self, in: instance)
        }
        moved.hidden = hidden
        return moved
    }

    /// The object that is there.
    var object: ObjectHandle? { if case .object(let handle) = place, handle.exists { handle } else { nil } }
    /// The field of an object that is there.
    var field: _Field? { if case .field(let field) = place, field.exists { field } else { nil } }
}

/// Takes an object or a collection to another thread, queue or actor, where `Realm.resolve(_:)` finds it.
///
///     let reference = ThreadSafeReference(to: person)
///     queue.async {
///         guard let realm = try? Realm(configuration: configuration), let person = realm.resolve(reference) else { return }
///         ...
///     }
///
/// The realm stays open, and keeps the version of the object or collection, for as long as the reference is kept.
public struct ThreadSafeReference<Confined: ThreadConfined>: Sendable {
    let pointer: _ThreadSafePointer
    /// The version in which the object or collection certainly is, or was.
    private let version: ClientVersion
    private let snapshot: RealmSnapshot?
    private let resolution = Resolution()

    /// Whether a reference has been resolved, which its copies know too.
    private final class Resolution: Sendable {
        let hasBeen = Atomic(false)
    }

    /// A reference to an object or collection of a realm. One that is unmanaged or was deleted traps.
    public init(to confined: Confined) { self.init(to: confined, keepingVersion: true) }

    init(to confined: Confined, keepingVersion: Bool) {
        guard let pointer = confined._pointer else {
            preconditionFailure(
                "only what a realm has can be handed over by a ThreadSafeReference; this one is unmanaged")
        }
        precondition(!confined.isInvalidated, "what was deleted cannot be handed over by a ThreadSafeReference")
        self.pointer = pointer
        let instance = pointer.instance
        let snapshot = instance.current
        if instance.isInTransaction || snapshot.isProvisional {
            (version, self.snapshot) = (instance.core.snapshot.version + 1, nil)
        } else {
            (version, self.snapshot) = (snapshot.version, keepingVersion && !instance.isFrozen ? snapshot : nil)
        }
    }

    /// The object or collection, as an instance shows it.
    fileprivate func resolve(in instance: RealmInstance) -> Confined? {
        resolution.hasBeen.store(true, ordering: .relaxed)
        instance.view?.reach(version, snapshot)
        return Confined._found(pointer.moved(to: instance))
    }

    /// Whether the reference has been resolved. (Upstream no reference can be resolved again; here it can.)
    public var isInvalidated: Bool { resolution.hasBeen.load(ordering: .relaxed) }
}

extension Realm {
    /// The object or collection of a reference, in this realm; nil if it was deleted meanwhile, or if it is another realm's. The realm goes at least to the version of
    /// the reference. A frozen realm traps.
    public func resolve<Confined: ThreadConfined>(_ reference: ThreadSafeReference<Confined>) -> Confined? {
        instance.checkThread()
        precondition(!isFrozen, "a ThreadSafeReference cannot be resolved in a frozen realm")
        guard reference.pointer.instance.core === instance.core else { return nil }
        return reference.resolve(in: instance)
    }
}

/// Holds an object or a collection that is assigned on one thread and read on another: each reader gets it in a realm of its own.
///
///     @ThreadSafe var person = realm.objects(Person.self).first
///     Task { @MainActor in print(person?.name ?? "gone") }
@propertyWrapper
public final class ThreadSafe<Confined: ThreadConfined>: Sendable {
    private let reference: Mutex<ThreadSafeReference<Confined>?>

    /// Holds an object or collection of a realm, or nothing. One that is unmanaged traps.
    public init(wrappedValue: Confined?) { reference = Mutex(Self.reference(to: wrappedValue)) }

    private static func reference(to confined: Confined?) -> ThreadSafeReference<Confined>? {
        confined.map { ThreadSafeReference(to: $0, keepingVersion: false) }
    }

    /// The object or collection, in the realm of the calling thread or queue; nil if it was deleted.
    public var wrappedValue: Confined? {
        get {
            guard let reference = reference.withLock({ $0 }) else { return nil }
            let found = reference.here
            // What is read here next, elsewhere too, is at least of the version that this reader sees or makes.
            if let found, found._pointer != nil {
                let new = ThreadSafeReference(to: found, keepingVersion: false)
                self.reference.withLock { $0 = new }
            }
            return found
        }
        set {
            let new = Self.reference(to: newValue)
            reference.withLock { $0 = new }
        }
    }
}

// MARK: - What can be handed over

// Both kinds of objects that realms keep conform by these.
extension ObjectBase {
    /// The object's place.
    public var _pointer: _ThreadSafePointer? { handle.map { _ThreadSafePointer($0) } }
    /// The object.
    public static func _found(_ pointer: _ThreadSafePointer) -> Self? { pointer.object.map { managed($0) } }
}
extension Object: ThreadConfined {}
extension EmbeddedObject: ThreadConfined {}

extension Results {
    /// The class and the query.
    public var _pointer: _ThreadSafePointer? { _ThreadSafePointer(self) }
    /// The objects of the query.
    public static func _found(_ pointer: _ThreadSafePointer) -> Results? {
        guard case .collection(let any) = pointer.place, let results = any as? Results else { return nil }
        let moved = results.with(query: results.query, instance: pointer.instance, keys: results.keys)
        return moved.isInvalidated ? nil : moved
    }
}

extension LinkingObjects {
    /// The place of the property.
    public var _pointer: _ThreadSafePointer? { field.map { _ThreadSafePointer($0) } }
    /// The objects that link to the object.
    public static func _found(_ pointer: _ThreadSafePointer) -> LinkingObjects? {
        guard case .field(let field) = pointer.place, field.owner.exists else { return nil }
        return LinkingObjects(field: field)
    }
}

extension AnyRealmCollection {
    /// The place of the collection.
    public var _pointer: _ThreadSafePointer? {
        var pointer = base._pointer
        pointer?.hidden = Swift.type(of: base)
        return pointer
    }
    /// The collection.
    public static func _found(_ pointer: _ThreadSafePointer) -> AnyRealmCollection? {
        guard let hidden = pointer.hidden as? any RealmCollection<Element>.Type else { return nil }
        return found(pointer, hidden)
    }

    private static func found<Base: RealmCollection<Element>>(_ pointer: _ThreadSafePointer, _: Base.Type) -> Self? {
        Base._found(pointer).map { AnyRealmCollection($0) }
    }
}

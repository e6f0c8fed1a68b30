internal import Changesets

/// An object or a collection that belongs to the thread, queue or actor of its realm. A `ThreadSafeReference` takes it elsewhere.
public protocol ThreadConfined: SendableMetatype {
    /// The realm; nil for what is unmanaged.
    var realm: Realm? { get }
    /// Whether the object, or what the collection is part of, was deleted.
    var isInvalidated: Bool { get }
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
        case results(className: ByteString, ResultsQuery?, keys: [ObjectKey]?)
    }
    let place: Place
    let instance: RealmInstance

    init(_ handle: ObjectHandle) { (place, instance) = (.object(handle), handle.instance) }

    init(_ field: _Field) { (place, instance) = (.field(field), field.instance) }

    init(_ instance: RealmInstance, results className: ByteString, _ query: ResultsQuery?, keys: [ObjectKey]?) {
        (place, self.instance) = (.results(className: className, query, keys: keys), instance)
    }

    /// The same place as another instance of the realm shows it.
    func moved(to instance: RealmInstance) -> _ThreadSafePointer {
        switch place {
        case .object(let handle): _ThreadSafePointer(handle.moved(to: instance))
        case .field(let field): _ThreadSafePointer(field.moved(to: instance))
        case .results(let className, let query, let keys):
            _ThreadSafePointer(instance, results: className, query, keys: keys)
        }
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
/// The realm stays open for as long as the reference is kept.
public struct ThreadSafeReference<Confined: ThreadConfined>: Sendable {
    let pointer: _ThreadSafePointer

    /// A reference to an object or collection of a realm. One that is unmanaged or was deleted traps.
    public init(to confined: Confined) {
        guard let pointer = confined._pointer else {
            preconditionFailure(
                "only what a realm has can be handed over by a ThreadSafeReference; this one is unmanaged")
        }
        precondition(!confined.isInvalidated, "what was deleted cannot be handed over by a ThreadSafeReference")
        self.pointer = pointer
    }

    /// Whether the object or collection can be found no more in the newest version of its realm.
    public var isInvalidated: Bool {
        let core = pointer.instance.core
        let newest = RealmInstance(
            core: core, configuration: pointer.instance.configuration, session: nil, snapshot: core.snapshot)
        return Confined._found(pointer.moved(to: newest)) == nil
    }
}

extension Realm {
    /// The object or collection of a reference, in this realm; nil if it was deleted meanwhile. A reference to another realm's traps, and so does a frozen realm.
    public func resolve<Confined: ThreadConfined>(_ reference: ThreadSafeReference<Confined>) -> Confined? {
        instance.checkThread()
        precondition(!isFrozen, "a ThreadSafeReference cannot be resolved in a frozen realm")
        precondition(
            reference.pointer.instance.core === instance.core,
            "the ThreadSafeReference is to what another realm has: \(reference.pointer.instance.configuration.placeName)"
        )
        return Confined._found(reference.pointer.moved(to: instance))
    }
}

/// Holds an object or a collection that is assigned on one thread and read on another: each reader gets it in a realm of its own.
///
///     @ThreadSafe var person = realm.objects(Person.self).first
///     Task { @MainActor in print(person?.name ?? "gone") }
@propertyWrapper
public struct ThreadSafe<Confined: ThreadConfined>: Sendable {
    private var reference: ThreadSafeReference<Confined>?

    /// Holds an object or collection of a realm, or nothing. One that is unmanaged traps.
    public init(wrappedValue: Confined?) { reference = wrappedValue.map(ThreadSafeReference.init) }

    /// The object or collection, in a realm of the calling thread; nil if it was deleted.
    public var wrappedValue: Confined? {
        get {
            guard let reference else { return nil }
            let instance = reference.pointer.instance
            let here = RealmInstance(
                core: instance.core, configuration: instance.configuration, session: instance.session,
                confinement: .here())
            return Realm(instance: here).resolve(reference)
        }
        set { reference = newValue.map(ThreadSafeReference.init) }
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

extension Results: ThreadConfined where Element: Object {
    /// The class and the query.
    public var _pointer: _ThreadSafePointer? {
        _ThreadSafePointer(instance, results: className, query, keys: keys)
    }
    /// The objects of the query.
    public static func _found(_ pointer: _ThreadSafePointer) -> Results? {
        guard case .results(let className, let query, let keys) = pointer.place else { return nil }
        let results = Results(instance: pointer.instance, className: className, query: query, keys: keys)
        return results.isInvalidated ? nil : results
    }
}

public import Dispatch

#if !canImport(ObjectiveC)
public import Foundation
#endif

/// The values that a key path leads to from each object of a list or set, as a property of a `Projection`.
///
///     @Projected(\Person.dogs.projectTo.name) var dogNames: ProjectedCollection<String>
///
/// It is as live as the list or set. An element that is assigned is assigned to the object.
public struct ProjectedCollection<Element: RealmCollectionValue>: RandomAccessCollection, CustomStringConvertible,
    ThreadConfined
{
    /// Positions.
    public typealias Index = Int

    private let base: any ProjectedBase<Element>

    fileprivate init(_ base: any ProjectedBase<Element>) { self.base = base }

    /// The position of the first element.
    public var startIndex: Int { 0 }
    /// The position after the last element.
    public var endIndex: Int { base.count }
    /// One element. To assign what is computed, or what is of an object outside of a write transaction, traps.
    public subscript(_ position: Int) -> Element {
        get { base.element(at: position) }
        nonmutating set { base.assign(newValue, at: position) }
    }

    /// The position of the first element that is equal; nil if there is none.
    public func index(of object: Element) -> Int? { firstIndex(of: object) }

    #if !canImport(ObjectiveC)
    /// The position of the first object that meets a predicate; nil if there is none.
    public func index(matching predicate: NSPredicate) -> Int? { base.index(matching: predicate) }
    #endif

    /// Calls `block` with the collection now, and after each commit that changes it or its objects, on the queue given or else where the realm belongs.
    /// - Parameter keyPaths: the properties of the objects whose changes count; nil for all.
    @preconcurrency
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (RealmCollectionChange<ProjectedCollection<Element>>) -> Void
    ) -> NotificationToken {
        base.observe(keyPaths, on: queue, block)
    }

    /// The elements, line by line.
    public var description: String {
        let lines = enumerated().map { "\t[\($0)] \(Description.indented(Description.of($1, Description.maxDepth)))" }
        return "ProjectedCollection<\(Element.self)> {\n\(lines.joined(separator: "\n"))\n}"
    }

    // MARK: As the collection

    /// The realm; nil for that of an unmanaged object.
    public var realm: Realm? { base.realm }
    /// Whether the object that the list or set belongs to was deleted.
    public var isInvalidated: Bool { base.isInvalidated }
    /// Whether the collection belongs to a frozen realm.
    public var isFrozen: Bool { base.isFrozen }
    /// A frozen collection, which shows the elements as they are now even after later changes.
    public func freeze() -> ProjectedCollection<Element> { base.frozen() }
    /// The live collection behind a frozen one; nil if the object that it belongs to was deleted since.
    public func thaw(_isolation: (any Actor)? = #isolation) -> ProjectedCollection<Element>? { base.thawed(_isolation) }
    /// How the collection is found again.
    public var _pointer: _ThreadSafePointer? { base.pointer }
    /// The collection.
    public static func _found(_ pointer: _ThreadSafePointer) -> ProjectedCollection? {
        guard case .collection(let any) = pointer.place, let finder = any as? ProjectedFinder<Element> else {
            return nil
        }
        return finder.find(pointer.instance)
    }
}

/// A `ProjectedCollection`, whatever its elements.
protocol ProjectedCollectionType {
    /// The key paths by names from an object of the collection on.
    var origins: [String] { get }
}

extension ProjectedCollection: ProjectedCollectionType {
    var origins: [String] { base.origins }
}

/// Maps the objects of a list or set: `list.projectTo.name` is what each object has in `name`.
@dynamicMemberLookup
public struct CollectionElementMapper<Element: ObjectBase & RealmCollectionValue> {
    private let collection: any RealmCollection<Element>

    fileprivate init(_ collection: any RealmCollection<Element>) { self.collection = collection }

    /// What a key path leads to from each object.
    public subscript<V: RealmCollectionValue>(dynamicMember member: KeyPath<Element, V>) -> ProjectedCollection<V> {
        Self.projected(collection, member)
    }

    private static func projected<Base: RealmCollection<Element>, V>(
        _ base: Base, _ path: KeyPath<Element, V>
    ) -> ProjectedCollection<V> {
        ProjectedCollection(ProjectedElements(collection: base, keyPath: FixedKeyPath(path: path)))
    }
}

extension List where Element: ObjectBase {
    /// What maps the objects, for a `Projection`: see `CollectionElementMapper`.
    public var projectTo: CollectionElementMapper<Element> { CollectionElementMapper(self) }
}

extension MutableSet where Element: ObjectBase {
    /// What maps the objects, for a `Projection`: see `CollectionElementMapper`.
    public var projectTo: CollectionElementMapper<Element> { CollectionElementMapper(self) }
}

// MARK: - What is projected

/// The objects of a collection and a key path from each, whatever the collection.
private protocol ProjectedBase<Element> {
    associatedtype Element: RealmCollectionValue
    var origins: [String] { get }
    var count: Int { get }
    func element(at position: Int) -> Element
    func assign(_ element: Element, at position: Int)
    func observe(
        _ keyPaths: [String]?, on queue: DispatchQueue?,
        _ block: @escaping @Sendable (RealmCollectionChange<ProjectedCollection<Element>>) -> Void
    ) -> NotificationToken
    var realm: Realm? { get }
    var isInvalidated: Bool { get }
    var isFrozen: Bool { get }
    func frozen() -> ProjectedCollection<Element>
    func thawed(_ isolation: (any Actor)?) -> ProjectedCollection<Element>?
    var pointer: _ThreadSafePointer? { get }
    #if !canImport(ObjectiveC)
    func index(matching predicate: NSPredicate) -> Int?
    #endif
}

private struct ProjectedElements<Base: RealmCollection, Element: RealmCollectionValue>: ProjectedBase
where Base.Element: ObjectBase {
    let collection: Base
    let keyPath: FixedKeyPath<Base.Element, Element>

    private func of(_ collection: Base) -> ProjectedCollection<Element> {
        ProjectedCollection(ProjectedElements(collection: collection, keyPath: keyPath))
    }

    var origins: [String] { ProjectionSchema.origins(Base.Element.self) { $0[keyPath: keyPath.path] } }
    var count: Int { collection.count }
    func element(at position: Int) -> Element { collection[position][keyPath: keyPath.path] }

    func assign(_ element: Element, at position: Int) {
        guard let writable = keyPath.path as? ReferenceWritableKeyPath<Base.Element, Element> else {
            preconditionFailure(
                "what is projected of class \(ModelName.of(Base.Element.self)) here is computed, or goes over an optional; assign it to the object"
            )
        }
        collection[position][keyPath: writable] = element
    }

    func observe(
        _ keyPaths: [String]?, on queue: DispatchQueue?,
        _ block: @escaping @Sendable (RealmCollectionChange<ProjectedCollection<Element>>) -> Void
    ) -> NotificationToken {
        let keyPath = keyPath
        return collection.observe(keyPaths: keyPaths, on: queue) { change in
            block(
                change.map { collection in
                    ProjectedCollection(ProjectedElements(collection: collection, keyPath: keyPath))
                })
        }
    }

    var realm: Realm? { collection.realm }
    var isInvalidated: Bool { collection.isInvalidated }
    var isFrozen: Bool { collection.isFrozen }
    func frozen() -> ProjectedCollection<Element> { of(collection.freeze()) }
    func thawed(_ isolation: (any Actor)?) -> ProjectedCollection<Element>? {
        collection._thawed(isolation).map { of($0) }
    }

    var pointer: _ThreadSafePointer? {
        collection._pointer.map { pointer in
            let keyPath = keyPath
            let finder = ProjectedFinder<Element> { instance in
                Base._found(pointer.moved(to: instance)).map {
                    ProjectedCollection(ProjectedElements(collection: $0, keyPath: keyPath))
                }
            }
            return _ThreadSafePointer(finder, in: pointer.instance)
        }
    }

    #if !canImport(ObjectiveC)
    func index(matching predicate: NSPredicate) -> Int? { collection.index(matching: predicate) }
    #endif
}

/// Finds a projected collection again in another instance of its realm.
private struct ProjectedFinder<Element: RealmCollectionValue>: Sendable {
    let find: @Sendable (RealmInstance) -> ProjectedCollection<Element>?
}

internal import Changesets
internal import RealmState

/// The objects of a class, all or some, live as its realm is: sorted as was asked for, else by ascending primary key, or in the order in which they were made.
public struct Results<Element>: RealmCollection, Sendable {
    let instance: RealmInstance
    let className: ByteString
    /// The query that says which of the objects are in the collection, and in which order; nil for all of them by key.
    let query: ResultsQuery?
    /// The keys that a notification speaks of; nil for a live collection.
    let keys: [ObjectKey]?
    private let make: @Sendable (RealmInstance, ObjectAddress) -> Element
    private let cache = Remembered<[ObjectKey]>()
    /// The collection that this one is, as a notification shows it; nil for itself.
    private var origin: (any AnyObject & Sendable)?
    /// The instance's when the collection was made.
    private let generation: Int
    private let pages = KeyPages()

    private var currentKeys: [ObjectKey] {
        keys ?? instance.remembered(in: cache) { ResultsQuery.keys(className, query, $0) }
    }

    /// - Parameter make: makes an element of what an instance has at an address.
    init(
        instance: RealmInstance, className: ByteString, query: ResultsQuery?, keys: [ObjectKey]? = nil,
        make: @escaping @Sendable (RealmInstance, ObjectAddress) -> Element
    ) {
        self.instance = instance
        self.className = className
        self.query = query
        self.keys = keys
        self.make = make
        generation = instance.generation
    }

    /// Notes the keys of a version, which need not be looked for then.
    func know(_ keys: [ObjectKey], of snapshot: RealmSnapshot) { cache.note(keys, at: .version(snapshot.version)) }

    /// The position of the first object.
    public var startIndex: Int { 0 }
    /// The position after the last object.
    public var endIndex: Int {
        if let keys { return keys.count }
        return query?.selectsAll == false ? currentKeys.count : instance.read { $0.objectCount(of: className) }
    }
    /// One object.
    public subscript(_ index: Int) -> Element {
        make(instance, ObjectAddress(className, key(at: index)))
    }

    private func key(at index: Int) -> ObjectKey {
        if keys == nil, query == nil {
            let key = index < 0 ? nil : instance.read { pages.key(at: index, of: className, $0) }
            guard let key else { preconditionFailure("index \(index), there are \(endIndex) objects") }
            return key
        }
        let keys = currentKeys
        precondition(keys.indices.contains(index), "index \(index), there are \(keys.count) objects")
        return keys[index]
    }

    /// The objects that there are now.
    public func makeIterator() -> AnyIterator<Element> {
        let (instance, className, make) = (instance, className, make)
        if keys == nil, query == nil {
            var rest = instance.read { $0.keys(of: className) }
            return AnyIterator { rest.next().map { make(instance, ObjectAddress(className, $0)) } }
        }
        var rest = currentKeys.makeIterator()
        return AnyIterator { rest.next().map { make(instance, ObjectAddress(className, $0)) } }
    }

    /// The results of a closure for each of the objects that there are now. Goes through the objects of one version, also if some are deleted
    /// meanwhile.
    public func map<T, E>(_ transform: (Element) throws(E) -> T) throws(E) -> [T] {
        var result: [T] = []
        for element in self { result.append(try transform(element)) }
        return result
    }

    /// The realm.
    public var realm: Realm? { Realm(instance: instance) }
    /// Whether the collection belongs to a frozen realm.
    public var isFrozen: Bool { instance.isFrozen }
    /// Whether what the collection was taken from was deleted; never for one of all objects of a class.
    public var isInvalidated: Bool {
        generation != instance.generation || query?.source.isGone(in: instance) ?? false
    }

    /// The same collection with another query, of another version, or as it was for a notification.
    func with(query: ResultsQuery?, instance: RealmInstance? = nil, keys: [ObjectKey]? = nil) -> Results {
        Results(
            instance: instance ?? self.instance, className: className, query: query, keys: keys, make: make)
    }

    /// The same collection, as a notification shows one.
    func shown(from original: Results) -> Results {
        var shown = self
        shown.origin = original.identity
        return shown
    }

    /// A frozen collection, which shows the objects as they are now even after later changes.
    public func freeze() -> Results<Element> { with(query: query, instance: instance.frozen(), keys: keys) }

    /// The live collection behind a frozen one.
    public func _thawed(_ isolation: (any Actor)?) -> Results<Element>? {
        with(query: query, instance: instance.thawed(isolation))
    }

    /// Whether both are one collection, or both all objects of one class, either both live or of one version.
    public static func == (left: Results, right: Results) -> Bool {
        guard left.className == right.className, left.instance.isSame(as: right.instance) else { return false }
        return left.identity === right.identity
            || left.query == nil && right.query == nil && left.keys == nil && right.keys == nil
    }

    /// The key of the first object; nil if there is none.
    var firstKey: ObjectKey? {
        keys == nil && query == nil ? instance.read { pages.key(at: 0, of: className, $0) } : currentKeys.first
    }

    /// Where the object with a key stands; nil if the collection does not have it.
    func position(of key: ObjectKey) -> Int? {
        (keys == nil && query == nil ? ResultsSource.all.keys(className, instance) : currentKeys).firstIndex(of: key)
    }

    /// What tells this collection from others of the same query.
    var identity: any AnyObject & Sendable { origin ?? cache }
}

extension Results where Element == DynamicObject {
    init(instance: RealmInstance, className: ByteString, query: ResultsQuery? = nil, keys: [ObjectKey]? = nil) {
        self.init(instance: instance, className: className, query: query, keys: keys) {
            ObjectHandle($0, $1).dynamic
        }
    }
}

extension Results where Element: Object {
    init(instance: RealmInstance, className: ByteString, query: ResultsQuery? = nil, keys: [ObjectKey]? = nil) {
        self.init(instance: instance, className: className, query: query, keys: keys) {
            Element.managed(ObjectHandle($0, $1))
        }
    }
}

public import Dispatch
public import Foundation
internal import Synchronization

/// The protocol of both `SectionedResults` and `ResultsSection`.
public protocol RealmSectionedResult<Element>: RandomAccessCollection, Equatable, ThreadConfined, Sendable
where Index == Int {
    /// The realm.
    var realm: Realm? { get }
    /// Whether the object that the elements are of was deleted.
    var isInvalidated: Bool { get }
    /// Whether the collection belongs to a frozen realm.
    var isFrozen: Bool { get }
    /// A frozen collection, which shows the elements as they are now even after later changes.
    func freeze() -> Self
    /// The live collection behind a frozen one; nil if what it is of was deleted since.
    func thaw() -> Self?
    /// Calls `block` with the collection now and after each commit that changes it or its elements.
    @preconcurrency
    func observe(
        keyPaths: [String]?, on queue: DispatchQueue?,
        _ block: @escaping @Sendable (SectionedResultsChange<Self>) -> Void
    ) -> NotificationToken
}

/// The elements of a collection in sections, each of which has a key; live unless it came out of a notification.
///
///     let byLetter = realm.objects(Person.self).sectioned(by: { $0.name.prefix(1).uppercased() }, sortDescriptors: [SortDescriptor(keyPath: "name")])
///     for section in byLetter { print(section.key, section.map(\.name)) }
///
/// The sections stand in the order in which the sorted elements first have their keys. They are made anew when the realm has changed and somebody looks.
public struct SectionedResults<Key: _Persistable & Hashable & Sendable, SectionElement: RealmCollectionValue>:
    RealmSectionedResult
{
    /// A section.
    public typealias Element = ResultsSection<Key, SectionElement>

    let source: SectionSource<SectionElement>
    let key: @Sendable (SectionElement) -> Key
    /// The sections that a notification speaks of; nil for a live collection.
    let fixed: Sections<Key>?
    private let cache = Remembered<Sections<Key>>()

    init(
        _ source: SectionSource<SectionElement>, fixed: Sections<Key>? = nil,
        by key: @escaping @Sendable (SectionElement) -> Key
    ) {
        self.source = source
        self.fixed = fixed
        self.key = key
    }

    /// The sections as an instance shows them.
    func sections(in instance: RealmInstance) -> Sections<Key> {
        Sections(source.values(instance)) { key(source.element(instance, $0)) }
    }

    var sections: Sections<Key> {
        fixed ?? source.instance.remembered(in: cache) { sections(in: $0) }
    }

    /// The same collection of another version, or as it was for a notification.
    func moved(to instance: RealmInstance, fixed: Sections<Key>? = nil) -> SectionedResults {
        SectionedResults(source.moved(to: instance), fixed: fixed, by: key)
    }

    /// Whether both are the same collection, and not one that was made of the same elements in the same way.
    public static func == (left: SectionedResults, right: SectionedResults) -> Bool { left.cache === right.cache }

    /// The position of the first section.
    public var startIndex: Int { 0 }
    /// The position after the last section.
    public var endIndex: Int { sections.keys.count }
    /// One section.
    public subscript(_ index: Int) -> ResultsSection<Key, SectionElement> {
        let keys = sections.keys
        precondition(keys.indices.contains(index), "index \(index), there are \(keys.count) sections")
        return ResultsSection(self, keys[index])
    }
    /// The element at a position in a section: `IndexPath(item: 0, section: 1)`.
    public subscript(_ indexPath: IndexPath) -> SectionElement { self[indexPath[0]][indexPath[1]] }
    /// The sections that there are now.
    public func makeIterator() -> AnyIterator<ResultsSection<Key, SectionElement>> {
        var rest = sections.keys.makeIterator()
        return AnyIterator { rest.next().map { ResultsSection(self, $0) } }
    }
    /// The keys of all sections, in their order.
    public var allKeys: [Key] { sections.keys }

    /// The realm.
    public var realm: Realm? { Realm(instance: source.instance) }
    /// Whether the object that the elements are of was deleted.
    public var isInvalidated: Bool { source.isGone(source.instance) }
    /// Whether the collection belongs to a frozen realm.
    public var isFrozen: Bool { source.instance.isFrozen }
    /// A frozen collection, which shows the sections as they are now even after later changes.
    public func freeze() -> SectionedResults { moved(to: source.instance.frozen(), fixed: fixed) }
    /// The live collection behind a frozen one; nil if the object that the elements are of was deleted since.
    public func thaw() -> SectionedResults? {
        let live = moved(to: source.instance.thawed())
        return live.isInvalidated ? nil : live
    }
}

/// The elements of `SectionedResults` that have one key; empty once there are none any more.
public struct ResultsSection<Key: _Persistable & Hashable & Sendable, SectionElement: RealmCollectionValue>:
    RealmSectionedResult, Identifiable
{
    /// An element of the section.
    public typealias Element = SectionElement

    let parent: SectionedResults<Key, SectionElement>
    /// The key of the section.
    public let key: Key

    init(_ parent: SectionedResults<Key, SectionElement>, _ key: Key) {
        self.parent = parent
        self.key = key
    }

    private var values: [RealmValue] { parent.sections.values(of: key) }

    /// The key of the section.
    public var id: Key { key }
    /// Whether both are the section with a key of the same collection.
    public static func == (left: ResultsSection, right: ResultsSection) -> Bool {
        left.parent == right.parent && left.key == right.key
    }
    /// The position of the first element.
    public var startIndex: Int { 0 }
    /// The position after the last element.
    public var endIndex: Int { values.count }
    /// One element.
    public subscript(_ index: Int) -> SectionElement {
        let values = values
        precondition(values.indices.contains(index), "index \(index), the section has \(values.count) elements")
        return parent.source.element(parent.source.instance, values[index])
    }
    /// The elements that there are now.
    public func makeIterator() -> AnyIterator<SectionElement> {
        let source = parent.source
        var rest = values.makeIterator()
        return AnyIterator { rest.next().map { source.element(source.instance, $0) } }
    }

    /// The realm.
    public var realm: Realm? { parent.realm }
    /// Whether the object that the elements are of was deleted.
    public var isInvalidated: Bool { parent.isInvalidated }
    /// Whether the section belongs to a frozen realm.
    public var isFrozen: Bool { parent.isFrozen }
    /// A frozen section, which shows the elements as they are now even after later changes.
    public func freeze() -> ResultsSection { ResultsSection(parent.freeze(), key) }
    /// The live section behind a frozen one; nil if the object that the elements are of was deleted since.
    public func thaw() -> ResultsSection? { parent.thaw().map { ResultsSection($0, key) } }
}

#if !canImport(ObjectiveC)
extension IndexPath {
    /// The position of an element in a section.
    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }
    /// The position of the section.
    public var section: Int { self[0] }
    /// The position in the section.
    public var item: Int { self[1] }
}
#endif

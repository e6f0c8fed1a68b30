public import Dispatch

extension Realm {
    /// All objects of a projection's class, each as the projection shows it. Filters and sorting go by the properties of the objects.
    public func objects<T: ProjectionObservable>(_ type: T.Type) -> Results<T> where T.Root: Object {
        Results(instance: instance, className: instance.name(of: T.Root.self), query: nil) { instance, address in
            T(projecting: T.Root.managed(ObjectHandle(instance, address)))
        }
    }
}

extension RealmCollection where Element: ProjectionObservable {
    /// Calls `block` with the collection now and after each commit that changes it. Changes of what the named properties show alone count as modifications.
    @preconcurrency
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.flatMap { ProjectionSchema.origins(of: $0) }, on: queue, block)
    }
}

extension RealmCollection where Element: ProjectionObservable & RealmCollectionValue {
    /// The projections in sections by a property, sorted by what it shows.
    public func sectioned<Key: _Persistable & Hashable & Sendable>(
        by keyPath: KeyPath<Element, Key>, ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        sectioned(
            by: keyPath,
            sortDescriptors: ProjectionSchema.origins(of: keyPath).map {
                SortDescriptor(keyPath: $0, ascending: ascending)
            })
    }

    /// The projections in sections by a property, sorted by several properties of the objects.
    public func sectioned<Key: _Persistable & Hashable & Sendable>(
        by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> {
        let fixed = FixedKeyPath(path: keyPath)
        return sectioned(
            by: { $0[keyPath: fixed.path] } as @Sendable (Element) -> Key, sortDescriptors: sortDescriptors)
    }
}

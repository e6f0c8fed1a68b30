// How collections are put into sections.

extension RealmCollection where Element: Object {
    /// The objects in sections by a property, sorted by it.
    ///
    ///     realm.objects(Task.self).sectioned(by: \.status)
    public func sectioned<Key: _Persistable & Hashable & Sendable>(
        by keyPath: KeyPath<Element, Key>, ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        sectioned(
            by: keyPath, sortDescriptors: [SortDescriptor(keyPath: KeyPathNames.of(keyPath), ascending: ascending)])
    }

    /// The objects in sections by a property, which may be a computed one, sorted by several properties.
    public func sectioned<Key: _Persistable & Hashable & Sendable>(
        by keyPath: KeyPath<Element, Key>, sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> {
        let fixed = FixedKeyPath(path: keyPath)
        return sectioned(
            by: { $0[keyPath: fixed.path] } as @Sendable (Element) -> Key, sortDescriptors: sortDescriptors)
    }
}

extension RealmCollection where Element: RealmCollectionValue {
    /// The elements in sections by what a closure makes of each, sorted by several properties; by none, as they are. An unmanaged collection traps.
    ///
    /// The closure is called again whenever the realm has changed and the collection is looked at. It may only read.
    @preconcurrency
    public func sectioned<Key: _Persistable & Hashable & Sendable>(
        by block: @escaping @Sendable (Element) -> Key, sortDescriptors: [SortDescriptor]
    ) -> SectionedResults<Key, Element> {
        let sorted = sortDescriptors.isEmpty ? _results : sorted(by: sortDescriptors)
        return SectionedResults(SectionSource(sorted), by: block)
    }

    /// The elements in sections by what a closure makes of each; see `sectioned(by:sortDescriptors:)`.
    @preconcurrency
    public func sectioned<Key: _Persistable & Hashable & Sendable>(
        sortDescriptors: [SortDescriptor], _ keyBlock: @escaping @Sendable (Element) -> Key
    ) -> SectionedResults<Key, Element> {
        sectioned(by: keyBlock, sortDescriptors: sortDescriptors)
    }

    /// The values in sections by what a closure makes of each, sorted, null first. An unmanaged collection, and one of objects, trap.
    @preconcurrency
    public func sectioned<Key: _Persistable & Hashable & Sendable>(
        by block: @escaping @Sendable (Element) -> Key, ascending: Bool = true
    ) -> SectionedResults<Key, Element> {
        sectioned(by: block, sortDescriptors: [SortDescriptor(keyPath: HeldValues.itself, ascending: ascending)])
    }
}

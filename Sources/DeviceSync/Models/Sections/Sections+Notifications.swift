internal import Changesets
public import Dispatch
internal import RealmState
internal import Synchronization

extension SectionedResultsChange {
    fileprivate init(_ collection: CollectionType, _ difference: SectionDifference?) {
        guard let difference else {
            self = .initial(collection)
            return
        }
        self = .update(
            collection, deletions: difference.deletions, insertions: difference.insertions,
            modifications: difference.modifications, sectionsToInsert: difference.insertedSections,
            sectionsToDelete: difference.deletedSections)
    }
}

extension SectionedResults {
    /// Calls `block` with the sections now and after each commit that changes them or their elements, on the queue given or else where the realm belongs.
    /// - Parameter keyPaths: the properties whose changes count as modifications; nil for all, of what the objects link to as well.
    @preconcurrency
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (SectionedResultsChange<SectionedResults>) -> Void
    ) -> NotificationToken {
        observed(keyPaths, at: source.instance.deliveryPlace(queue)) { sections, _, difference in
            block(SectionedResultsChange(sections, difference))
        }
    }

    /// Calls `block` on an actor with the sections now and after each commit that changes them; see `observe(keyPaths:on:_:)`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, SectionedResultsChange<SectionedResults>) -> Void
    ) async -> NotificationToken {
        observed(keyPaths, at: .actor(actor)) { sections, _, difference in
            actor.assumeIsolated { block($0, SectionedResultsChange(sections, difference)) }
        }
    }

    /// - Parameter block: gets the sections that a commit has made, those before it, and how they differ; nil the first time.
    fileprivate func observed(
        _ keyPaths: [String]?, at place: DeliveryPlace,
        _ block: @escaping @Sendable (SectionedResults, _ previous: Sections<Key>?, SectionDifference?) -> Void
    ) -> NotificationToken {
        precondition(!isFrozen, "a frozen collection does not change")
        let observed = ObservedProperties(keyPaths, source.className, in: source.instance)
        let live = moved(to: source.instance.delivered(at: place))
        let (core, className) = (source.instance.core, source.className)
        let last = Mutex<(state: RealmState, sections: Sections<Key>)?>(nil)
        let shown = live.source.instance
        return core.observers.add(on: place, for: shown, initial: { core.snapshot }) { snapshot, changed, isSilent in
            let state = snapshot.state
            // The keys have to be of the state that is reported on.
            let sections = live.sections(in: live.source.instance.at(snapshot))
            let previous = last.exchange((state, sections))
            let collection = live.moved(to: live.source.instance, fixed: sections)
            guard let previous else { return block(collection, nil, nil) }
            guard !isSilent else { return }
            let modified = ModifiedObjects(observed, className, changed, from: previous.state, to: state)
            let difference = SectionDifference(from: previous.sections, to: sections) { value in
                if case .link(let target) = value { modified.contains(target) } else { false }
            }
            if !difference.isEmpty { block(collection, previous.sections, difference) }
        }
    }
}

extension SectionedResults where SectionElement: Object {
    /// Calls `block` with the sections now and after each commit that changes them. Changes of the named properties alone count as modifications.
    @preconcurrency
    public func observe(
        keyPaths: [PartialKeyPath<SectionElement>], on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (SectionedResultsChange<SectionedResults>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { KeyPathNames.of($0) }, on: queue, block)
    }
}

extension ResultsSection {
    /// Calls `block` with the section now and after each commit that changes it or its elements, on the queue given or else where the realm belongs.
    ///
    /// Positions are those among all sections. A section without elements is deleted; it is inserted when there are some again.
    /// - Parameter keyPaths: the properties whose changes count as modifications; nil for all, of what the objects link to as well.
    @preconcurrency
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (SectionedResultsChange<ResultsSection>) -> Void
    ) -> NotificationToken {
        observed(keyPaths, at: parent.source.instance.deliveryPlace(queue), block)
    }

    /// Calls `block` on an actor with the section now and after each commit that changes it; see `observe(keyPaths:on:_:)`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, SectionedResultsChange<ResultsSection>) -> Void
    ) async -> NotificationToken {
        observed(keyPaths, at: .actor(actor)) { change in actor.assumeIsolated { block($0, change) } }
    }

    private func observed(
        _ keyPaths: [String]?, at place: DeliveryPlace,
        _ block: @escaping @Sendable (SectionedResultsChange<ResultsSection>) -> Void
    ) -> NotificationToken {
        let key = key
        return parent.observed(keyPaths, at: place) { sections, previous, difference in
            let own = difference?.only(old: previous?.index(of: key), new: sections.sections.index(of: key))
            if own?.isEmpty != true { block(SectionedResultsChange(ResultsSection(sections, key), own)) }
        }
    }
}

extension ResultsSection where SectionElement: Object {
    /// Calls `block` with the section now and after each commit that changes it. Changes of the named properties alone count as modifications.
    @preconcurrency
    public func observe(
        keyPaths: [PartialKeyPath<SectionElement>], on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (SectionedResultsChange<ResultsSection>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { KeyPathNames.of($0) }, on: queue, block)
    }
}

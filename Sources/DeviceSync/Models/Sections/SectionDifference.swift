public import Foundation

/// A change of observed sections.
@frozen public enum SectionedResultsChange<CollectionType> {
    /// The first notification: the sections as they are.
    case initial(CollectionType)
    /// A change. Deletions are positions in the old sections, insertions and modifications in the new ones. What a deleted section had is not listed; what an inserted
    /// one has, is.
    case update(
        CollectionType, deletions: [IndexPath], insertions: [IndexPath], modifications: [IndexPath],
        sectionsToInsert: IndexSet, sectionsToDelete: IndexSet)
}

/// A change of observed sections, by its earlier name.
public typealias RealmSectionedResultsChange = SectionedResultsChange

extension SectionedResultsChange: Sendable where CollectionType: Sendable {}

extension SectionedResultsChange {
    /// The same change, of what shows the sections otherwise.
    func map<Other>(_ transform: (CollectionType) -> Other) -> SectionedResultsChange<Other> {
        switch self {
        case .initial(let sections): .initial(transform(sections))
        case .update(let sections, let deletions, let insertions, let modifications, let inserted, let deleted):
            .update(
                transform(sections), deletions: deletions, insertions: insertions, modifications: modifications,
                sectionsToInsert: inserted, sectionsToDelete: deleted)
        }
    }
}

/// How two versions of sections differ, as positions. What has moved was deleted and inserted.
struct SectionDifference {
    private(set) var deletions: [IndexPath] = []
    private(set) var insertions: [IndexPath] = []
    private(set) var modifications: [IndexPath] = []
    private(set) var deletedSections = IndexSet()
    private(set) var insertedSections = IndexSet()

    var isEmpty: Bool {
        deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && deletedSections.isEmpty
            && insertedSections.isEmpty
    }

    /// - Parameter isModified: whether an element that is in both versions has changed.
    init<Key>(from old: Sections<Key>, to new: Sections<Key>, isModified: (RealmValue) -> Bool) {
        let sections = PositionDifference(from: old.keys, to: new.keys) { _ in false }
        deletedSections = IndexSet(sections.deletions)
        insertedSections = IndexSet(sections.insertions)
        for (section, key) in new.keys.enumerated() {
            func paths(_ items: [Int], in section: Int) -> [IndexPath] {
                items.map { IndexPath(indexes: [section, $0]) }
            }
            let values = new.values(of: key)
            guard !insertedSections.contains(section), let before = old.index(of: key) else {
                insertions += paths(Array(values.indices), in: section)
                continue
            }
            let elements = PositionDifference(from: old.values(of: key), to: values, isModified: isModified)
            deletions += paths(elements.deletions, in: before)
            insertions += paths(elements.insertions, in: section)
            modifications += paths(elements.modifications, in: section)
        }
        deletions.sort()
    }

    /// What of it concerns one section.
    func only(old: Int?, new: Int?) -> SectionDifference {
        var result = self
        result.deletions.removeAll { $0[0] != old }
        result.insertions.removeAll { $0[0] != new }
        result.modifications.removeAll { $0[0] != new }
        result.deletedSections = deletedSections.filteredIndexSet { $0 == old }
        result.insertedSections = insertedSections.filteredIndexSet { $0 == new }
        return result
    }
}

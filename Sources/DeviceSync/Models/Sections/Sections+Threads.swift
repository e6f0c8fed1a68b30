// Sections go to another thread, queue or actor by what they are made of.

extension SectionedResults {
    /// What the sections are made of.
    public var _pointer: _ThreadSafePointer? { _ThreadSafePointer(self, in: source.instance) }
    /// The sections.
    public static func _found(_ pointer: _ThreadSafePointer) -> SectionedResults? {
        guard case .collection(let any) = pointer.place, let sections = any as? SectionedResults else { return nil }
        let moved = sections.moved(to: pointer.instance, fixed: sections.fixed)
        return moved.isInvalidated ? nil : moved
    }
}

extension ResultsSection {
    /// What the section is made of.
    public var _pointer: _ThreadSafePointer? { _ThreadSafePointer(self, in: parent.source.instance) }
    /// The section.
    public static func _found(_ pointer: _ThreadSafePointer) -> ResultsSection? {
        guard case .collection(let any) = pointer.place, let section = any as? ResultsSection else { return nil }
        let all = _ThreadSafePointer(section.parent, in: pointer.instance)
        return SectionedResults<Key, SectionElement>._found(all).map { ResultsSection($0, section.key) }
    }
}

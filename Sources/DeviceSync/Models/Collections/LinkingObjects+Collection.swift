internal import RealmState

extension LinkingObjects {
    /// A frozen collection, which shows the objects as they are now even after later changes. That of an unmanaged object is empty for ever.
    public func freeze() -> LinkingObjects<Element> {
        LinkingObjects(field: field.map { $0.moved(to: $0.instance.frozen()) })
    }

    /// The live collection behind a frozen one; nil if the object was deleted since.
    public func _thawed(_ isolation: (any Actor)?) -> LinkingObjects<Element>? {
        let live = LinkingObjects(field: field.map { $0.moved(to: $0.instance.thawed(isolation)) })
        return live.isInvalidated ? nil : live
    }

    /// Whether both are of one property of one object, either both live or of one version.
    public static func == (left: LinkingObjects, right: LinkingObjects) -> Bool {
        guard let one = left.field, let other = right.field else { return left.field == nil && right.field == nil }
        return one.isSame(as: other)
    }
}

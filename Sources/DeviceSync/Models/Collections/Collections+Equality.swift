// Collections of a realm are equal if they are one; those that no realm has, if they hold the same.

extension List {
    /// Whether both are one list of a realm in one version, or hold the same if one of them is unmanaged.
    public static func == (left: List, right: List) -> Bool {
        if let one = left._field, let other = right._field { return one.isSame(as: other) }
        return left === right || left.elementsEqual(right)
    }
}

extension MutableSet {
    /// Whether both are one set of a realm in one version, or hold the same if one of them is unmanaged.
    public static func == (left: MutableSet, right: MutableSet) -> Bool {
        if let one = left._field, let other = right._field { return one.isSame(as: other) }
        return left === right || Set(left) == Set(right)
    }
}

extension Map: Equatable {
    /// Whether both are one map of a realm in one version, or hold the same if one of them is unmanaged.
    public static func == (left: Map, right: Map) -> Bool {
        if let one = left._field, let other = right._field { return one.isSame(as: other) }
        return left === right || left.contents == right.contents
    }
}

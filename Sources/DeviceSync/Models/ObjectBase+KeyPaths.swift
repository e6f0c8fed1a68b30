extension ObjectBase {
    /// The value that a key path by names leads to, as in `owner.name`; of each object where it goes over a collection; nil where a link on the way
    /// leads nowhere.
    public func value(forKeyPath keyPath: String) -> Any? { Self.follow(keyPath.split(separator: "."), from: self) }

    /// Changes the property that a key path by names leads to, as in `owner.name`. Where a link on the way leads nowhere, nothing changes.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        var path = keyPath.split(separator: ".")
        guard let last = path.popLast() else { return }
        (Self.follow(path, from: self) as? ObjectBase)?.setValue(value, forKey: String(last))
    }

    fileprivate static func follow(_ path: [Substring], from value: Any?) -> Any? {
        guard let name = path.first else { return value }
        let rest = Array(path.dropFirst())
        switch ValueConversion.unwrapped(value) {
        case let object as ObjectBase: return follow(rest, from: object[String(name)])
        case let object as DynamicObject: return follow(rest, from: object[String(name)])
        case let collection as any Sequence: return elements(collection).map { follow(path, from: $0) }
        default: return nil
        }
    }

    private static func elements(_ sequence: some Sequence) -> [Any?] { sequence.map { $0 } }
}

extension RealmCollection where Element: ObjectBase {
    /// The value that an operator such as `@sum.age` or `@unionOfObjects.name` makes of the objects; of any other key path the array of what it
    /// leads to from each object.
    public func value(forKeyPath keyPath: String) -> Any? {
        if let value = CollectionOperators.value(keyPath, of: self) { return value }
        let values: [Any?] = value(forKeyPath: keyPath)
        return values
    }

    /// The values that a key path by names leads to from each object; see `Object.value(forKeyPath:)`.
    @_disfavoredOverload
    public func value(forKeyPath keyPath: String) -> [Any?] {
        let path = keyPath.split(separator: ".")
        var values: [Any?] = []
        for object in self { values.append(ObjectBase.follow(path, from: object)) }
        return values
    }
}

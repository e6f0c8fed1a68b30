// What typed queries ask of collections of values, as Realm Swift has it.

// MARK: - Any element

extension Query where T: RealmCollection, T.Element: RealmCollectionValue {
    fileprivate func hasElement(_ op: String, _ element: T.Element) -> Query<Bool> {
        Query<Bool>(.any(expression, op, Query<T.Element>.constant(element)))
    }

    /// Whether one of the elements equals a value.
    public static func == (left: Query<T>, right: T.Element) -> Query<Bool> { left.hasElement("==", right) }
    /// Whether one of the elements differs from a value.
    public static func != (left: Query<T>, right: T.Element) -> Query<Bool> { left.hasElement("!=", right) }
}

extension Query where T: RealmCollection, T.Element: RealmCollectionValue & _QueryOrdered {
    /// Whether one of the elements is less than a value.
    public static func < (left: Query<T>, right: T.Element) -> Query<Bool> { left.hasElement("<", right) }
    /// Whether one of the elements is less than a value, or equal.
    public static func <= (left: Query<T>, right: T.Element) -> Query<Bool> { left.hasElement("<=", right) }
    /// Whether one of the elements is greater than a value.
    public static func > (left: Query<T>, right: T.Element) -> Query<Bool> { left.hasElement(">", right) }
    /// Whether one of the elements is greater than a value, or equal.
    public static func >= (left: Query<T>, right: T.Element) -> Query<Bool> { left.hasElement(">=", right) }
}

// MARK: - All elements

extension Query {
    /// Whether all elements of a collection are in a range, which has some.
    fileprivate func isWithin(_ low: Any, _ op: String, _ high: Any) -> Query<Bool> {
        Query<Bool>(
            .and(
                .comparison(.aggregate(path, "@min"), ">=", Self.constant(low)),
                .comparison(.aggregate(path, "@max"), op, Self.constant(high))))
    }
}

extension Query where T: RealmCollection, T.Element: MinMaxType & Comparable {
    /// Whether there are elements, and all of them are in a range.
    public func contains(_ range: ClosedRange<T.Element>) -> Query<Bool> {
        isWithin(range.lowerBound, "<=", range.upperBound)
    }
    /// Whether there are elements, and all of them are in a range.
    public func contains(_ range: Range<T.Element>) -> Query<Bool> { isWithin(range.lowerBound, "<", range.upperBound) }
}

extension Query where T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: MinMaxType & Comparable {
    /// Whether there are elements, and all of them are in a range; null does not count.
    public func contains(_ range: ClosedRange<T.Element.Wrapped>) -> Query<Bool> {
        isWithin(range.lowerBound, "<=", range.upperBound)
    }
    /// Whether there are elements, and all of them are in a range; null does not count.
    public func contains(_ range: Range<T.Element.Wrapped>) -> Query<Bool> {
        isWithin(range.lowerBound, "<", range.upperBound)
    }
}

extension Query where T: _QueryMap, T.Value: MinMaxType & Comparable {
    /// Whether there are values, and all of them are in a range.
    public func contains(_ range: ClosedRange<T.Value>) -> Query<Bool> {
        isWithin(range.lowerBound, "<=", range.upperBound)
    }
    /// Whether there are values, and all of them are in a range.
    public func contains(_ range: Range<T.Value>) -> Query<Bool> { isWithin(range.lowerBound, "<", range.upperBound) }
}

extension Query where T: _QueryMap, T.Value: OptionalProtocol, T.Value.Wrapped: MinMaxType & Comparable {
    /// Whether there are values, and all of them are in a range; null does not count.
    public func contains(_ range: ClosedRange<T.Value.Wrapped>) -> Query<Bool> {
        isWithin(range.lowerBound, "<=", range.upperBound)
    }
    /// Whether there are values, and all of them are in a range; null does not count.
    public func contains(_ range: Range<T.Value.Wrapped>) -> Query<Bool> {
        isWithin(range.lowerBound, "<", range.upperBound)
    }
}

// MARK: - What realms keep

extension Query where T: RealmCollection, T.Element: PersistableEnum {
    /// The raw values.
    public var rawValue: Query<AnyRealmCollection<T.Element.RawValue>> { .init(expression) }
}

extension Query where T: RealmCollection, T.Element: OptionalProtocol, T.Element.Wrapped: PersistableEnum {
    /// The raw values.
    public var rawValue: Query<AnyRealmCollection<T.Element.Wrapped.RawValue?>> { .init(expression) }
}

extension Query where T: _QueryMap, T.Value: PersistableEnum {
    /// The raw values.
    public var rawValue: Query<Map<T.Key, T.Value.RawValue>> { .init(expression) }
}

extension Query where T: _QueryMap, T.Value: OptionalProtocol, T.Value.Wrapped: PersistableEnum {
    /// The raw values.
    public var rawValue: Query<Map<T.Key, T.Value.Wrapped.RawValue?>> { .init(expression) }
}

extension Query where T: _CustomPersistable {
    /// What is kept for the property.
    public var persistableValue: Query<T.PersistedType> { .init(expression) }
}

extension Query where T: OptionalProtocol, T.Wrapped: _CustomPersistable {
    /// What is kept for the property.
    public var persistableValue: Query<T.Wrapped.PersistedType?> { .init(expression) }
}

extension Query where T: RealmCollection, T.Element: _CustomPersistable {
    /// What is kept for the elements.
    public var persistableValue: Query<AnyRealmCollection<T.Element.PersistedType>> { .init(expression) }
}

extension Query where T: _QueryMap, T.Value: _CustomPersistable {
    /// What is kept for the values.
    public var persistableValue: Query<Map<T.Key, T.Value.PersistedType>> { .init(expression) }
}

#if !canImport(ObjectiveC)
public import Foundation

extension _QueryableCollection {
    /// Those of the objects that meet a predicate that was made of a format; see `Results.filter(_:)`.
    public func filter(_ predicate: NSPredicate) -> Results<Element> { _results.filter(predicate) }
}
#endif

// What Results say of a property, lists, sets and backlinks of objects say too.
extension _QueryableCollection {
    /// The smallest value of a property; see `Results.min(ofProperty:)`.
    public func min<T: MinMaxType & _Scalar>(ofProperty name: String) -> T? { _results.min(ofProperty: name) }
    /// The largest value of a property; see `Results.max(ofProperty:)`.
    public func max<T: MinMaxType & _Scalar>(ofProperty name: String) -> T? { _results.max(ofProperty: name) }
    /// The sum of a property; see `Results.sum(ofProperty:)`.
    public func sum<T: AddableType & _Scalar & Numeric>(ofProperty name: String) -> T { _results.sum(ofProperty: name) }
    /// The average of a property; see `Results.average(ofProperty:)`.
    public func average(ofProperty name: String) -> Double? { _results.average(ofProperty: name) }

    /// The smallest value of a property, nil if there is none.
    public func min<T: MinMaxType & _Scalar>(of keyPath: KeyPath<Element, T>) -> T? { _results.min(of: keyPath) }
    /// The largest value of a property, nil if there is none.
    public func max<T: MinMaxType & _Scalar>(of keyPath: KeyPath<Element, T>) -> T? { _results.max(of: keyPath) }
    /// The sum of a property.
    public func sum<T: AddableType & _Scalar & Numeric>(of keyPath: KeyPath<Element, T>) -> T {
        _results.sum(of: keyPath)
    }
    /// The average of a property, nil if there is no value.
    public func average<T: AddableType>(of keyPath: KeyPath<Element, T>) -> Double? { _results.average(of: keyPath) }

    /// What each object has in a property; nil for null.
    public func value(forKey key: String) -> [Any?] { map { $0[key] } }

    /// Gives all objects the same value in a property. Outside of a write transaction this traps.
    public func setValue(_ value: Any?, forKey key: String) {
        // An object that no longer belongs to the collection after that must not lead to others being left out.
        for object in Array(self) { object[key] = value }
    }

    /// The position of the first object that meets a query; nil if there is none.
    public func index(matching isIncluded: (Query<Element>) -> Query<Bool>) -> Int? {
        `where`(isIncluded).first.flatMap { firstIndex(of: $0) }
    }
}

extension RealmCollection where Element: AddableType & Numeric {
    /// The sum of the values. Integers that go over 64 bits wrap around.
    public func sum() -> Element { reduce(into: Element.zero) { $0 = Element._adding($0, $1) } }
}

extension RealmCollection where Element: AddableType & BinaryInteger {
    /// The average of the values, nil if there is none.
    public func average() -> Double? { isEmpty ? nil : reduce(0) { $0 + Double($1) } / Double(count) }
}

extension RealmCollection where Element: AddableType & BinaryFloatingPoint {
    /// The average of the values, nil if there is none.
    public func average() -> Double? { isEmpty ? nil : reduce(0) { $0 + Double($1) } / Double(count) }
}

internal import Changesets
internal import Foundation
internal import RealmState

/// What Foundation's key paths say of collections: `@count`, `@min.age`, `@max.age`, `@sum.age`, `@avg.age`, `@unionOfObjects.age`, `@distinctUnionOfObjects.age`.
enum CollectionOperators {
    /// What an operator makes of elements; nil for a key path that begins with none.
    static func value(_ keyPath: String, of elements: some Sequence) -> Any? {
        guard keyPath.first == "@" else { return nil }
        let parts = keyPath.split(separator: ".", maxSplits: 1)
        let rest = parts.count > 1 ? String(parts[1]) : HeldValues.itself
        var reached: [Any] = []
        for element in elements {
            let value = rest == HeldValues.itself ? element : (element as? ObjectBase)?.value(forKeyPath: rest)
            if let value = ValueConversion.unwrapped(value) { reached.append(value) }
        }
        let values = reached.compactMap { ($0 as? any _Scalar)?._stored.value }
        switch parts.first {
        case "@count": return NSNumber(value: elements.reduce(0) { count, _ in count + 1 })
        case "@min": return (Aggregates.min(values) as AnyRealmValue?)?.scalar.map(object)
        case "@max": return (Aggregates.max(values) as AnyRealmValue?)?.scalar.map(object)
        case "@sum":
            return NSNumber(value: (Aggregates.sum(values) as AnyRealmValue).decimal128Value?.doubleValue ?? 0)
        case "@avg": return (Aggregates.average(values) as Double?).map { NSNumber(value: $0) }
        case "@unionOfObjects": return reached
        case "@distinctUnionOfObjects":
            var seen: Set<AnyHashable> = []
            return reached.filter { value in (value as? AnyHashable).map { seen.insert($0).inserted } ?? true }
        default: return nil
        }
    }

    /// A number as Foundation's class for it.
    private static func object(_ value: any Sendable) -> Any {
        switch value {
        case let number as Int: NSNumber(value: number)
        case let number as Float: NSNumber(value: number)
        case let number as Double: NSNumber(value: number)
        default: value
        }
    }
}

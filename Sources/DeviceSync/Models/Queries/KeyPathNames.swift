internal import Changesets
internal import Query

/// Records which persisted properties are read.
public final class KeyPathTracer {
    var properties: [ModelProperty] = []

    init() {}
}

/// The names of the properties that a key path goes over.
///
/// Swift's key paths know no names without Objective-C. An object that records what is read of it does.
enum KeyPathNames {
    /// The names in Swift as they stand in a query's text.
    static func inQueries<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>) -> [String] {
        properties(keyPath).map { QueryNames.text(ByteString($0.swiftName)) ?? $0.swiftName }
    }

    /// The names in Swift, joined by dots. A key path over anything but persisted properties traps.
    static func of<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>) -> String {
        properties(keyPath).map(\.swiftName).joined(separator: ".")
    }

    private static func properties<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>) -> [ModelProperty] {
        let properties = properties(Root.self) { $0[keyPath: keyPath] }.properties
        precondition(
            !properties.isEmpty,
            "the key path does not lead to a @Persisted property of class \(ModelName.of(Root.self))")
        return properties
    }

    /// The properties that are read of an object, and what is found.
    static func properties<Root: ObjectBase>(
        _ root: Root.Type, _ read: (Root) -> Any
    ) -> (properties: [ModelProperty], value: Any) {
        let tracer = KeyPathTracer()
        let object = root.tracing(tracer)
        let value = read(object)
        guard tracer.properties.isEmpty else { return (tracer.properties, value) }
        // A collection that is declared in the old style does not know that it was read.
        let found = ModelSchema.of(root).all.first { $0.holds(value as AnyObject, in: object) }
        return (found.map { [$0] } ?? [], value)
    }
}

/// The names in Swift of the properties that a key path goes over, joined by dots, as in `_name(for: \Person.home?.city)`.
public func _name<T: ObjectBase>(for keyPath: PartialKeyPath<T>) -> String { KeyPathNames.of(keyPath) }

extension ObjectBase {
    /// An object that records what is read of it.
    static func tracing(_ tracer: KeyPathTracer) -> Self {
        let object = self.init()
        object.state = .traced(tracer)
        for property in ModelSchema.of(self).all { property.trace(object) }
        return object
    }
}

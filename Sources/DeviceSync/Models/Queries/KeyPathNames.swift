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
        let tracer = KeyPathTracer()
        _ = Root.tracing(tracer)[keyPath: keyPath]
        precondition(
            !tracer.properties.isEmpty,
            "the key path does not lead to a @Persisted property of class \(ModelName.of(Root.self))")
        return tracer.properties
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

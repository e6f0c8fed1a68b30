internal import Changesets

/// Records which persisted properties are read.
public final class KeyPathTracer {
    var names: [String] = []

    init() {}
}

/// The names of the properties that a key path goes over.
///
/// Swift's key paths know no names without Objective-C. An object that records what is read of it does.
enum KeyPathNames {
    /// The same as queries name it: what links to an object is `@links` and the class and property that do.
    static func inQueries<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>) -> String {
        let name = of(keyPath)
        guard let property = ModelSchema.of(Root.self)[name], case .backlink(let origin) = property.role,
            let target = property.shape.target
        else { return name }
        return "@links.\(ModelName.of(target)).\(ModelSchema.of(target)[origin]?.name.string ?? origin)"
    }

    /// The names, joined by dots, as in realms. A key path over anything but persisted properties traps.
    static func of<Root: ObjectBase>(_ keyPath: PartialKeyPath<Root>) -> String {
        let tracer = KeyPathTracer()
        _ = Root.tracing(tracer)[keyPath: keyPath]
        precondition(
            !tracer.names.isEmpty,
            "the key path does not lead to a @Persisted property of class \(ModelName.of(Root.self))")
        return tracer.names.joined(separator: ".")
    }
}

extension ObjectBase {
    /// An object that records what is read of it.
    static func tracing(_ tracer: KeyPathTracer) -> Self {
        let object = self.init()
        object.state = .traced(tracer)
        for property in ModelSchema.of(self).all { property.trace(object) }
        return object
    }
}

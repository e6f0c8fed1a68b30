internal import Synchronization

/// A property of a projection.
///
/// Unchecked: key paths never change.
struct ProjectedProperty: @unchecked Sendable {
    let name: String
    let keyPath: AnyKeyPath
    /// The key paths by names that lead to what it is made of, from the object on.
    let origins: [String]

    /// The names of the object's properties that it is made of.
    var firsts: Set<String> { Set(origins.map { String($0.prefix { $0 != "." }) }) }

    /// Whether a name is the property's own, or that of what it shows.
    func isNamed(_ name: String) -> Bool { self.name == name || origins == [name] }
}

/// What projections show of their objects.
enum ProjectionSchema {
    private static let known = Mutex<[ObjectIdentifier: [ProjectedProperty]]>([:])

    /// The properties of a projection's class. One that shows nothing of what realms keep traps.
    static func of<P: ProjectionObservable>(_ projection: P) -> [ProjectedProperty] {
        let type = ObjectIdentifier(type(of: projection))
        if let known = known.withLock({ $0[type] }) { return known }
        // Not under the lock: following key paths runs the app's code.
        let properties = properties(of: projection)
        known.withLock { $0[type] = properties }
        return properties
    }

    private static func properties<P: ProjectionObservable>(of projection: P) -> [ProjectedProperty] {
        let memory = Unmanaged.passUnretained(projection).toOpaque()
        return ClassFields.of(type(of: projection)).compactMap { field in
            guard let storage = field.type as? any ProjectedStorage.Type else { return nil }
            // The wrapper of `name` is stored as `_name`.
            let name = String(field.name.dropFirst())
            let keyPath = storage.keyPath(at: memory + field.offset)
            let origins = origins(P.Root.self) { $0[keyPath: keyPath] ?? () }
            precondition(
                !origins.isEmpty,
                "'\(name)' of \(type(of: projection)) shows no @Persisted property of class \(ModelName.of(P.Root.self))"
            )
            return ProjectedProperty(name: name, keyPath: keyPath, origins: origins)
        }
    }

    /// The key paths by names of what is read of an object; one over a collection goes on with what is projected of its elements.
    static func origins<Root: ObjectBase>(_ root: Root.Type, _ read: (Root) -> Any) -> [String] {
        let (properties, value) = KeyPathNames.properties(root, read)
        var paths: [(names: [String], end: ObjectBase.Type?)] = []
        for property in properties {
            let name = property.swiftName
            if let last = paths.indices.last, let end = paths[last].end, has(end, property) {
                paths[last].names.append(name)
                paths[last].end = property.shape.target
            } else if has(root, property) {
                paths.append(([name], property.shape.target))
            }
        }
        let origins = paths.map { $0.names.joined(separator: ".") }
        guard let last = origins.last, let elements = (value as? any ProjectedCollectionType)?.origins else {
            return origins
        }
        return origins.dropLast() + elements.map { "\(last).\($0)" }
    }

    private static func has(_ type: ObjectBase.Type, _ property: ModelProperty) -> Bool {
        ModelSchema.of(type).all.contains { $0 === property }
    }

    /// The same for a key path over a projection's properties.
    static func origins<P: ProjectionObservable>(of keyPath: PartialKeyPath<P>) -> [String] {
        let origins = origins(P.Root.self) { P(projecting: $0)[keyPath: keyPath] }
        precondition(!origins.isEmpty, "the key path does not lead to a @Projected property of \(P.self)")
        return origins
    }

    /// The names of the properties that show what a key path leads to.
    static func names<P: ProjectionObservable>(of keyPath: PartialKeyPath<P>, in projection: P) -> [String] {
        let origins = origins(of: keyPath)
        return of(projection).filter { $0.origins == origins }.map(\.name)
    }

    /// The properties that some names stand for, each its own or that of what it shows; all of them if there are none. A name of nothing traps.
    static func selected<P: ProjectionObservable>(_ names: [String]?, of projection: P) -> [ProjectedProperty] {
        let all = of(projection)
        guard let names, !names.isEmpty else { return all }
        for name in names {
            precondition(
                all.contains { $0.isNamed(name) }, "\(type(of: projection)) has no @Projected property '\(name)'")
        }
        return all.filter { property in names.contains { property.isNamed($0) } }
    }
}

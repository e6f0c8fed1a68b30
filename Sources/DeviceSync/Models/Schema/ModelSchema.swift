internal import Changesets
internal import Synchronization

/// The name that a model class has in realms.
enum ModelName {
    static func of(_ type: ObjectBase.Type) -> String { type._realmObjectName() ?? String(describing: type) }
}

/// A model class, as its Swift declaration describes it.
@usableFromInline
final class ModelSchema: Sendable {
    let type: ObjectBase.Type
    let name: String
    /// The same, as realms have it.
    let storedName: ByteString
    /// The properties in the order of their declarations, those of a base class first; without those that hold what links
    /// to the object.
    let properties: [ModelProperty]
    /// The same, and what links to the object.
    let all: [ModelProperty]
    let primaryKey: ModelProperty?
    let description: ObjectSchemaDescription
    /// Whether objects that show a realm show it in all properties from the beginning: those that can be encoded, which would encode their defaults otherwise,
    /// and those in the old style, whose properties do not know when they are first used.
    let bindsAtOnce: Bool
    private let bySwiftName: [String: ModelProperty]

    /// The property with a name, in Swift or in realms.
    subscript(_ name: String) -> ModelProperty? {
        bySwiftName[name] ?? all.first { $0.name == ByteString(name) }
    }

    /// Binds the property that an object keeps at a distance from its beginning in memory; all of them, if there is none.
    @usableFromInline
    func bind(_ object: ObjectBase, at offset: Int) -> ModelProperty? {
        guard let property = all.first(where: { $0.offset == offset }) else {
            for property in all { property.bind(object) }
            return nil
        }
        property.bind(object)
        return property
    }

    private static let known = Mutex<[ObjectIdentifier: ModelSchema]>([:])

    /// The schema of a class. A declaration that no realm could keep traps.
    static func of(_ type: ObjectBase.Type) -> ModelSchema {
        if let known = known.withLock({ $0[ObjectIdentifier(type)] }) { return known }
        // Not under the lock: making an object of the class runs the app's code.
        let model = ModelSchema(type)
        known.withLock { $0[ObjectIdentifier(type)] = model }
        return model
    }

    private init(_ type: ObjectBase.Type) {
        let name = ModelName.of(type)
        let names = type.propertiesMapping()
        let (key, indexed, ignored) = (type.primaryKey(), type.indexedProperties(), type.ignoredProperties())
        // A sample object is made since objects hold the roles of their properties.
        let sample = type.init()
        var all: [ModelProperty] = []
        let fields = ClassFields.of(type).compactMap { field in
            (field.type as? any PersistedStorage.Type).map { (field, storage: $0) }
        }
        let isOldStyle = !fields.contains { $0.storage.isWrapper }
        for (field, storage) in fields where isOldStyle || storage.isWrapper {
            // The wrapper of `name` is stored as `_name`.
            let swiftName = isOldStyle ? field.name : String(field.name.dropFirst())
            guard !ignored.contains(swiftName) else { continue }
            let memory = Unmanaged.passUnretained(sample).toOpaque() + field.offset
            var role = storage.role(at: memory)
            if role == .plain, swiftName == key { role = .primaryKey }
            if role == .plain, indexed.contains(swiftName) { role = .indexed }
            all.append(
                ModelProperty(
                    name: names[swiftName] ?? swiftName, swiftName: swiftName, shape: storage.shape,
                    role: role, offset: field.offset, storage: storage))
        }
        withExtendedLifetime(sample) {}
        self.type = type
        bindsAtOnce = type is any Encodable.Type || isOldStyle
        self.name = name
        storedName = ByteString(name)
        self.all = all
        properties = all.filter { !$0.shape.isBacklink }
        let keys = properties.filter(\.isPrimaryKey)
        precondition(keys.count <= 1, "class \(name) has several primary keys: \(keys.map(\.swiftName))")
        precondition(
            keys.isEmpty || !(type is EmbeddedObject.Type), "the embedded class \(name) cannot have a primary key")
        precondition(
            Set(all.map(\.name)).count == all.count, "class \(name) has two properties that are stored under one name")
        precondition(
            key == nil || keys.first?.swiftName == key,
            "class \(name) has no property '\(key ?? "")' to be its primary key")
        for property in properties {
            if let fault = property.roleFault { preconditionFailure("\(name).\(property.swiftName) \(fault)") }
        }
        primaryKey = keys.first
        bySwiftName = Dictionary(all.map { ($0.swiftName, $0) }, uniquingKeysWith: { first, _ in first })
        description = ObjectSchemaDescription(
            name: name,
            kind: type is EmbeddedObject.Type ? .embedded : type is AsymmetricObject.Type ? .asymmetric : .topLevel,
            primaryKey: keys.first?.description, properties: properties.filter { !$0.isPrimaryKey }.map(\.description))
    }

    /// Checks what a class's declaration alone cannot show: what a realm cannot keep together with other classes.
    /// - Throws: `Realm.Error` with code `schemaMismatch`.
    func check() throws {
        func mismatch(_ message: String) -> Realm.Error { Realm.Error(.schemaMismatch, message) }
        for property in properties {
            guard let target = property.shape.target else { continue }
            let isEmbedded = target is EmbeddedObject.Type
            if isEmbedded, property.shape.collection == .set {
                throw mismatch("\(name).\(property.swiftName) is a set of embedded objects; use a List")
            }
        }
        for property in all {
            guard case .backlink(let origin) = property.role, let target = property.shape.target else { continue }
            guard let source = ModelSchema.of(target)[origin], source.shape.target.map({ $0 == type }) ?? false else {
                throw mismatch(
                    "\(name).\(property.swiftName) follows '\(origin)' of class \(ModelName.of(target)), which is no link to \(name)"
                )
            }
        }
    }
}

extension ModelProperty {
    /// The fault of a primary key or an indexed property, where the compiler does not see it: with types of the app's own, and by name.
    fileprivate var roleFault: String? {
        switch role {
        case .primaryKey where !(shape.isPlain && [.int, .string, .objectId, .uuid].contains(shape.type)):
            "cannot be a primary key: integers, strings, object ids and UUIDs can"
        case .indexed
        where shape.collection != .none || shape.target != nil
            || [.float, .double, .decimal128, .data].contains(shape.type):
            "cannot be indexed: integers, Booleans, strings, dates, object ids and UUIDs can"
        default: nil
        }
    }

    /// The property, as realms describe it.
    var description: PropertyDescription {
        let isLink = shape.target != nil
        return PropertyDescription(
            name.string, shape.type, isOptional: shape.isOptional && !isLink, collection: shape.collection,
            isIndexed: role == .indexed)
    }
}

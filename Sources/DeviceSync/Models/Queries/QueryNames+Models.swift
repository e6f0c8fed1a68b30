internal import Changesets
internal import Query
internal import RealmState
internal import Synchronization

extension QueryNames {
    private static let known = Mutex<[ObjectIdentifier: QueryNames]>([:])

    /// The names by which programs know the properties of a model class, and of all classes that it leads to.
    static func of(_ type: ObjectBase.Type) -> QueryNames {
        if let known = known.withLock({ $0[ObjectIdentifier(type)] }) { return known }
        var names = QueryNames()
        var reached: Set<ObjectIdentifier> = [ObjectIdentifier(type)]
        var waiting = [type]
        while let next = waiting.popLast() {
            let model = ModelSchema.of(next)
            for property in model.all {
                if let meaning = property.meaning {
                    names.classes[model.storedName, default: [:]][ByteString(property.swiftName)] = meaning
                }
                guard let target = property.shape.target, reached.insert(ObjectIdentifier(target)).inserted else {
                    continue
                }
                waiting.append(target)
            }
        }
        let found = names
        known.withLock { $0[ObjectIdentifier(type)] = found }
        return found
    }

    /// A key path by the names of programs, as realms have it.
    func stored(_ keyPath: String, of className: ByteString, _ schema: StoredSchema) -> String {
        guard !classes.isEmpty else { return keyPath }
        var table = schema.table(className)
        let names = keyPath.split(separator: ".", omittingEmptySubsequences: false).map { name in
            var name = ByteString(String(name))
            if case .property(let stored)? = table.flatMap({ classes[$0.name]?[name] }) { name = stored }
            table = table?.column(name)?.element.target.flatMap { schema.table($0) }
            return name.string
        }
        return names.joined(separator: ".")
    }
}

extension ModelProperty {
    /// The meaning of the name in Swift to queries; nil if that is the property of that name in realms.
    fileprivate var meaning: QueryNames.Meaning? {
        if case .backlink(let origin) = role, let target = shape.target {
            let source = ModelSchema.of(target)
            return .backlinks(
                className: source.storedName, property: source[origin]?.name ?? ByteString(origin))
        }
        return name == ByteString(swiftName) ? nil : .property(name)
    }
}

extension RealmInstance {
    /// The names by which the program knows the properties of a class.
    /// - Parameter type: the class's model, where the program names it.
    func names(of className: ByteString, _ type: Any.Type? = nil) -> QueryNames {
        if let model = type as? ObjectBase.Type { return .of(model) }
        return model(named: className).map { .of($0) } ?? QueryNames()
    }

    /// The names in the realm of the properties of a class, in the order in which they are declared.
    func declaredNames(of className: ByteString) -> [String] {
        if let model = model(named: className) { return ModelSchema.of(model).properties.map(\.name.string) }
        let declared = configuration.dynamicSchema.first { $0.name == className.string }
        if let declared { return (declared.primaryKey.map { [$0.name] } ?? []) + declared.properties.map(\.name) }
        let table = table(named: className)
        return (table?.key.map { [$0.name.string] } ?? []) + (table?.columns.map(\.name.string) ?? [])
    }

    /// Values by the names of the properties, in the order in which these are declared. More values than properties trap.
    func named(_ values: [Any?], of className: ByteString) -> [String: Any?] {
        let names = declaredNames(of: className)
        precondition(
            values.count <= names.count,
            "an array for class \(className) can have \(names.count) values, one for each property; it has \(values.count)"
        )
        return Dictionary(zip(names, values), uniquingKeysWith: { $1 })
    }

    /// Returns the values that a dictionary, an array in the order of the declarations, or an object has for a class's properties. Anything else traps.
    func named(_ value: Any, of className: ByteString) -> [String: Any?] {
        if let values = value as? [String: Any?] { return values }
        if let values = value as? [Any?] { return named(values, of: className) }
        guard let source = value as? DynamicObject ?? (value as? ObjectBase)?.handle?.dynamic else {
            preconditionFailure(
                "an object of class \(className) is made of a dictionary, an array or an object, not of \(value)")
        }
        let table = source.instance.table(named: ByteString(source.className))
        let names = ((table?.key.map { [$0.name.string] } ?? []) + (table?.columns.map(\.name.string) ?? []))
            .filter(declaredNames(of: className).contains)
        return Dictionary(uniqueKeysWithValues: names.map { ($0, here(source[$0])) })
    }

    /// A value of another version of the realm, with links to the objects of this one.
    private func here(_ value: Any?) -> Any? {
        switch value {
        case let object as DynamicObject where !object.isEmbedded: object.handle.moved(to: self).dynamic
        case let list as DynamicList: list.map { here($0) }
        case let set as DynamicSet: set.map { here($0) }
        case let map as DynamicMap: Dictionary(uniqueKeysWithValues: map.keys.map { ($0, here(map[$0])) })
        default: value
        }
    }

    /// The classes of the file: those of the configuration as their models declare them, others as the file has them.
    var describedSchema: Schema {
        Schema(
            objectSchema: schema.tables.map { table in
                model(named: table.name).map { ObjectSchema(ModelSchema.of($0)) }
                    ?? ObjectSchema(ObjectSchemaDescription(table))
            })
    }

    /// The model of a class; nil if the configuration has none.
    func model(named className: ByteString) -> ObjectBase.Type? {
        let models = knownModels.withLock { known in
            let models =
                known
                ?? Dictionary(
                    DeclaredClasses(of: configuration).models.map { (ByteString(ModelName.of($0)), $0) },
                    uniquingKeysWith: { first, _ in first })
            known = models
            return models
        }
        return models[className]
    }
}

extension Results {
    /// The names by which the program knows the properties of the objects.
    var names: QueryNames { instance.names(of: className, Element.self) }
}

/// The classes that a configuration declares: by models, and without Swift types.
struct DeclaredClasses {
    /// The model classes.
    let models: [ObjectBase.Type]
    private let dynamic: [ObjectSchemaDescription]

    init(of configuration: Realm.Configuration) {
        dynamic = configuration.dynamicSchema
        if let named = configuration.objectTypes {
            models = named
        } else if dynamic.isEmpty {
            // Asymmetric classes are left out unless the realm has flexible sync: no other realm can have any.
            let isFlexible = configuration.isFlexible
            models = ModelClasses.ofDefaultSchema.filter { isFlexible || !($0 is AsymmetricObject.Type) }
        } else {
            models = []
        }
    }

    /// The classes that the realm is to have.
    /// - Throws: `Realm.Error` with code `schemaMismatch` for models that no realm can have, or not together.
    func descriptions() throws -> [ObjectSchemaDescription] {
        var classes: [String: ObjectBase.Type] = [:]
        var descriptions = dynamic
        for type in models {
            let model = ModelSchema.of(type)
            if let other = classes.updateValue(type, forKey: model.name) {
                guard other != type else { continue }
                throw Realm.Error(
                    .schemaMismatch,
                    "the classes \(String(reflecting: other)) and \(String(reflecting: type)) have one name in realms; choose between "
                        + "them in objectTypes, or name one of them by _realmObjectName()")
            }
            try model.check()
            if !dynamic.contains(where: { $0.name == model.name }) { descriptions.append(model.description) }
        }
        return descriptions
    }
}

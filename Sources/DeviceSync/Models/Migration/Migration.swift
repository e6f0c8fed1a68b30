internal import Changesets
internal import RealmState

/// Brings the objects of a realm into the form of a new schema version: see `Migration`. It is given the version that the file has.
public typealias MigrationBlock = @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64) -> Void
/// An object of a realm that is being migrated: read and written by property name.
public typealias MigrationObject = DynamicObject

/// Takes an object as it was and as it is going to be: see `Migration.enumerateObjects(ofType:_:)`.
public typealias MigrationObjectEnumerateBlock = (_ oldObject: MigrationObject?, _ newObject: MigrationObject?) -> Void

/// The two sides of a migration: the realm as it was, and as it is going to be.
///
///     configuration.schemaVersion = 2
///     configuration.migrationBlock = { migration, oldVersion in
///         guard oldVersion < 2 else { return }
///         migration.enumerateObjects(ofType: "Person") { old, new in
///             new?["fullName"] = "\(old?["firstName"] ?? "") \(old?["lastName"] ?? "")"
///         }
///     }
///
/// When the block begins, the classes have their new properties already: those of another type than before are at their defaults, and those that are not declared any more
/// are gone from the new objects. What the block does is kept all together or not at all. Classes that are not declared any more stay.
public final class Migration {
    private let old: RealmInstance
    private let new: RealmInstance

    fileprivate init(old: RealmInstance, new: RealmInstance) {
        self.old = old
        self.new = new
    }

    /// The classes as they were.
    public var oldSchema: Schema { Schema(objectSchema: Realm(instance: old).dynamicSchema.map { ObjectSchema($0) }) }
    /// The classes as they are going to be.
    public var newSchema: Schema { Realm(instance: new).schema }

    /// Calls `block` for each object that a class had and that the migration has not deleted, with the object as it was and as it is going to be. Of a class that is
    /// new or was, one of the two is nil.
    public func enumerateObjects(
        ofType typeName: String, _ block: (_ oldObject: MigrationObject?, _ newObject: MigrationObject?) -> Void
    ) {
        let name = ByteString(typeName)
        let (hadClass, hasClass) = (old.schema.table(name)?.key != nil, new.schema.table(name)?.key != nil)
        guard hadClass || hasClass else { return }
        for key in ResultsSource.all.keys(name, hadClass ? old : new) {
            let address = ObjectAddress(name, key)
            let (before, after) = (hadClass ? old.object(address) : nil, hasClass ? new.object(address) : nil)
            if hasClass, after == nil { continue }
            block(before, after)
        }
    }

    /// Makes an object of a dictionary by the names of properties, of values in the order of the properties, or of what an object holds.
    ///
    /// Of an object as it was, links are links to what the linked objects are going to be.
    @discardableResult
    public func create(_ typeName: String, value: Any = [Any]()) -> MigrationObject {
        Realm(instance: new).dynamicCreate(typeName, value: value)
    }

    /// Deletes an object.
    public func delete(_ object: MigrationObject) { Realm(instance: new).delete(object) }

    /// Deletes all objects of a class.
    /// - Returns: false if the realm has no such class.
    @discardableResult
    public func deleteData(forType typeName: String) -> Bool {
        guard new.schema.table(ByteString(typeName))?.key != nil else { return false }
        let realm = Realm(instance: new)
        realm.delete(realm.dynamicObjects(typeName))
        return true
    }

    /// Gives a property what another one held, which is not declared any more. Names that do not exist and another type trap.
    public func renameProperty(onType typeName: String, from oldName: String, to newName: String) {
        let (name, from, to) = (ByteString(typeName), ByteString(oldName), ByteString(newName))
        guard let before = old.schema.table(name)?.column(from) else {
            preconditionFailure("class \(typeName) had no property '\(oldName)'")
        }
        guard let after = new.schema.table(name)?.column(to) else {
            preconditionFailure("class \(typeName) has no property '\(newName)'")
        }
        precondition(
            before.element.type == after.element.type && before.collection == after.collection,
            "'\(oldName)' of class \(typeName) had another type than '\(newName)'; convert its values in enumerateObjects"
        )
        SchemaMigration.copy(name, from: before, of: old, to: after, of: new)
    }
}

/// Brings a local realm to a higher version of its schema.
struct SchemaMigration {
    private let core: RealmCore
    private let configuration: Realm.Configuration
    private let declared: [ObjectSchemaDescription]

    init(_ core: RealmCore, _ configuration: Realm.Configuration) throws {
        self.core = core
        self.configuration = configuration
        declared = try DeclaredClasses(of: configuration).descriptions()
    }

    /// Whether the realm is of a lower version than declared and holds something that a block could migrate.
    static func isDue(_ core: RealmCore, _ configuration: Realm.Configuration) -> Bool {
        !core.isSynced && configuration.migrationBlock != nil && !configuration.readOnly
            && core.schemaVersion ?? 0 < configuration.schemaVersion && !core.snapshot.state.schema.tables.isEmpty
    }

    /// Changes the schema, and runs the app's block on the objects; with the write lock held.
    /// - Throws: `Realm.Error` with code `schemaMismatch` for what no migration can do.
    func run(_ block: MigrationBlock) throws {
        let version = core.schemaVersion ?? 0
        let old = RealmInstance(core: core, configuration: configuration, session: nil, snapshot: core.snapshot)
        let new = RealmInstance(core: core, configuration: configuration, session: nil)
        try new.migrate(to: configuration.schemaVersion) {
            let changed = try removeOutdated(new)
            try add(to: new)
            for (name, before) in changed {
                guard let after = new.schema.table(name)?.column(before.name),
                    before.element.type == after.element.type, before.element.target == after.element.target,
                    before.collection == after.collection
                else { continue }
                // Only whether null is allowed has changed: the values stay.
                Self.copy(name, from: before, of: old, to: after, of: new)
            }
            block(Migration(old: old, new: new), version)
        }
    }

    /// Removes properties that are not declared any more, or with another type.
    /// - Returns: the latter.
    private func removeOutdated(_ new: RealmInstance) throws -> [(ByteString, ColumnSchema)] {
        var changed: [(ByteString, ColumnSchema)] = []
        for description in declared {
            let name = ByteString(description.name)
            guard let table = new.schema.table(name) else { continue }
            guard table.kind == SchemaAdditions.tableType(description), table.key == SchemaAdditions.key(description)
            else {
                throw Realm.Error(
                    .schemaMismatch,
                    "class \(name) exists with another kind or primary key, which a migration cannot change; declare a class of another "
                        + "name and copy the objects", fileURL: core.url)
            }
            for column in table.columns {
                let property = description.properties.first { ByteString($0.name) == column.name }
                if let property, property.element == column.element, property.collectionType == column.collection {
                    continue
                }
                new.edit { try $0.eraseColumn(name, column.name) }
                if property != nil { changed.append((name, column)) }
            }
        }
        return changed
    }

    private func add(to new: RealmInstance) throws {
        // What does not fit is an error of the configuration, not a mistake that traps.
        var scratch = RealmState(schema: new.schema)
        do {
            _ = try SchemaAdditions.areNeeded(declared, in: new.schema, mode: .local)
            _ = try scratch.record { try SchemaAdditions.apply(declared, to: &$0) }
        } catch let error as RecordingError {
            throw Realm.Error(.schemaMismatch, error.message, fileURL: core.url)
        }
        new.edit { try SchemaAdditions.apply(declared, to: &$0) }
    }

    /// Copies a property's values; null becomes the default where null is not allowed.
    static func copy(
        _ className: ByteString, from before: ColumnSchema, of old: RealmInstance, to after: ColumnSchema,
        of new: RealmInstance
    ) {
        guard old.schema.table(className)?.key != nil else { return }
        for key in ResultsSource.all.keys(className, old) {
            let address = ObjectAddress(className, key)
            guard new.contains(address), let value = old.value(at: FieldAddress(address, before.name)) else { continue }
            let copied = value == .null ? after.defaultValue : value
            if copied != after.defaultValue {
                new.set(FieldAddress(address, after.name), to: withoutNull(copied, after))
            }
        }
    }

    private static func withoutNull(_ value: Value, _ column: ColumnSchema) -> Value {
        guard !column.element.nullable else { return value }
        func filled(_ item: Value) -> Value { item == .null ? column.element.defaultValue : item }
        return switch value {
        case .list(let items): .list(items.map(filled))
        case .set(let items): .set(items.filter { $0 != .null })
        case .dictionary(let entries): .dictionary(entries.mapValues(filled))
        default: value
        }
    }
}

extension Realm {
    /// Opens a local realm, which migrates it if its file has a lower schema version, and closes it again.
    /// - Throws: `Realm.Error`, or what the migration block throws.
    public static func performMigration(for configuration: Configuration = .defaultConfiguration) throws {
        _ = try Realm(configuration: configuration)
    }
}

internal import Changesets
public import Dispatch
public import Foundation
internal import RealmState

/// A realm: objects on disk, synced if its configuration says so.
///
/// A live realm belongs where it was opened: to the actor of the code that opens it, to the main thread, to a queue that was named, or to the thread. Using it, its objects
/// or its collections elsewhere traps. Opened there again, it is the same realm: with the same objects, at the same version, in the same write transaction. Frozen realms may
/// be used anywhere. One write transaction at a time can be open for a file; other writers wait.
///
/// A live realm stands still while code runs: commits of others show once the run loop, the queue or the actor turns, when `refresh()` is called or when a write begins. A
/// thread without a queue has only the latter two. In a task outside of any actor, which goes on with another thread after each `await`, no place is checked, and each read
/// shows the newest commit.
public struct Realm: Equatable, Sendable {
    let instance: RealmInstance

    init(instance: RealmInstance) { self.instance = instance }

    /// Whether both are the realm of one file on one thread, queue or actor, or frozen at one version of it.
    public static func == (left: Realm, right: Realm) -> Bool { left.instance.isSame(as: right.instance) }

    /// Opens the default realm; see `init(configuration:queue:_isolation:)`.
    public init(queue: DispatchQueue? = nil, _isolation: (any Actor)? = #isolation) throws {
        try self.init(configuration: .defaultConfiguration, queue: queue, _isolation: _isolation)
    }

    /// Opens the local realm of a file; see `init(configuration:queue:_isolation:)`.
    public init(fileURL: URL, _isolation: (any Actor)? = #isolation) throws {
        try self.init(configuration: Configuration(fileURL: fileURL), _isolation: _isolation)
    }

    /// Opens a realm, creating its file if there is none, and starts its session. Never waits for the network.
    /// - Parameter queue: a serial queue on which the realm will be used, and only there; nil for the calling actor or thread.
    /// - Throws: `Realm.Error`.
    public init(
        configuration: Configuration, queue: DispatchQueue? = nil, _isolation: (any Actor)? = #isolation
    ) throws {
        let confinement = queue.map { Confinement($0) } ?? Confinement.here(_isolation)
        instance = try RealmOpener.open(configuration, confinement)
    }

    // MARK: Writing

    /// Whether a write transaction is open.
    public var isInWriteTransaction: Bool { instance.isInTransaction }

    /// Runs `block` in a write transaction and commits it; if it throws, nothing is kept.
    ///
    /// Waits for other writers. A nested write traps: ask `isInWriteTransaction` first.
    /// - Parameter tokens: observations that never hear of these changes, such as that of a view which shows them already.
    /// - Throws: what `block` throws, or `Realm.Error` if the commit cannot be written.
    @discardableResult
    public func write<R>(
        withoutNotifying tokens: [NotificationToken] = [], _ block: () throws -> R, file: StaticString = #fileID,
        line: UInt = #line
    ) throws -> R {
        try Caller.at(file, line) { try instance.write(withoutNotifying: tokens, block) }
    }

    /// Opens a write transaction, waiting for other writers.
    public func beginWrite(file: StaticString = #fileID, line: UInt = #line) {
        Caller.at(file, line) { instance.begin() }
    }

    /// Commits the write transaction.
    /// - Throws: `Realm.Error` if it cannot be written; nothing is kept then.
    public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
        instance.checkThread()
        try instance.commit(withoutNotifying: tokens)
    }

    /// Ends the write transaction, keeping nothing.
    public func cancelWrite() {
        instance.checkThread()
        instance.cancel()
    }

    /// Creates an object, or changes the one with that primary key as `update` says.
    ///
    /// Properties that `value` does not name keep their defaults, or on an update what they hold; names that the class does not have are left out. An unknown
    /// class, a wrong type, and an existing object under `.error` trap; so does a new object, in a flexible realm, of a class to which there is no
    /// subscription. An object of an asymmetric class is uploaded and not kept.
    @discardableResult
    public func dynamicCreate(_ className: String, value: [String: Any?] = [:], update: UpdatePolicy = .error)
        -> DynamicObject
    {
        DynamicObjectWriter(instance: instance, policy: update).write(className, value).dynamic
    }

    /// Creates an object, or changes the one with that primary key as `update` says; see `dynamicCreate(_:value:update:)`.
    /// - Parameter value: the values in the order in which the properties are declared; those that come after them are as if they were not named.
    @discardableResult
    public func dynamicCreate(_ className: String, value: [Any?], update: UpdatePolicy = .error) -> DynamicObject {
        dynamicCreate(className, value: instance.named(value, of: ByteString(className)), update: update)
    }

    /// Creates an object, or changes the one with that primary key as `update` says; see `dynamicCreate(_:value:update:)`.
    /// - Parameter value: a dictionary, an array, or an object whose values are taken.
    @discardableResult
    public func dynamicCreate(_ className: String, value: Any, update: UpdatePolicy = .error) -> DynamicObject {
        dynamicCreate(className, value: instance.named(value, of: ByteString(className)), update: update)
    }

    /// Deletes an object with its embedded objects; links to it become null or go away.
    public func delete(_ object: DynamicObject) { instance.delete(object.handle) }

    /// Deletes all of the objects.
    public func delete(_ objects: some Sequence<DynamicObject>) { for object in Array(objects) { delete(object) } }

    /// Deletes every object.
    public func deleteAll() {
        for table in instance.schema.tables where table.kind == .topLevel { delete(dynamicObjects(table.name.string)) }
    }

    // MARK: Reading

    /// All objects of a class, by ascending primary key. An unknown class traps.
    public func dynamicObjects(_ className: String) -> Results<DynamicObject> {
        let name = ByteString(className)
        precondition(instance.schema.table(name)?.key != nil, "the schema has no class \(className) of objects")
        return Results(instance: instance, className: name)
    }

    /// The object with a primary key, nil if there is none. An unknown class traps.
    public func dynamicObject(ofType className: String, forPrimaryKey key: Any) -> DynamicObject? {
        let schema = instance.schema
        guard let table = schema.table(ByteString(className)) else {
            preconditionFailure("the schema has no class \(className)")
        }
        let objectKey = ValueConversion.orTrap { try ValueConversion(schema: schema).key(key, of: table) }
        return instance.object(ObjectAddress(table.name, objectKey))
    }

    /// Whether there is no object at all.
    public var isEmpty: Bool {
        instance.read { state in
            state.schema.tables.allSatisfy { $0.kind == .embedded || state.objectCount(of: $0.name) == 0 }
        }
    }

    /// The classes in the file: those that the configuration names as their Swift classes declare them, others as the file has them.
    public var schema: Schema { instance.describedSchema }

    /// The classes in the file, as a configuration's `dynamicSchema` declares them. (Not upstream.)
    public var dynamicSchema: [ObjectSchemaDescription] { instance.schema.tables.map(ObjectSchemaDescription.init) }

    /// The configuration that the realm was opened with.
    public var configuration: Configuration { instance.configuration }

    /// The session that syncs the realm; nil for a local one.
    public var syncSession: SyncSession? { instance.isFrozen ? nil : instance.session }

    // MARK: Versions

    /// Whether this is a frozen realm.
    public var isFrozen: Bool { instance.isFrozen }
    /// A frozen realm, which shows the contents as they are now even after later changes.
    public func freeze() -> Realm { Realm(instance: instance.frozen()) }
    /// The live realm behind a frozen one.
    public func thaw(_isolation: (any Actor)? = #isolation) -> Realm { Realm(instance: instance.thawed(_isolation)) }
    /// Whether the realm goes on by itself to what others commit; true unless set, false if frozen.
    public var autorefresh: Bool {
        get { instance.autorefresh }
        nonmutating set { instance.autorefresh = newValue }
    }
    /// Goes to the newest version, and calls the observers that wait here to hear of it.
    /// - Returns: false if the realm was there already.
    @discardableResult
    public func refresh() -> Bool { instance.refresh() }
}

extension Realm {
    /// The way to deal with an object that has the primary key already.
    @frozen public enum UpdatePolicy: Int, Sendable {
        /// Trap.
        case error = 1
        /// Write the properties that differ.
        case modified = 3
        /// Write all properties.
        case all = 2
    }
}

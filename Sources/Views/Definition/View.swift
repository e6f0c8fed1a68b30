package import Changesets
package import Query
package import RealmState
import Rules
package import SyncModel

/// A view, ready to be asked which objects of a realm are in it: those that a subscription set selects and the user's roles
/// let the user see.
///
/// Whether an object is in it hangs on the object's own properties, and on nothing else: no link is followed.
///
/// What a view is made of is there once, whoever has the view and whatever meter it has: a view and its classes' parts are handed about at no
/// cost.
package struct View: Sendable {
    /// What a view is made of.
    private final class Parts: Sendable {
        let definition: ViewDefinition
        let mapping: SchemaMapping?
        let version: UInt64?
        let classes: [TableID: ClassView]
        let tables: [ByteString: TableID]

        init(
            _ definition: ViewDefinition, _ mapping: SchemaMapping?, version: UInt64? = nil,
            classes: [TableID: ClassView] = [:], tables: [ByteString: TableID] = [:]
        ) {
            self.definition = definition
            self.mapping = mapping
            self.version = version
            self.classes = classes
            self.tables = tables
        }
    }

    private let parts: Parts
    /// Counts what asking takes, and gives no answer where that is too much; nil: it is not bounded. What is `false` once it has overrun does
    /// not count.
    package private(set) var meter: EvaluationMeter?

    package var definition: ViewDefinition { parts.definition }
    /// The schema that clients see whose schema is not the realm's.
    package var mapping: SchemaMapping? { parts.mapping }
    /// The schema version of the client's copy.
    var version: UInt64? { parts.version }
    /// The classes' parts, without a meter.
    var classes: [TableID: ClassView] { parts.classes }

    /// - Parameters:
    ///   - schema: the realm's.
    ///   - version: the schema version of the client's copy.
    ///   - isRead: it only has to tell what is in it, not what may be written: what is of no use for that is not
    ///     held.
    /// - Throws: what is wrong with the subscription set.
    package init(
        _ definition: ViewDefinition, schema stored: Schema, version: SchemaVersion? = nil, isRead: Bool = false,
        limits: ViewLimits = ViewLimits()
    ) throws(ViewError) {
        var queries = ViewQueries()
        try self.init(definition, schema: stored, version: version, isRead: isRead, limits: limits, sharing: &queries)
    }

    /// - Parameter known: queries that other views have.
    package init(
        _ definition: ViewDefinition, schema stored: Schema, version: SchemaVersion? = nil, isRead: Bool = false,
        limits: ViewLimits = ViewLimits(), sharing known: inout ViewQueries
    ) throws(ViewError) {
        let mapping = SchemaMapping(version, of: stored)
        let schema = mapping?.visible ?? stored
        guard let roles = ClosedRoles(text: definition.roles) else { throw ViewError("the roles cannot be read") }
        let queries = try definition.parsedQueries(limits: limits)
        for name in queries.keys.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
            switch schema.table(name)?.kind {
            case .topLevel: break
            case nil: throw ViewError("there is no class \"\(name.string)\"", className: name)
            case .embedded:
                throw ViewError(
                    "class \"\(name.string)\" is embedded: its objects come with the objects that hold them",
                    className: name)
            case .asymmetric:
                throw ViewError(
                    "class \"\(name.string)\" is asymmetric: its objects are sent and never read", className: name)
            }
        }
        let querySchema = known.schema(schema, of: stored, version: version?.number)
        let rolesHash = definition.roles.hashValue
        let stamp = stored.tables.reduce(stored.tables.count) { $0 &+ Int($1.nextColumnID) }
        var classes: [TableID: ClassView] = [:]
        var tables: [ByteString: TableID] = [:]
        // Objects of asymmetric classes are in no view; roles say who may write them.
        for table in schema.tables where table.kind != .embedded && (!isRead || queries[table.name] != nil) {
            let own = stored.table(table.id) ?? table
            var query: ViewQuery?
            if let text = queries[table.name] {
                query = try known.query(text, on: table.name, version: version?.number) { () throws(ViewError) in
                    try Self.query(text, on: table, querySchema)
                }
            }
            let origin = ClassOrigin(
                roles: definition.roles, version: version?.number, schema: stamp,
                viewHash: rolesHash ^ (query?.text.hashValue ?? 0))
            let role = roles.role(ofClass: table.name.string).map {
                TableRole($0, table: own, ruled: mapping?.ruled(table.id), origin: origin)
            }
            try query.map { query throws(ViewError) in try Self.check(query.query, on: table, role) }
            guard query != nil || role != nil else { continue }
            classes[table.id] = ClassView(
                table: own, query: query, role: role, mapping: mapping, memo: ClassMemo(origin))
            tables[table.name] = table.id
        }
        parts = Parts(definition, mapping, version: version?.number, classes: classes, tables: tables)
    }

    private static func query(
        _ text: ByteString, on table: TableSchema, _ schema: QuerySchema
    ) throws(ViewError) -> ViewQuery {
        do throws(QueryError) {
            let query = try ObjectQuery(text, on: table.name, schema: schema)
            try query.checkSubscription()
            return ViewQuery(query, text: text)
        } catch {
            throw ViewError("class \"\(table.name.string)\": \(error)", className: table.name)
        }
    }

    /// What the role hides is not to be found out by queries.
    private static func check(
        _ query: ObjectQuery, on table: TableSchema, _ role: TableRole?
    ) throws(ViewError) {
        do throws(QueryError) {
            if let role,
                let hidden = table.columns.first(where: { query.columns.contains($0.id) && !role.reads($0.id) })
            {
                throw QueryError(
                    .subscription,
                    "property \"\(hidden.name.string)\" may not be read: a subscription by it would disclose its values",
                    at: 0)
            }
        } catch {
            throw ViewError("class \"\(table.name.string)\": \(error)", className: table.name)
        }
    }

    /// The view of a client that has nothing and may do nothing.
    package static let nothing = View(nil)

    /// Returns the view of a client that has nothing and may do nothing, in a schema as a version's clients have it.
    package static func nothing(in schema: Schema, version: SchemaVersion?) -> View {
        View(SchemaMapping(version, of: schema))
    }

    private init(_ mapping: SchemaMapping?) { parts = Parts(.empty(roles: ""), mapping) }

    package subscript(_ table: TableID) -> ClassView? { parts.classes[table].map { $0.metered(by: meter) } }
    package subscript(_ className: ByteString) -> ClassView? { parts.tables[className].flatMap { self[$0] } }

    /// The same view, with a meter for all that it is asked.
    package func metered(by meter: EvaluationMeter?) -> View {
        var view = self
        view.meter = meter
        return view
    }

    /// The bytes that the view's queries take in memory, about, whoever else holds them.
    package var bytes: Int { classes.values.reduce(256) { $0 + 512 + ($1.shared?.bytes ?? 0) } }

    /// The classes of which anything may be in the view.
    package var subscribed: [ClassView] { classes.values.filter { $0.query != nil && $0.role != nil } }

    /// Whether an object is in the view.
    ///
    /// - Parameter object: as much of it as `ClassView.columns` names; nil: there is none.
    package func contains(_ object: StoredObject?, _ table: TableID, _ key: ObjectKey) -> Bool {
        membership(of: object, table, key) ?? false
    }

    /// Whether an object is in the view; nil if that takes more than the meter allows.
    package func membership(of object: StoredObject?, _ table: TableID, _ key: ObjectKey) -> Bool? {
        guard let object, let view = parts.classes[table] else { return false }
        return view.membership(of: object, key, meter)
    }
}

/// The part of one class that is in a view: a reference to what is there once, and a meter.
package struct ClassView: Sendable {
    private final class Parts: Sendable {
        let table: TableSchema
        let shared: ViewQuery?
        let role: TableRole?
        let mapping: SchemaMapping?
        let columns: [ColumnID]
        let memo: ClassMemo

        init(table: TableSchema, query: ViewQuery?, role: TableRole?, mapping: SchemaMapping?, memo: ClassMemo) {
            self.table = table
            shared = query
            self.role = role
            self.mapping = mapping
            self.memo = memo
            columns = Set((query?.query.columns ?? []) + (role?.columns ?? [])).sorted()
        }
    }

    private let parts: Parts
    private var meter: EvaluationMeter?

    init(table: TableSchema, query: ViewQuery?, role: TableRole?, mapping: SchemaMapping?, memo: ClassMemo) {
        parts = Parts(table: table, query: query, role: role, mapping: mapping, memo: memo)
    }

    /// The class as the realm has it.
    package var table: TableSchema { parts.table }
    /// Nil: there is no subscription to the class.
    var shared: ViewQuery? { parts.shared }
    /// Nil: there is no subscription to the class.
    package var query: ObjectQuery? { parts.shared?.query }
    /// Nil: the user has no role in the class.
    package var role: TableRole? { parts.role?.metered(by: meter) }
    /// What clients see whose schema is not the realm's: the query is about that.
    var mapping: SchemaMapping? { parts.mapping }
    var memo: ClassMemo { parts.memo }
    /// The properties by which membership is decided, in ascending order.
    package var columns: [ColumnID] { parts.columns }

    fileprivate func metered(by meter: EvaluationMeter?) -> ClassView {
        var view = self
        view.meter = meter
        return view
    }

    /// Whether the values of a property that the query sees are those that the realm keeps, by which objects are found.
    func isKept(_ column: ColumnID) -> Bool { !(parts.mapping?.converts(column, of: table.id) ?? false) }

    /// Nil if objects of the class can be in the view whatever their properties are, as far as can be told.
    package var anchor: ViewAnchor? {
        guard let shared, let role else { return ViewAnchor(column: nil, values: []) }
        guard let anchor = ViewAnchor(shared, role), anchor.column.map({ isKept($0) }) ?? true else { return nil }
        return anchor
    }

    /// Whether an object is in the view; false if that cannot be told.
    package func contains(_ object: StoredObject, _ key: ObjectKey) -> Bool { place(of: object, key) == .inView }

    /// Nil if that cannot be told, or if telling takes more than the view's meter allows.
    package func membership(of object: StoredObject, _ key: ObjectKey) -> Bool? { membership(of: object, key, meter) }

    fileprivate func membership(of object: StoredObject, _ key: ObjectKey, _ meter: EvaluationMeter?) -> Bool? {
        let place = place(of: object, key, meter)
        return place.isUnclear ? nil : place == .inView
    }

    /// Whether it cannot be told whether an object was in the view.
    package func isUnclear(_ object: StoredObject?, _ key: ObjectKey) -> Bool {
        guard let object, !object.untold.isEmpty else { return false }
        return place(of: object, key).isUnclear
    }

    /// - Parameter object: may lack what was too large for a before image.
    func place(of object: StoredObject, _ key: ObjectKey) -> HeldObject.Place { place(of: object, key, meter) }

    /// What takes more than the meter allows is unclear, too: whoever has a meter looks whether it was used up.
    private func place(of object: StoredObject, _ key: ObjectKey, _ meter: EvaluationMeter?) -> HeldObject.Place {
        guard let query = parts.shared?.query, let role = parts.role else { return .outside }
        let untold = object.untold
        let isVeiled = !untold.isEmpty && role.columns.contains(where: untold.contains)
        let isUnclear = !untold.isEmpty && query.columns.contains(where: untold.contains)
        let shown = parts.mapping?.projected(object, of: parts.table.id) ?? object
        @Sendable func mayBeIn(_ meter: EvaluationMeter?) -> Bool {
            (isUnclear || query.matches(shown, key: key, meter: meter))
                && (isVeiled || role.isVisible(object, key, meter))
        }
        @Sendable func explanation(_ meter: EvaluationMeter, within steps: Int) -> String {
            query.explanation(of: shown, key: key, perObject: meter.perObject, within: steps) ?? role.explanation
        }
        let tried: Bool?
        if let meter {
            tried = meter.trial(
                { mayBeIn(meter) }, explain: { explanation(meter, within: meter.explanationSteps) },
                elsewhere: {
                    LongTrial(
                        subject(object, key), bytes: object.weight, { mayBeIn($0) },
                        explain: { explanation($0, within: $0.perObject) })
                })
        } else {
            tried = mayBeIn(nil)
        }
        guard let mayBeIn = tried else { return .unclear }
        guard mayBeIn else { return .outside }
        return isVeiled ? .veiled : isUnclear ? .unclear : .inView
    }

    private func subject(_ object: StoredObject, _ key: ObjectKey) -> LongTrial.Subject {
        LongTrial.Subject(
            className: table.name, query: shared?.text ?? "", roles: memo.origin.roles, version: memo.origin.version,
            schema: memo.origin.schema, viewHash: memo.origin.viewHash, key: key, object: object)
    }
}

package import Changesets
package import Query
package import RealmState
import Rules
package import SyncModel

/// A view, ready to be asked which objects of a realm are in it: those that a subscription set selects and the user's roles
/// let the user see.
///
/// Whether an object is in it hangs on the object's own properties, and on nothing else: no link is followed.
package struct View: Sendable {
    package let definition: ViewDefinition
    /// What clients see whose schema is not the realm's.
    package let mapping: SchemaMapping?
    let classes: [TableID: ClassView]
    private let tables: [ByteString: TableID]

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
        let querySchema = QuerySchema(schema)
        var classes: [TableID: ClassView] = [:]
        var tables: [ByteString: TableID] = [:]
        // Objects of asymmetric classes are in no view; roles say who may write them.
        for table in schema.tables where table.kind != .embedded && (!isRead || queries[table.name] != nil) {
            let own = stored.table(table.id) ?? table
            let role = roles.role(ofClass: table.name.string).map {
                TableRole($0, table: own, ruled: mapping?.ruled(table.id))
            }
            var query: ObjectQuery?
            if let text = queries[table.name] { query = try Self.query(text, on: table, querySchema, role) }
            guard query != nil || role != nil else { continue }
            classes[table.id] = ClassView(table: own, query: query, role: role, mapping: mapping)
            tables[table.name] = table.id
        }
        self.definition = definition
        self.mapping = mapping
        self.classes = classes
        self.tables = tables
    }

    private static func query(
        _ text: ByteString, on table: TableSchema, _ schema: QuerySchema, _ role: TableRole?
    ) throws(ViewError) -> ObjectQuery {
        do throws(QueryError) {
            let query = try ObjectQuery(text, on: table.name, schema: schema)
            try query.checkSubscription()
            if let role,
                let hidden = table.columns.first(where: { query.columns.contains($0.id) && !role.reads($0.id) })
            {
                throw QueryError(
                    .subscription,
                    "property \"\(hidden.name.string)\" may not be read: a subscription by it would disclose its values",
                    at: 0)
            }
            return query
        } catch {
            throw ViewError("class \"\(table.name.string)\": \(error)", className: table.name)
        }
    }

    /// Of a client that has nothing and may do nothing.
    package static let nothing = View(nil)

    /// Of a client that has nothing and may do nothing.
    package static func nothing(in schema: Schema, version: SchemaVersion?) -> View {
        View(SchemaMapping(version, of: schema))
    }

    private init(_ mapping: SchemaMapping?) {
        definition = .empty(roles: "")
        self.mapping = mapping
        (classes, tables) = ([:], [:])
    }

    package subscript(_ table: TableID) -> ClassView? { classes[table] }
    package subscript(_ className: ByteString) -> ClassView? { tables[className].flatMap { classes[$0] } }

    /// The classes of which anything may be in the view.
    package var subscribed: [ClassView] { classes.values.filter { $0.query != nil && $0.role != nil } }

    /// Whether an object is in the view.
    ///
    /// - Parameter object: as much of it as `ClassView.columns` names; nil: there is none.
    package func contains(_ object: StoredObject?, _ table: TableID, _ key: ObjectKey) -> Bool {
        guard let object, let view = classes[table] else { return false }
        return view.contains(object, key)
    }
}

/// What of one class is in a view.
package struct ClassView: Sendable {
    /// The class as the realm has it.
    package let table: TableSchema
    /// Nil: there is no subscription to the class.
    package let query: ObjectQuery?
    /// Nil: the user has no role in the class.
    package let role: TableRole?
    /// What clients see whose schema is not the realm's: the query is about that.
    let mapping: SchemaMapping?

    /// Whether the values of a property that the query sees are those that the realm keeps, by which objects are found.
    func isKept(_ column: ColumnID) -> Bool { !(mapping?.converts(column, of: table.id) ?? false) }

    /// Nil if objects of the class can be in the view whatever their properties are, as far as can be told.
    package var anchor: ViewAnchor? {
        guard let query, let role else { return ViewAnchor(column: nil, values: []) }
        guard let anchor = ViewAnchor(query, role), anchor.column.map({ isKept($0) }) ?? true else { return nil }
        return anchor
    }

    /// The properties by which membership is decided, in ascending order.
    package var columns: [ColumnID] { Set((query?.columns ?? []) + (role?.columns ?? [])).sorted() }

    package func contains(_ object: StoredObject, _ key: ObjectKey) -> Bool {
        guard let query, let role else { return false }
        return query.matches(mapping?.projected(object, of: table.id) ?? object, key: key)
            && role.isVisible(object, key)
    }
}

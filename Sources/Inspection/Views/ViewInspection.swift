import Changesets
import Query
import RealmState
package import Rules
package import Storage
package import SyncModel
import Views

/// The objects of a class that a user's client gets, counted.
package struct ClassViewCount: Codable, Sendable {
    package var className: String
    /// Absent if the class is not subscribed to.
    package var query: String?
    /// The user's role in the class; absent if there is none.
    package var role: String?
    package var objects = 0
    /// Objects that the query selects.
    package var selected = 0
    /// Objects that the role lets the user see.
    package var visible = 0
    package var inView = 0
    /// Properties that the role hides in all of them.
    package var hidden: [String] = []

    fileprivate enum CodingKeys: String, CodingKey {
        case className = "class"
        case query, role, objects, selected, visible, inView, hidden
    }
}

/// Why one object is in a view or out of it.
package struct ObjectVerdict: Codable, Sendable {
    package var className: String
    package var key: String
    package var isSelected: Bool
    package var isVisible: Bool
    package var isInView: Bool
    package var mayWrite: Bool
    /// The properties that query and role look at, as MongoDB extended JSON.
    package var looksAt: JSONValue

    fileprivate enum CodingKeys: String, CodingKey {
        case className = "class"
        case key, isSelected, isVisible, isInView, mayWrite, looksAt
    }
}

/// Tells what a client with certain subscriptions and roles would be sent of a stored flexible realm. Reads all objects within one snapshot,
/// page by page.
package enum ViewInspection {
    /// - Parameters:
    ///   - queries: by class a query, as JSON.
    ///   - queryable: what a client may ask for anew; nil: it has the set already.
    ///   - budget: what may be read and tried.
    ///   - wanted: which objects are told of one by one.
    ///   - tell: is called with each of these.
    /// - Throws: `notFound`, `corrupt`, and `badInput` if the queries cannot be a view; `DocumentError` with `limit` if it takes too long.
    package static func run(
        _ queries: String, _ roles: ClosedRoles, by queryable: Queryable? = nil, on name: RealmName,
        in reader: any SliceReader, within budget: SearchBudget, wanted: (String, String) -> Bool,
        tell: (ObjectVerdict) -> Void
    ) async throws -> [ClassViewCount] {
        try await reader.withSnapshot { snapshot in
            guard let record = try await snapshot.realm(name) else {
                throw InspectionError(.notFound, "app \(name.app) has no flexible realm in the store")
            }
            let schema = try record.storedSchema()
            let view: View
            do throws(ViewError) {
                view = try View(ViewDefinition(version: 1, queries: queries, roles: roles.text), schema: schema)
                if let queryable, let objection = view.objection(by: queryable) { throw objection }
            } catch {
                throw InspectionError(.badInput, error.message)
            }
            let metered = view.metered(by: budget.meter)
            var counts: [TableID: ClassViewCount] = [:]
            for table in schema.tables where table.kind == .topLevel {
                let part = view[table.id]
                counts[table.id] = ClassViewCount(
                    className: table.name.string, query: part?.query?.canonicalText, role: part?.role?.role.name,
                    hidden: table.columns.filter { part?.role?.reads($0.id) == false }.map(\.name.string).sorted())
            }
            try await snapshot.forEachObjectPage(in: record.id) { page in
                try budget.requireTime()
                for (row, body) in page {
                    let id = TableID(rawValue: row.table)
                    guard let table = schema.table(id), counts[id] != nil else { continue }
                    let part = metered[id]
                    let object = try StoredObject(decoding: body)
                    let isSelected = part?.query?.matches(object, key: row.key) ?? false
                    let isVisible = part?.role?.isVisible(object, row.key) ?? false
                    try budget.requireSteps()
                    counts[id]?.objects += 1
                    if isSelected { counts[id]?.selected += 1 }
                    if isVisible { counts[id]?.visible += 1 }
                    if isSelected, isVisible { counts[id]?.inView += 1 }
                    guard wanted(table.name.string, row.key.plainText) else { continue }
                    tell(
                        ObjectVerdict(
                            className: table.name.string, key: row.key.plainText, isSelected: isSelected,
                            isVisible: isVisible, isInView: isSelected && isVisible,
                            mayWrite: part?.role?.mayWrite(object, row.key) ?? false,
                            looksAt: try json(object, row.key, of: table, part?.columns ?? [], schema)))
                }
            }
            return counts.values.sorted { $0.className < $1.className }
        }
    }

    private static func json(
        _ object: StoredObject, _ key: ObjectKey, of table: TableSchema, _ columns: [ColumnID], _ schema: Schema
    ) throws -> JSONValue {
        var part = StoredObject()
        for column in columns { part[column] = object[column] }
        var state = RealmState(schema: schema, residency: .partial)
        let address = ObjectAddress(table.name, key)
        state.load(address, part)
        guard let text = StateDump.json(of: address, in: state), let json = try? JSONParser.parse(text),
            let members = json.objectValue
        else { return .null }
        let names = Set(columns.compactMap { id in table.columns.first { $0.id == id }?.name.string })
        return .object(members.filter { names.contains($0.key) })
    }
}

/// The subscription set of a client file, as its owner has it.
package struct ClientSubscriptions: Codable, Sendable {
    package var clientFile: FileIdent
    package var version: UInt64
    /// The queries as JSON, one for each class.
    package var queries: String

    /// - Returns: those of a user's client files that are in force, newest file first.
    package static func all(
        of user: String, in realm: RealmName, from reader: any SliceReader, limit: Int
    ) async throws -> [ClientSubscriptions] {
        guard let record = try await reader.realm(realm) else { return [] }
        var found: [ClientSubscriptions] = []
        try await reader.forEachClientFile(in: record.id) { file in
            guard file.user == user, file.state == .live, file.generation == record.generation,
                let latest = (try? ClientViews(decoding: file.views))?.views.latest
            else { return }
            found.append(
                ClientSubscriptions(clientFile: file.ident, version: latest.version, queries: latest.queries))
            if found.count > limit { found.removeFirst() }
        }
        return found.reversed()
    }
}

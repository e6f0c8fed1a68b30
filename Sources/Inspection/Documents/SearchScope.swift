import Changesets
import Documents
import Query
import RealmState
import Rules
import SyncModel
import Views

/// What of one class somebody may see who searches: everything, or what a user's role shows.
struct SearchScope: Sendable {
    /// Nil: everything.
    private let view: ClassView?
    private let isUser: Bool
    private let table: TableSchema
    private let meter: EvaluationMeter

    /// - Parameter roles: a user's; nil: an operator searches.
    init(_ roles: ClosedRoles?, on table: TableSchema, schema: Schema, meter: EvaluationMeter) throws {
        self.table = table
        self.meter = meter
        isUser = roles != nil
        guard let roles else {
            view = nil
            return
        }
        let queries = JSONWriter.text(of: .object([table.name.string: "TRUEPREDICATE"]))
        let definition = ViewDefinition(version: 1, queries: queries, roles: roles.text)
        view = try View(definition, schema: schema, isRead: true).metered(by: meter)[table.id]
    }

    /// The user's role; nil for an operator, and for a user who has none.
    var role: String? { view?.role?.role.name }

    /// Whether nothing is seen of the class.
    var isEmpty: Bool { isUser && view?.role == nil }

    /// Whether every object is seen.
    var isEverything: Bool { !isUser }

    /// The properties that are never shown.
    var hidden: Set<ColumnID> {
        guard isUser else { return [] }
        return view?.role?.hiddenColumns ?? Set(table.columns.map(\.id))
    }

    /// The ways to what is seen; nil: nothing is.
    var accesses: [ClassAccess]? { isUser ? view?.accesses : [] }

    /// - Throws: `unreadableField` for a property that is never shown: to search by it would tell what it holds.
    func requireReadable(_ columns: some Sequence<ColumnID>) throws(DocumentError) {
        let hidden = hidden
        guard !hidden.isEmpty else { return }
        for column in columns where hidden.contains(column) {
            let name = table.columns.first { $0.id == column }?.name ?? ""
            throw DocumentError(.unreadableField, "the user may not read \(table.name).\(name)")
        }
    }

    /// - Returns: nil if that takes more than the meter allows.
    func sees(_ object: StoredObject, _ key: ObjectKey) -> Bool? {
        guard isUser else { return true }
        let isVisible = view?.role?.isVisible(object, key) ?? false
        return meter.overrun == nil ? isVisible : nil
    }
}

import Changesets
import Documents
import ExtendedJSON
import Messages
import Query
import RealmState
import Rules
import Storage
import SyncModel
import Views

/// Holds writes on documents to what their author may do. The author's rights come with the message; the owner sees to it that they still hold.
///
/// In an app in partition mode a user writes to a partition or does not. In one in flexible mode the user's roles decide on each object, before and
/// after, as of a client's upload; but nothing is undone: what is not allowed is refused with all of its message.
struct AuthorRights: SlicePart {
    let work: SliceWork
    let app: AppRecord
    let author: WriteAuthor
    private let places: PlaceCheck?
    private let meter: EvaluationMeter
    /// Whether roles decide on objects.
    private let isFlexible: Bool

    /// - Throws: `DocumentError` with `stale` if rules or the user have changed since the rights were decided, and with `forbidden` if the author may
    ///   not write to the realm.
    init(_ author: WriteAuthor, in context: RealmContext, of app: AppRecord, work: SliceWork) async throws {
        self.work = work
        self.app = app
        self.author = author
        isFlexible = context.name.isFlexible
        meter = EvaluationMeter(
            perObject: work.environment.limits.evaluation.stepsPerObject,
            limit: work.environment.limits.evaluation.stepsPerUpload)
        places =
            isFlexible ? try await QueryableFields(work: work, app: app).queryable().map { PlaceCheck($0) } : nil
        guard author.rights.rulesVersion >= work.memory.rules.newest(of: app.id) else {
            throw stale("the rules of app \(app.id) have changed")
        }
        work.memory.rules.hear(author.rights.rulesVersion, of: app.id)
        guard try await admittance.isCurrent(author.user, at: author.rights.usersVersion, of: app) else {
            throw stale("the user has changed")
        }
        guard author.rights.rights == .readWrite else {
            throw forbidden("user \(author.user) may not write to the realm, by the rules of app \(app.id)")
        }
    }

    private func stale(_ what: String) -> DocumentError {
        DocumentError(.stale, "\(what) since it was decided what user \(author.user) may do: try again")
    }

    private func forbidden(_ what: String, at write: Int? = nil) -> DocumentError {
        DocumentError(.forbidden, what, at: write.map { JSONPlace([.key("writes"), .index($0)]) } ?? .root)
    }

    // MARK: Before anything is recorded

    /// The roles of the author in a schema; nil where no roles decide.
    func roles(in schema: Schema) throws -> View? {
        guard isFlexible else { return nil }
        let text = author.roles ?? ClosedRoles.none.text
        work.cost += UInt64(text.utf8.count) * ViewCache.stepsPerByte
        do throws(ViewError) {
            return try View(.empty(roles: text), schema: schema).metered(by: meter)
        } catch {
            throw forbidden("the roles of user \(author.user) cannot be read: \(error)")
        }
    }

    /// Whether whoever has some roles may see an object: a filter selects no other.
    static func sees(_ object: StoredObject, _ address: ObjectAddress, _ roles: View?) -> Bool {
        roles.map { $0[address.className]?.role?.isVisible(object, address.key) ?? false } ?? true
    }

    /// Makes sure that writes look at nothing that their author may not read: neither by a condition, nor by finding an object there.
    func check(_ batch: WriteBatch, on context: RealmContext, in schema: Schema, _ roles: View?) throws {
        guard let roles else { return }
        for (index, write) in batch.writes.enumerated() {
            guard let table = schema.table(write.className) else { continue }
            if let filter = try write.filter(in: schema, at: index) {
                try requireReadable(filter, of: table, at: index, "filter", roles)
            }
            if let onlyIf = write.onlyIf {
                // A condition that is no filter is told of when the batch is recorded.
                guard let filter = try? DocumentFilter(onlyIf, on: table, schema: schema) else { continue }
                try requireReadable(filter, of: table, at: index, "onlyIf", roles)
            }
            if case .insert = write.operation { continue }
            guard let address = try? WriteBatch([write]).addresses(in: schema).first,
                let object = context.state.object(address), !Self.sees(object, address, roles)
            else { continue }
            throw denied(address, at: index)
        }
        try requireSteps()
    }

    private func requireReadable(
        _ filter: DocumentFilter, of table: TableSchema, at index: Int, _ member: ByteString, _ roles: View
    ) throws(DocumentError) {
        let role = roles[table.name]?.role
        for column in filter.query.columns where role?.reads(column) != true {
            let name = table.columns.first { $0.id == column }?.name ?? ""
            throw DocumentError(
                .unreadableField, "the user may not read \(table.name).\(name)",
                at: JSONPlace([.key("writes"), .index(index), .key(member)]))
        }
    }

    private func denied(_ address: ObjectAddress, at index: Int?) -> DocumentError {
        let key = ExtendedJSONWriter.text(of: DocumentMapping.value(of: address.key))
        return forbidden(
            "user \(author.user) may not do this to \(address.className) \(key), by the rules of app \(app.id)",
            at: index)
    }

    private func requireSteps() throws(DocumentError) {
        guard meter.overrun != nil else { return }
        throw DocumentError(.limit, "the author's rights take too long to tell: \(meter.refusal)")
    }

    // MARK: What is recorded

    /// Makes sure that the author may do what a batch has come to.
    ///
    /// - Parameter before: the state to which it is done.
    func check(_ changeset: Changeset, of batch: WriteBatch, on before: RealmState) throws {
        defer { note(meter) }
        guard isFlexible else { return }
        guard let steps = ObjectSteps(changeset) else { throw forbidden("what the writes do cannot be told") }
        var state = before
        // The schema has the classes that the writes themselves declare.
        let after = try { () throws(RealmStateError) in
            var state = before
            try state.apply(changeset)
            return state.schema
        }()
        let roles = try roles(in: after)
        var first: ObjectAddress?
        for (address, write) in steps.writes where first == nil {
            if roles?[address.className]?.role?.mayWrite(write.fields) != true { first = address }
        }
        var memos: [ObjectAddress: TableRole.FilterMemo] = [:]
        try steps.apply(to: &state) { address, step in
            guard first == nil else { return }
            let role = roles?[address.className]?.role
            let isAllowed =
                role?.allows(step, address.key, memo: &memos[address, default: TableRole.FilterMemo()]) ?? false
            if !isAllowed { first = address }
        }
        try requireSteps()
        if let first { throw denied(first, at: batch.write(to: first, in: after)) }
        for (address, write) in steps.writes
        where places?.isSpoiled(state.object(address), of: address.className, setting: write.fields, in: after) == true
        {
            throw DocumentError(
                .invalidValue,
                "expected places that geospatial queries can read in \(address.className), as users may write them",
                at: batch.write(to: address, in: after).map { JSONPlace([.key("writes"), .index($0)]) } ?? .root)
        }
    }
}

extension WriteBatch {
    /// The number of the first write that names an object by its key; else of the first one on its class.
    fileprivate func write(to address: ObjectAddress, in schema: Schema) -> Int? {
        let named = writes.firstIndex { (try? WriteBatch([$0]).addresses(in: schema).first) == address }
        return named ?? writes.firstIndex { $0.className == address.className }
    }
}

import Logging
import Messages
import Rules
import Storage
import Views

/// Holds the subscription sets that clients ask for to the properties that their app's rules name as queryable.
///
/// A set that was taken stays in force until its client asks for another one, whatever the rules say by then: a client that is refused the set
/// which it has could never come to another.
struct QueryableFields: SlicePart {
    let work: SliceWork
    let app: AppRecord

    /// Why a client may not ask for a set; nil if it may. In development mode what it looks at becomes queryable, unless the rules name all that
    /// is.
    func objection(to view: View, of file: ClientFileRecord) async throws -> ViewError? {
        guard let known = try await queryable(), view.objection(by: known) != nil,
            // The app may have changed within the last second, its mode among others.
            let latest = try await work.latestSettings(of: app.id),
            var queryable = try await apps.rules(of: latest)?.queryable
        else { return nil }
        if latest.developmentMode, !queryable.isComplete {
            let missing = view.fieldsNotQueryable(by: queryable)
            if !missing.isEmpty {
                try work.reportOnce(
                    QueriedReport(
                        app: app.id, fields: missing.mapValues { $0.sorted() }, user: file.user,
                        clientFile: file.ident))
            }
            queryable.classes.merge(missing) { $0.union($1) }
        }
        guard let objection = view.objection(by: queryable) else { return nil }
        logger.info(
            "subscription set refused by the rules",
            metadata: [
                "app": "\(app.id)", "client_file": "\(file.ident)", "reason": "\(objection.message)",
            ])
        return objection
    }

    /// Returns the queryable properties by the newest rules that the owner has heard of: gateways may have gone by them before the app's settings
    /// were read again. Nil: the app has no rules, and lets nobody come so far.
    func queryable() async throws -> Queryable? {
        let isBehind = work.memory.rules.newest(of: app.id) > app.rulesVersion
        let newest = isBehind ? try await work.latestSettings(of: app.id) : app
        return try await apps.rules(of: newest ?? app)?.queryable
    }
}

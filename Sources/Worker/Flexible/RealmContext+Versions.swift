import Changesets
import Query
import RealmState
import Storage
import SyncModel
import Views

// What clients of each schema version have of the realm (docs/flexible.md, "Schema versions").
extension RealmContext {
    /// Has the realm deal with a message.
    func ready(for app: AppRecord, in work: SliceWork) async throws -> RealmContext {
        if name.isFlexible {
            let findings = work.memory.asides.findings(of: name)
            let limits = work.environment.limits.evaluation
            flexible.begin(
                findings.views,
                work.looksMayWait && findings.mayWait ? EvaluationPatience(limits, answers: findings.answers) : nil)
        }
        return try await knowing(app, in: work)
    }

    /// Takes in the app's schema versions and what is told of changes, for a message.
    func knowing(_ app: AppRecord, in work: SliceWork) async throws -> RealmContext {
        history = try await work.history(of: app)
        let versions = app.schemas?.versions ?? []
        if schemas != versions { schemas = versions }
        feed = app.changeFeed.mode
        return self
    }

    /// Nil: the client has the realm's schema as it is.
    func schemaVersion(of views: ClientViews) -> SchemaVersion? {
        schemas.last { $0.number <= views.schemaVersion ?? 0 }
    }

    func view(_ definition: ViewDefinition, of views: ClientViews) throws(ViewError) -> View {
        try view(definition, as: schemaVersion(of: views))
    }

    /// The client's present view; one of nothing if it has none.
    func latestView(of views: ClientViews) -> View {
        views.views.latest.flatMap { try? view($0, of: views) } ?? nothing(for: views)
    }

    /// The view of a client that has and may do nothing.
    func nothing(for views: ClientViews) -> View {
        .nothing(in: state.schema, version: schemaVersion(of: views))
    }

    /// Nil if the client has the realm's schema as it is.
    func mapping(of views: ClientViews) -> SchemaMapping? {
        // Views are remembered.
        ((try? view(.empty(roles: views.roles), of: views)) ?? nothing(for: views)).mapping
    }
}

extension FlexibleUploads {
    /// What a client of a schema version has written, as the realm has it.
    ///
    /// - Throws: `SchemaRefusedError`, `BadChangesetError`.
    func mapped(_ changeset: Changeset, by mapping: SchemaMapping?) throws -> Changeset {
        guard let mapping else { return changeset }
        do throws(SchemaMapping.Refusal) {
            return try mapping.incoming(changeset)
        } catch {
            switch error {
            case .schema(let reason):
                throw SchemaRefusedError(
                    app,
                    "\(reason): stage the schema that is wanted, and deploy it (sluice schema stage, sluice schema deploy)"
                )
            case .malformed(let reason): throw BadChangesetError(reason: reason)
            }
        }
    }

    /// What the author of a changeset is told, behind it: what the realm has otherwise than its copy, null where another version has none. As old
    /// as what the author wrote, so that nothing which is newer is undone.
    func told(of changeset: Changeset, by mapping: SchemaMapping?) throws -> Changeset? {
        guard let mapping,
            case let told = try WorkerError.reading(
                "a changeset", { try mapping.told(of: changeset) { context.state.object($0) } }),
            !told.isEmpty
        else { return nil }
        return told
    }
}

extension SessionRequests {
    /// The app's settings as they are now, if a client names a schema version that they do not have yet.
    func knowing(_ version: UInt64?, _ app: AppRecord, _ context: RealmContext) async throws -> AppRecord {
        guard let version, let known = app.clientSchemas, version > known.newest,
            let latest = try await work.latestSettings(of: app.id)
        else { return app }
        _ = try await context.knowing(latest, in: work)
        return latest
    }
}

extension SliceWork {
    /// The schema version of a copy that must be reset, if its client names another one; nil if it does not, or if the app does not serve that
    /// version any more: then no fresh copy of it could be had.
    func version(
        ofCopy file: ClientFileRecord, openedWith named: UInt64?, of app: AppRecord, in context: RealmContext
    ) throws -> UInt64? {
        guard context.name.isFlexible, let named, let known = try clientViews(of: file, in: context).schemaVersion,
            known != named, app.clientSchemas?.contains(known) == true
        else { return nil }
        return known
    }
}

import AdminAPI
import Changesets
import Documents
import Foundation
import Hummingbird
import Logging
import Messages
import Storage
import SyncModel

/// `apps/{app}/schema/versions`, `draft` and `deploy`: what clients of each schema version have, and another schema in the place of the newest.
struct SchemaVersionRoutes: Sendable {
    let context: CoordinatorContext

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.answer(.get, .schemaVersions) { list(of: try await app($1)) }
        group.answer(.get, .schemaVersion) { _, route in
            let app = try await app(route)
            let text = try route.value(of: .version)
            guard let number = UInt64(text), app.servesSchema(number) else {
                throw AdminError.notFound("schema version \(text.prefix(40)) of app \(app.id)")
            }
            let elements = try await context.store.schema(ofApp: app.id)
            let version = app.schemaVersion(number) ?? SchemaVersion(number: number)
            return SchemaDocument(SchemaPlan.elements(of: version, in: elements))
        }
        group.answer(.put, .schemaDraft) { request, route in
            let body = try await AdminRequest.body(
                SchemaDraftRequest.self, of: request, limit: AdminLimits.schemaBody)
            return try await stage(body, for: try await app(route))
        }
        group.answer(.delete, .schemaDraft) { _, route in
            let app = try await app(route)
            return list(of: try await context.store.updateApp(app.id) { $0.schemas?.draft = nil })
        }
        group.answer(.post, .deploySchema) { request, route in
            _ = try await AdminRequest.body(EmptyRequest.self, of: request)
            return try await deploy(try await app(route))
        }
    }

    private func app(_ route: AdminRequestContext) async throws -> AppRecord {
        let app = try await context.app(route.value(of: .app))
        guard app.syncMode == .flexible else {
            throw AdminError.invalid("app \(app.id) uses partition sync, whose clients do not say their schema version")
        }
        return app
    }

    private func list(of app: AppRecord) -> SchemaVersionList {
        var numbers = Set(app.schemas?.versions.map(\.number) ?? [])
        if let served = app.clientSchemas {
            // A range that an operator has set may be of any length.
            numbers.formUnion(served.oldest...min(served.newest, served.oldest.saturatingAdding(999)))
        }
        return SchemaVersionList(
            versions: numbers.sorted().map { .init(version: $0, isServed: app.servesSchema($0)) },
            draft: app.schemas?.draft.map { SchemaDraftDocument($0) })
    }

    // MARK: Changing

    private func stage(_ request: SchemaDraftRequest, for app: AppRecord) async throws -> SchemaVersionList {
        let elements = try await context.store.schema(ofApp: app.id)
        let draft: SchemaDraft
        do throws(SchemaProblem) {
            guard let changed = try SchemaPlan.draft(from: elements, app, to: request.elements) else {
                throw SchemaProblem("it is the schema that the app has")
            }
            draft = changed
        } catch {
            throw AdminError.invalid("the schema cannot be staged: \(error.reason)")
        }
        var schemas = app.schemas ?? SchemaVersions()
        schemas.draft = draft
        guard try schemas.storedText().utf8.count <= SchemaVersions.maxBytes else {
            throw AdminError.invalid(
                "the schema cannot be staged: the app's versions would differ in more than \(SchemaVersions.maxBytes) bytes say;"
                    + " stage it in parts, or retire old versions")
        }
        return list(
            of: try await context.store.updateApp(app.id) {
                if $0.schemas == nil { $0.schemas = SchemaVersions() }
                $0.schemas?.draft = draft
            })
    }

    private func deploy(_ app: AppRecord) async throws -> SchemaVersionList {
        guard let draft = app.schemas?.draft else {
            throw AdminError.conflict("nothing_staged", "app \(app.id) has no schema that is staged: stage one first")
        }
        guard draft.basis == app.newestSchema.number else {
            throw AdminError.conflict(
                "stale_draft",
                "the schema was staged for version \(draft.basis) of app \(app.id), whose newest is \(app.newestSchema.number): stage it again"
            )
        }
        // In this order: a client of the new version finds what is its own. Each step may be done twice.
        do throws(StoreError) {
            try await context.store.extendSchema(ofApp: app.id, with: draft.added)
        } catch {
            guard error.code == .full else { throw error }
            throw AdminError.conflict("schema_full", error.message)
        }
        try await publish(draft, in: app)
        let deployed = try await context.store.updateApp(app.id) { $0.deploy(draft) }
        guard deployed.schemas?.draft == nil else {
            throw AdminError.conflict(
                "stale_draft", "another schema was staged for app \(app.id) meanwhile: deploy again")
        }
        context.logger.notice(
            "schema deployed",
            metadata: [
                "app": "\(app.id)", "version": "\(deployed.newestSchema.number)", "changes": "\(draft.changes.count)",
            ])
        await context.notices.send(app.id)
        if draft.isBreaking, app.clientSchemas == nil {
            // The versions that clients name are looked at only where an app has some: a process that does not know of the first ones would
            // give a client of the new version what those of the old one have, for good. Of later versions a process that does not know one asks.
            try await Task.sleep(for: context.configuration.settingsSpread)
        }
        return list(of: deployed)
    }

    /// Has the app's realm declare what is new.
    private func publish(_ draft: SchemaDraft, in app: AppRecord) async throws {
        let elements = try await context.store.schema(ofApp: app.id)
        guard let changeset = DeclaredSchema(elements).changeset(adding: draft.added) else { return }
        let realm = RealmName(flexible: app.id)
        try await context.link.publish(
            ChangesetMessage(
                realm: realm, upload: nil, entries: [UploadedChangeset(timestamp: 0, changeset: changeset.encoded())]),
            id: UUID().uuidString.lowercased(), to: realm.slice(of: context.slices))
    }
}

extension AppRecord {
    /// Whether clients may name a schema version.
    func servesSchema(_ number: UInt64) -> Bool {
        clientSchemas?.contains(number) ?? (schemas?.versions.isEmpty != false)
    }

    /// What the schema's next change is made from.
    var newestSchema: SchemaVersion {
        var newest = schemas?.versions.last ?? SchemaVersion(number: clientSchemas?.newest ?? 0)
        // An operator may have let clients name later ones, which have the same schema.
        newest.number = max(newest.number, clientSchemas?.newest ?? 0)
        return newest
    }

    /// Puts a draft in force, if it is the app's.
    mutating func deploy(_ draft: SchemaDraft) {
        guard var changed = schemas, changed.draft == draft, draft.basis == newestSchema.number else { return }
        changed.draft = nil
        if draft.isBreaking {
            let oldest = clientSchemas?.oldest ?? 0
            if changed.versions.isEmpty { changed.versions = [SchemaVersion(number: oldest)] }
            changed.versions.append(draft.version)
            clientSchemas = SchemaVersionRange(oldest: oldest, newest: draft.version.number)
        }
        schemas = changed
    }
}

extension UInt64 {
    fileprivate func saturatingAdding(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

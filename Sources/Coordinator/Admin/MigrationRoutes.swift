import AdminAPI
import Foundation
import Hummingbird
import Logging
import Rules
import Storage
import SyncModel

/// `apps/{app}/sync/migration`: moves an app to the other sync mode, and says how far that is.
struct MigrationRoutes: Sendable {
    let context: CoordinatorContext

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.answer(.get, .migration) { _, route in
            let app = try await context.app(route.value(of: .app))
            guard let migration = app.migration else {
                throw AdminError.notFound("a move of app \(app.id) to another sync mode")
            }
            return MigrationDocument(migration, of: app.id)
        }
        group.on(.post, .migration) { try await migrate($0, app: $1.value(of: .app)) }
    }

    private func migrate(_ request: Request, app id: String) async throws -> Response {
        let body = try await AdminRequest.body(MigrationRequest.self, of: request)
        let app = try await context.app(id)
        guard let target = SyncMode(rawValue: body.to) else {
            throw AdminError.invalid("to: expected flexible or partition, found \(body.to.prefix(40))")
        }
        let field = body.field ?? app.migration?.field ?? Self.field
        let isPlain = field.utf8.allSatisfy {
            $0 == 0x5f || (0x30...0x39).contains($0) || (0x41...0x5a).contains($0 & 0xdf)
        }
        guard isPlain, (1...63).contains(field.utf8.count),
            field.utf8.first.map({ !(0x30...0x39).contains($0) }) == true
        else {
            throw AdminError.invalid(
                "field: expected a property's name of letters, digits and _, found \(field.prefix(80))")
        }
        let migration = ModeMigration(
            id: "\(id)-to-\(target.rawValue)-\(UUID().uuidString.lowercased().prefix(8))", target: target, field: field,
            makesRoles: body.keepRoles != true, startedAt: context.now)
        if body.dryRun == true { return try AdminResponse.json(try await plan(app, migration)) }
        guard body.confirm == id else {
            throw AdminError.invalid("confirm: every client realm resets; expected the app once more, \(id)")
        }
        AuditNotes.current?.set("to \(target.rawValue), field \(field)")
        // Said again, by somebody who did not hear the answer or wants to know how far it is.
        if let known = app.migration, known.target == target, known.phase != .abandoned {
            return try AdminResponse.json(MigrationDocument(known, of: id), status: .accepted)
        }
        let plan = try await plan(app, migration)
        guard plan.problems.isEmpty else {
            throw AdminError.conflict("cannot_migrate", plan.problems.joined(separator: "; "))
        }
        let begun = try await context.store.updateApp(id) { app in
            // Somebody else may have been faster.
            if !app.isMoving, app.syncMode != target, app.syncState == .enabled { app.migration = migration }
        }
        guard let recorded = begun.migration, recorded.id == migration.id else {
            throw AdminError.conflict("cannot_migrate", "app \(id) has changed meanwhile: ask again")
        }
        context.logger.notice(
            "an app is to move to the other sync mode",
            metadata: ["app": "\(id)", "to": "\(target.rawValue)", "field": "\(field)", "campaign": "\(migration.id)"])
        await context.notices.send(id)
        return try AdminResponse.json(MigrationDocument(recorded, of: id), status: .accepted)
    }

    private static let field = "_partition"

    /// What the move would do, as the stores are now.
    private func plan(_ app: AppRecord, _ migration: ModeMigration) async throws -> MigrationPlan {
        let stores = try await context.stores(for: ", from which an app is moved")
        var plan = MigrationPlan(app: app.id, to: migration.target.rawValue, field: migration.field)
        if app.syncMode == migration.target {
            plan.problems.append("app \(app.id) uses \(app.syncMode.rawValue) sync already")
        }
        if app.isMoving { plan.problems.append("app \(app.id) is being moved") }
        if app.syncState != .enabled {
            plan.problems.append("sync of app \(app.id) is \(app.syncState.rawValue): enable it first")
        }
        if migration.target == .partition, let count = app.schemas?.versions.count, count > 1 {
            plan.problems.append("app \(app.id) has \(count) schema versions: clients of partition sync know of none")
        }
        if migration.target == .partition, app.migration == nil {
            plan.problems.append("app \(app.id) never used partition sync: no client of it would know its partition")
        }
        try await stores.forEachRealm(of: app.id) { realm, reader in
            guard realm.name.isFlexible == (app.syncMode == .flexible) else { return }
            let weight = try await reader.weight(of: realm.id)
            plan.realms += 1
            plan.objects += weight.objects
            plan.clientRealms += weight.clientRealms
        }
        do {
            _ = try await ModeMigrationRun(context: context, app: app.id).check(migration)
        } catch let problem as MoveProblem {
            plan.problems.append(problem.reason)
        }
        if migration.target == .flexible { try await judgeRules(app, migration, &plan) }
        return plan
    }

    private func judgeRules(_ app: AppRecord, _ migration: ModeMigration, _ plan: inout MigrationPlan) async throws {
        guard let rules = try await context.rules.document(of: app) else {
            return plan.problems.append("app \(app.id) has no rules, so nobody could read anything")
        }
        guard let moved = rules.movedToFlexible(field: migration.field, makesRoles: migration.makesRoles) else {
            return plan.problems.append(
                "the partition rules cannot be said of a property: set roles with sluice rules set, and keep them with --keep-roles"
            )
        }
        let check = try await context.check(moved, for: app, in: migration.target)
        plan.access = check.document?.summary(for: migration.target)
        plan.problems += check.errors.map { "rules: \($0.path): \($0.message)" }
    }
}

import AdminAPI
import Hummingbird
import Logging
import Rules
import Storage
import SyncModel

/// `apps/{app}/rules`: show, set, check and explain, and the versions before.
struct RulesRoutes: Sendable {
    let context: CoordinatorContext

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.answer(.get, .rules) { _, route in
            let app = try await context.app(route.value(of: .app))
            return try await answer(version: app.rulesVersion, of: app)
        }
        group.answer(.put, .rules) { try await set($0, app: $1.value(of: .app)) }
        group.answer(.get, .rulesVersions) { try await versions($0, app: $1.value(of: .app)) }
        group.answer(.get, .rulesVersion) { _, route in
            let app = try await context.app(route.value(of: .app))
            guard let version = UInt64(try route.value(of: .version)), version > 0 else {
                throw AdminError.invalid("the version must be a whole number from 1 on")
            }
            return try await answer(version: version, of: app)
        }
        group.answer(.post, .rulesCheck) { request, route in
            let app = try await context.app(route.value(of: .app))
            let body = try await AdminRequest.body(
                RulesCheckRequest.self, of: request, limit: AdminLimits.rulesBody)
            let check = try await context.check(body.rules, for: app)
            guard let document = check.document else { return RulesCheckAnswer(check, summary: nil) }
            return RulesCheckAnswer(check, summary: try await context.access(to: app, by: document))
        }
        group.answer(.get, .rulesExplanation) { try await explain($0, app: $1.value(of: .app)) }
    }

    private func answer(version: UInt64, of app: AppRecord) async throws -> RulesAnswer {
        guard version > 0 else { return RulesAnswer(app: app.id) }
        guard let record = try await context.store.rules(app: app.id, version: version) else {
            throw AdminError.notFound(
                "version \(version) of the rules of app \(app.id): the newest \(RulesRecord.kept) are kept")
        }
        guard let document = RulesCheck(record.document).document else {
            throw StoreError(.corrupt, "version \(version) of the rules of app \(app.id) cannot be read")
        }
        return RulesAnswer(record, document, summary: try await context.access(to: app, by: document))
    }

    private func set(_ request: Request, app id: String) async throws -> RulesAnswer {
        let body = try await AdminRequest.body(RulesRequest.self, of: request, limit: AdminLimits.rulesBody)
        let app = try await context.app(id)
        let check = try await context.check(body.rules, for: app)
        let document = try check.accepted()
        let record = try await context.store.replaceRules(
            app: id, expecting: body.replaces, with: context.change(to: document))
        context.logger.notice(
            "rules set",
            metadata: [
                "app": "\(id)", "version": "\(record.version)", "in_force": "\(document.summary(for: app.syncMode))",
            ])
        await context.notices.sendRules(of: id)
        var answer = RulesAnswer(record, document, summary: try await context.access(to: app, by: document))
        answer.findings = check.warnings
        return answer
    }

    private func versions(_ request: Request, app id: String) async throws -> RulesVersionList {
        let app = try await context.app(id)
        let limit = try AdminRequest.limit(request)
        let after = try AdminRequest.after(request) { UInt64($0) }
        let found = try await context.store.rulesHistory(app: app.id, after: after, limit: limit)
        return RulesVersionList(
            versions: found.map { .init($0) },
            next: found.count == limit ? found.last.map { String($0.version) } : nil)
    }

    private func explain(_ request: Request, app id: String) async throws -> RulesExplanation {
        guard let userID = AdminRequest.query(.user, request) else {
            throw AdminError.invalid("the query must name the user: ?user=...")
        }
        let partition = AdminRequest.query(.partition, request)
        let className = AdminRequest.query(.className, request)
        let app = try await context.app(id)
        guard partition != nil || className != nil else {
            throw AdminError.invalid(
                app.syncMode == .flexible
                    ? "the query must name a class: ?user=...&class=..."
                    : "the query must name a partition or a class: ?user=...&partition=...")
        }
        let user = try await context.user(userID, of: id)
        return RulesExplanation(
            user, of: app, by: try await context.rules.document(of: app), partition: partition, className: className)
    }
}

extension RulesCheck {
    /// - Throws: `rules_refused`, with everything that is wrong.
    func accepted() throws(AdminError) -> RulesDocument {
        guard let document else { throw .rulesRefused(findings) }
        return document
    }
}

extension CoordinatorContext {
    /// Checks rules beside what the app's clients have declared.
    ///
    /// - Parameter mode: the sync mode that the app is to have; nil for the one that it has.
    func check(_ rules: JSONValue, for app: AppRecord, in mode: SyncMode? = nil) async throws -> RulesCheck {
        let isConfirmed = try await logins(of: app.id).emailPassword?.confirmURL != nil
        return RulesCheck(
            rules, schema: RulesSchema(try await store.schema(ofApp: app.id)),
            app: RulesApp(
                syncMode: mode ?? app.syncMode, emailsAreConfirmed: isConfirmed || !app.emailPasswordLogin))
    }

    func change(to document: RulesDocument) -> RulesChange {
        RulesChange(document: document.bytes, author: AdminCaller.current?.token ?? "admin", at: now)
    }

    /// What is in force in an app, in a sentence.
    func access(to app: AppRecord) async throws -> String {
        guard let document = try await rules.document(of: app) else { return RulesDocument.summaryOfNone }
        return try await access(to: app, by: document)
    }

    /// What rules would say for an app, in a sentence: where they say it of every user, also who can become one.
    func access(to app: AppRecord, by rules: RulesDocument) async throws -> String {
        let summary = rules.summary(for: app.syncMode)
        guard rules.isForEveryUser(in: app.syncMode) else { return summary }
        return "\(summary); \(try await logins(of: app.id).sentence(of: app))"
    }
}

extension RulesSchema {
    fileprivate init(_ elements: [SchemaElement]) {
        self.init(classes: [:])
        for element in elements {
            var properties = classes[element.className] ?? [:]
            if let property = element.property { properties[property] = element.type }
            classes[element.className] = properties
        }
    }
}

import AdminAPI
import Hummingbird
import Logging
import Rules
import Storage
import SyncModel

/// `apps/{app}/rules`: show, set, check and explain, and the versions before.
struct RulesRoutes: Sendable {
    let context: CoordinatorContext

    func add(to group: RouterGroup<BasicRequestContext>) {
        group.on(.get, .rules) { _, route in
            let app = try await context.app(route.value(of: .app))
            return try AdminResponse.json(try await answer(version: app.rulesVersion, of: app))
        }
        group.on(.put, .rules) { try await set($0, app: $1.value(of: .app)) }
        group.on(.get, .rulesVersions) { try await versions($0, app: $1.value(of: .app)) }
        group.on(.get, .rulesVersion) { _, route in
            let app = try await context.app(route.value(of: .app))
            guard let version = UInt64(try route.value(of: .version)), version > 0 else {
                throw AdminError.invalid("the version must be a whole number from 1 on")
            }
            return try AdminResponse.json(try await answer(version: version, of: app))
        }
        group.on(.post, .rulesCheck) { request, route in
            let app = try await context.app(route.value(of: .app))
            let body = try await AdminRequest.body(
                RulesCheckRequest.self, of: request, limit: AdminLimits.rulesBody)
            return try AdminResponse.json(RulesCheckAnswer(try await context.check(body.rules, for: app.id)))
        }
        group.on(.get, .rulesExplanation) { try await explain($0, app: $1.value(of: .app)) }
    }

    private func answer(version: UInt64, of app: AppRecord) async throws -> RulesAnswer {
        guard version > 0 else {
            return RulesAnswer(app: app.id, version: 0, summary: RulesDocument.summaryOfNone)
        }
        guard let record = try await context.store.rules(app: app.id, version: version) else {
            throw AdminError.notFound(
                "version \(version) of the rules of app \(app.id): the newest \(RulesRecord.kept) are kept")
        }
        return try RulesAnswer(record, RulesCheck(record.document))
    }

    private func set(_ request: Request, app id: String) async throws -> Response {
        let body = try await AdminRequest.body(RulesRequest.self, of: request, limit: AdminLimits.rulesBody)
        _ = try await context.app(id)
        let check = try await context.check(body.rules, for: id)
        let document = try check.accepted()
        let record = try await context.store.replaceRules(
            app: id, expecting: body.replaces, with: context.change(to: document))
        context.logger.notice(
            "rules set",
            metadata: ["app": "\(id)", "version": "\(record.version)", "in_force": "\(document.summary)"])
        await context.notices.sendRules(of: id)
        var answer = try RulesAnswer(record, check)
        answer.findings = check.warnings
        return try AdminResponse.json(answer)
    }

    private func versions(_ request: Request, app id: String) async throws -> Response {
        let app = try await context.app(id)
        let limit = try AdminRequest.limit(request)
        var after: UInt64?
        if let text = AdminRequest.query(.after, request) {
            after = UInt64(text)
            guard after != nil else { throw AdminError.invalid("after: expected the \"next\" of the page before") }
        }
        let found = try await context.store.rulesHistory(app: app.id, after: after, limit: limit)
        return try AdminResponse.json(
            RulesVersionList(
                versions: found.map { .init(version: $0.version, author: $0.author, at: $0.at, bytes: $0.bytes) },
                next: found.count == limit ? found.last.map { String($0.version) } : nil))
    }

    private func explain(_ request: Request, app id: String) async throws -> Response {
        guard let userID = AdminRequest.query(.user, request) else {
            throw AdminError.invalid("the query must name the user: ?user=...")
        }
        let partition = AdminRequest.query(.partition, request)
        let className = AdminRequest.query(.className, request)
        guard partition != nil || className != nil else {
            throw AdminError.invalid("the query must name a partition or a class: ?user=...&partition=...")
        }
        let app = try await context.app(id)
        let user = try await context.user(userID, of: id)
        let document = try await context.rules.document(of: app)
        let seen = RuleUser(user)
        return try AdminResponse.json(
            RulesExplanation(
                app: id, version: app.rulesVersion, user: user.id, isDisabled: user.isDisabled,
                summary: document?.summary ?? RulesDocument.summaryOfNone,
                partition: partition.flatMap {
                    document?.explainPartition(RealmName.partition(fromText: $0), for: seen)
                },
                role: className.flatMap { document?.explainRole(ofClass: $0, for: seen) }))
    }
}

extension RulesAnswer {
    fileprivate init(_ record: RulesRecord, _ check: RulesCheck) throws {
        guard let document = check.document else {
            throw StoreError(
                .corrupt,
                "version \(record.version) of the rules of app \(record.app) cannot be read")
        }
        self.init(
            app: record.app, version: record.version, summary: document.summary, author: record.author, at: record.at,
            rules: document.source)
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
    func check(_ rules: JSONValue, for app: String) async throws -> RulesCheck {
        RulesCheck(rules, schema: RulesSchema(try await store.schema(ofApp: app)))
    }

    func change(to document: RulesDocument) -> RulesChange {
        RulesChange(document: document.bytes, author: AdminCaller.current?.token ?? "admin", at: now)
    }

    /// What is in force in an app, in a sentence.
    func summary(of app: AppRecord) async throws -> String {
        try await rules.document(of: app)?.summary ?? RulesDocument.summaryOfNone
    }
}

extension RulesSchema {
    fileprivate init(_ elements: [SchemaElement]) {
        self.init(classes: [:])
        for element in elements {
            if let property = element.property {
                classes[element.className, default: [:]][property] = element.type
            } else {
                classes[element.className, default: [:]].merge([:]) { $1 }
            }
        }
    }
}

import AdminAPI
import Logging
import Messages
import Rules
import Storage

/// Makes properties queryable that clients of an app in development mode have asked for subscriptions by.
struct QueriedFields: Sendable {
    let context: CoordinatorContext

    /// The author of the rules in their history and in the audit log: no admin token has such a name.
    static let author = "development mode"
    /// How often an operator may be faster.
    private static let attempts = 8
    private static let maxText = 800

    /// Puts rules in force that name the properties. It may be done twice: nothing is changed if they are queryable by now, if the app is in
    /// development mode no more, or if its rules leave no room for more.
    func take(_ report: QueriedReport) async throws(StoreError) {
        for _ in 0..<Self.attempts {
            do throws(StoreError) {
                if let version = try await extend(report) { await tell(report, version) }
                return
            } catch {
                if error.isRetriable { throw error }
                // Somebody has set rules meanwhile; what they say now is read again.
                guard error.code == .stale else {
                    return context.logger.error(
                        "rules cannot be extended in development mode",
                        metadata: ["app": "\(report.app)", "error": "\(error)"])
                }
            }
        }
    }

    /// - Returns: the new version of the rules; nil if nothing had to be changed.
    private func extend(_ report: QueriedReport) async throws(StoreError) -> UInt64? {
        guard let app = try await context.store.app(report.app), app.developmentMode,
            let document = try await context.rules.document(of: app)
        else { return nil }
        let missing = document.queryable.missing(of: report.fields)
        guard !missing.isEmpty, let extended = document.adding(queryable: missing) else { return nil }
        let check = RulesCheck(extended)
        guard let new = check.document else {
            context.logger.warning(
                "what clients query cannot become queryable: set rules that name it",
                metadata: [
                    "app": "\(app.id)", "fields": "\(Self.text(missing))",
                    "reason": "\(check.findings.first?.message ?? "")",
                ])
            return nil
        }
        let number = try await context.store.beginAudit(
            AuditEntry(
                at: context.now, token: Self.author, role: .operate, method: "PUT",
                path: AdminRoute.rules.path(app.id)), keeping: AuditTrail.most)
        let text =
            "queryable from now on, since client file \(report.clientFile) of user \(report.user) asked for subscriptions by it: "
            + Self.text(missing)
        let record: RulesRecord
        do throws(StoreError) {
            record = try await context.store.replaceRules(
                app: app.id, expecting: app.rulesVersion,
                with: RulesChange(document: new.bytes, author: Self.author, at: context.now))
        } catch {
            try await context.store.endAudit(
                number, status: error.code == .stale ? 409 : 500, details: text,
                isDryRun: false)
            throw error
        }
        try await context.store.endAudit(number, status: 200, details: text, isDryRun: false)
        return record.version
    }

    /// Gateways judge their sessions by the new rules at once. Owners read them within a second: what is let in by the old ones until then may
    /// do no less by the new ones, and need not be sent back.
    private func tell(_ report: QueriedReport, _ version: UInt64) async {
        context.logger.notice(
            "rules extended in development mode",
            metadata: [
                "app": "\(report.app)", "version": "\(version)", "user": "\(report.user)",
                "client_file": "\(report.clientFile)",
            ])
        await context.notices.send(report.app)
    }

    /// `Task.done, Task.owner`, and no more than an audit log's line takes.
    private static func text(_ fields: [String: Set<String>]) -> String {
        let names = fields.flatMap { className, names in names.map { "\(className).\($0)" } }.sorted()
        return String(names.joined(separator: ", ").prefix(Self.maxText))
    }
}

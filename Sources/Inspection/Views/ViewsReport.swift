import Changesets
package import Rules
package import Storage
import SyncModel

/// What a user's clients would get of an app in flexible mode.
package struct ViewsReport: Codable, Sendable {
    package struct Part: Codable, Sendable {
        /// Absent for queries that were asked about.
        package var client: ClientSubscriptions?
        package var queries: String
        package var classes: [ClassViewCount]
        package var objects: [ObjectVerdict]
    }

    /// What is asked about.
    package struct Question: Sendable {
        /// A query for each class, as JSON; nil: the subscriptions of the user's clients.
        package var queries: String?
        /// Only this class.
        package var className: String?
        /// The object of that class that is told of, by its primary key.
        package var object: String?
        /// The most clients.
        package var limit: Int

        package init(queries: String?, className: String?, object: String?, limit: Int) {
            self.queries = queries
            self.className = className
            self.object = object
            self.limit = limit
        }
    }

    package var app: String
    package var user: String
    package var rulesVersion: UInt64
    package var summary: String
    package var isDisabled: Bool
    package var views: [Part] = []

    /// - Parameters:
    ///   - rules: those that are in force; nil: nobody may read or write.
    ///   - budget: for all clients together.
    /// - Throws: as `ViewInspection.run`.
    package init(
        _ question: Question, of account: UserRecord, in app: AppRecord, by rules: RulesDocument?,
        from reader: any SliceReader, within budget: SearchBudget
    ) async throws {
        let name = RealmName(flexible: app.id)
        let roles = rules?.closedRoles(of: RuleUser(account)) ?? .none
        self.app = app.id
        user = account.id
        rulesVersion = app.rulesVersion
        summary = rules?.summary(for: .flexible) ?? RulesDocument.summaryOfNone
        isDisabled = account.isDisabled
        let sets: [(ClientSubscriptions?, String)]
        if let queries = question.queries {
            sets = [(nil, queries)]
        } else {
            sets = try await ClientSubscriptions.all(
                of: account.id, in: name, from: reader, limit: question.limit
            ).map { ($0, $0.queries) }
        }
        // A set that a client has goes on; in development mode what it asks for anew becomes queryable.
        let mayAdd = app.developmentMode && rules?.queryable.isComplete != true
        for (client, queries) in sets {
            var objects: [ObjectVerdict] = []
            let classes = try await ViewInspection.run(
                queries, roles, by: client == nil && !mayAdd ? rules?.queryable : nil, on: name, in: reader,
                within: budget, wanted: { $0 == question.className && $1 == question.object },
                tell: { objects.append($0) })
            views.append(
                Part(
                    client: client, queries: queries,
                    classes: classes.filter { question.className == nil || $0.className == question.className },
                    objects: objects))
        }
    }
}

package import Rules

/// The routes of the admin API, below `base`; `docs/admin-api.md` says which methods each answers.
package enum AdminRoute: String, CaseIterable, Sendable {
    case apps = "apps"
    case app = "apps/:app"
    case schema = "apps/:app/schema"
    case pruneSchema = "apps/:app/schema/prune"
    case schemaVersions = "apps/:app/schema/versions"
    case schemaVersion = "apps/:app/schema/versions/:version"
    case schemaDraft = "apps/:app/schema/draft"
    case deploySchema = "apps/:app/schema/deploy"
    case quotas = "apps/:app/quotas"
    case deletion = "apps/:app/deletion"
    case deletions = "deletions"
    case eraseRealm = "apps/:app/realms/erase"
    case rules = "apps/:app/rules"
    case rulesVersions = "apps/:app/rules/versions"
    case rulesVersion = "apps/:app/rules/versions/:version"
    case rulesCheck = "apps/:app/rules/check"
    case rulesExplanation = "apps/:app/rules/explain"
    case viewsExplanation = "apps/:app/views/explain"
    case users = "apps/:app/users"
    case user = "apps/:app/users/:user"
    case disableUser = "apps/:app/users/:user/disable"
    case enableUser = "apps/:app/users/:user/enable"
    case customData = "apps/:app/users/:user/custom-data"
    case revokeUser = "apps/:app/users/:user/logins/revoke"
    case revokeUsers = "apps/:app/logins/revoke"
    case terminate = "apps/:app/sync/terminate"
    case reset = "apps/:app/sync/reset"
    case allowResets = "apps/:app/sync/allow-resets"
    case enable = "apps/:app/sync/enable"
    case pause = "apps/:app/sync/pause"
    case migration = "apps/:app/sync/migration"
    case terminationPlan = "apps/:app/termination-plan"
    case clientRealmHistory = "apps/:app/client-realms/:clientFile"
    case campaigns = "campaigns"
    case campaign = "campaigns/:campaign"
    case clientRealms = "campaigns/:campaign/client-realms"
    case clientRealmExport = "campaigns/:campaign/client-realms/export"
    case campaignEvents = "campaigns/:campaign/events"
    case logins = "apps/:app/logins"
    case login = "apps/:app/logins/:provider"
    case keys = "keys"
    case rotateKeys = "keys/rotate"
    case tokens = "tokens"
    case token = "tokens/:name"
    case audit = "audit"
    case cluster = "cluster"
    case slices = "cluster/slices"
    case queues = "cluster/queues"
    case workers = "cluster/workers"
    case processes = "cluster/processes"
    case slice = "cluster/slices/:slice"
    case sliceOwners = "cluster/slices/:slice/owners"
    case overview = "cluster/overview"
    case history = "cluster/history"
    case clusterEvents = "cluster/events"
    case deadLetters = "dead-letters"
    case deadLetter = "dead-letters/:name"
    case deadLetterBodies = "dead-letters/bodies"
    case requeueLetters = "dead-letters/requeue"
    case dropLetters = "dead-letters/drop"
    case messageEvents = "messages/events"
    case doctor = "doctor"
    case realms = "apps/:app/realms"
    case realmsVerification = "realms/verify"
    case realm = "apps/:app/realm"
    case realmClientFiles = "apps/:app/realm/client-files"
    case realmHistory = "apps/:app/realm/history"
    case realmObjects = "apps/:app/realm/objects"
    case documents = "apps/:app/documents"
    case documentCount = "apps/:app/documents/count"
    case documentDistinct = "apps/:app/documents/distinct"
    case documentAggregate = "apps/:app/documents/aggregate"
    case documentExplanation = "apps/:app/documents/explain"
    case documentStream = "apps/:app/documents/stream"
    case changes = "apps/:app/changes"
    case session = "session"
    case sessionLink = "session/link"

    /// The path that all routes begin with.
    package static let base = "/api/admin/v1"

    /// The path below the server's root, with the values in the places of the route's parameters, in their order.
    package func path(_ values: String..., query: [(AdminQuery, String?)] = []) -> String {
        var rest = values[...]
        let segments = rawValue.split(separator: "/").map { segment in
            segment.first == ":" ? (rest.popFirst() ?? "").percentEncoded : String(segment)
        }
        let items = query.compactMap { name, value in value.map { "\(name.rawValue)=\($0.percentEncoded)" } }
        return ([Self.base] + segments).joined(separator: "/")
            + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
    }
}

/// A parameter in a route's path.
package enum AdminParameter: String, Sendable {
    case app, campaign, clientFile, user, version, name, provider, slice
}

/// A parameter in a query.
package enum AdminQuery: String, Sendable {
    /// Only this app's.
    case app
    /// Where the page before ended: its `next`.
    case after
    /// The most entries to answer.
    case limit
    /// Only client realms with this outcome.
    case outcome
    /// Accounts only, or with `false` and without it all other campaigns.
    case accounts
    /// Only campaigns that are not closed.
    case open
    /// How a file is written: `csv` or `json`.
    case format
    /// The realm's partition value, a word or extended JSON. Searches of several realms have it several times.
    case partition
    /// A search is of the realms of all partitions.
    case allPartitions
    /// The one realm of an app in flexible mode.
    case flexible
    case user
    /// The name of what is to go, once more.
    case confirm
    /// Says only what would go.
    case dryRun
    /// The realms that are the user's own go, too.
    case withRealm
    /// Only dead letters whose reason contains this.
    case reason
    /// How many dead letters are looked at.
    case reach
    /// Only messages of this type.
    case type
    /// The stream tells of slices, too.
    case slices
    /// The last day, too.
    case day
    /// A class of objects.
    case className = "class"
    /// Only the document with this primary key, as extended JSON; only the dead letters with this name or message id, of which there may
    /// be several.
    case id
    /// Only realms whose partition contains this, or campaigns whose id or reason does.
    case search
    /// Only documents that a filter selects, as MongoDB writes filters.
    case filter
    /// Only documents that a query selects, in the language of subscriptions.
    case query
    /// The field whose values are wanted.
    case field
    /// The stages of an aggregation.
    case pipeline
    /// The properties that documents are sorted by, each with 1 or -1; what realms are sorted by.
    case sort
    /// The parts of documents to show: properties with commas between, or an object as MongoDB has it.
    case fields
    /// Where a follower of changes begins: `now`, `start`, or the place of the last change that it has dealt with.
    case from
    /// Values with their types, as canonical Extended JSON.
    case canonical
}

/// The bounds of requests and answers.
package enum AdminLimits {
    /// Bytes of an admin token, wherever it comes from.
    package static let minTokenBytes = 32
    /// Bytes of a request's body.
    package static let body = 65_536
    /// Bytes of the body of a request that holds rules.
    package static let rulesBody = RulesLimits.bytes + 4096
    /// Bytes of the body of a request that holds a schema.
    package static let schemaBody = 2 << 20
    /// Entries of one answer.
    package static let entries = 1...1000
    /// Entries of an answer if the query names no limit.
    package static let campaigns = 50
    package static let clientRealms = 100
    package static let plannedClientRealms = 20
    package static let deadLetters = 200
    /// Dead letters that are looked at for one request, and that one answer has.
    package static let deadLetterReach = 1...50_000
    /// Dead letters that are looked at if a request names no bound.
    package static let deadLettersSeen = 10_000
    /// Dead letters that a query names.
    package static let namedLetters = 500
    /// Dead letters of one answer with what the messages said, and the bytes of that.
    package static let letterBodies = 1_000
    package static let letterBodyBytes = 32 << 20
    package static let realms = 50
    package static let versions = 50
    package static let objects = 50
    package static let documents = 100
    /// Bytes of the body of a request that writes documents.
    package static let documentsBody = 8 << 20
    /// Bytes of UTF-8.
    package static let appID = 1...64
    package static let campaignID = 1...200
    package static let reason = 1000
    package static let maxOfflineDays = 1...3650
    /// Streams of events that are open at once.
    package static let eventStreams = 100
    /// Files of client realms that are written at once.
    package static let exports = 10
    /// Streams of passing messages that are open at once: each has a queue of its own at the broker.
    package static let messageStreams = 10
    /// Partitions that one search names.
    package static let partitions = 100
    /// Searches for documents that are under way at once.
    package static let searches = 10
    /// Verifications of realms at once: each holds parts of two copies of a realm in memory.
    package static let verifications = 2
    /// Views that are explained at once: each reads all objects of an app.
    package static let viewExplanations = 2
    /// A user's clients whose views are explained if the query names no limit.
    package static let explainedClients = 10
    /// Followers of changes at once: each has a queue of its own at the broker.
    package static let followers = 20
}

/// The answer of the admin API when it cannot do what was asked.
package struct AdminProblem: Codable, Sendable, Equatable {
    /// The mistake in one word, such as `not_found`; docs/admin-api.md lists them.
    package var error: String
    /// The mistake in a sentence for a person.
    package var message: String
    /// Everything that is wrong with refused rules.
    package var findings: [RulesFinding]?
    /// The index of the write at fault, counted from 0, of a request that writes documents.
    package var write: Int?

    package init(error: String, message: String, findings: [RulesFinding]? = nil, write: Int? = nil) {
        self.error = error
        self.message = message
        self.findings = findings
        self.write = write
    }
}

extension String {
    /// The text escaped as one segment of a path or one value of a query.
    fileprivate var percentEncoded: String {
        utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: return String(UnicodeScalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                return "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        .joined()
    }
}

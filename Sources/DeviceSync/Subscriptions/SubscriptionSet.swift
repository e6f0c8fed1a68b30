import SyncModel
internal import SyncProtocol

/// What a realm subscribes to at one time: a version of its subscriptions, and how far the server has got with it.
struct SubscriptionSet: Sendable, Equatable {
    enum State: Int, Sendable {
        /// The server has not sent all of its data.
        case pending = 0
        /// The set's data is here, and may be older than what the server had when it was asked for the data.
        case awaitingMark = 1
        case complete = 2
        /// The server refused it.
        case error = 3
    }

    let version: QueryVersion
    var state = State.pending
    /// Why the server refused it.
    var reason: String?
    /// The realm's newest version when the set was made: what was written up to there is uploaded before the server hears of
    /// the set, and what was written later after that, so that the server judges each write by the set in force.
    var snapshot: ClientVersion
    var subscriptions: [Subscription]

    /// The classes that it selects anything of.
    var classNames: Set<String> { Set(subscriptions.map(\.className)) }

    /// Class names and queries as the server gets them: what selects an object is any of its class's queries.
    var queries: [String: String] {
        Dictionary(grouping: subscriptions, by: \.className).mapValues { subscriptions in
            Set(subscriptions.map { "(\($0.query))" }).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                .joined(separator: " OR ")
        }
    }

    /// What QUERY and IDENT say.
    var querySet: QuerySet { QuerySet(version: version, queries: queries) }
}

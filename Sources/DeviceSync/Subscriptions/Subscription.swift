internal import Foundation

/// One query of a subscription set, as stored.
struct Subscription: Sendable, Equatable, Codable {
    var id = UUID()
    /// Unique in its set; nil for a subscription that its class and query alone identify.
    var name: String?
    var className: String
    /// The query in the text by which two queries are compared (`ObjectQuery.exactText`).
    var query: String
    var created = Date()
    var updated = Date()
}

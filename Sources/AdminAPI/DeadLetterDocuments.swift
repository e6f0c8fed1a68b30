/// The body that sends dead letters back, or drops them: which are meant. Letters that are named and every condition must hold.
package struct DeadLettersRequest: AdminBody, Equatable {
    package static let keys: Set<String> = ["letters", "app", "reason", "type", "all", "limit"]
    package static let shownKeys = keys
    package static let most = 1_000

    /// Names, or ids of the messages.
    package var letters: [String]?
    package var app: String?
    /// A part of the reason, in upper or lower case.
    package var reason: String?
    package var type: String?
    /// Must be true where nothing else says which letters are meant.
    package var all: Bool?
    /// How many letters are looked at.
    package var limit: Int?

    package init(
        letters: [String]? = nil, app: String? = nil, reason: String? = nil, type: String? = nil, all: Bool? = nil,
        limit: Int? = nil
    ) {
        self.letters = letters
        self.app = app
        self.reason = reason
        self.type = type
        self.all = all
        self.limit = limit
    }
}

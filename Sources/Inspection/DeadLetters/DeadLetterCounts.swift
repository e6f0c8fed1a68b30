/// Dead letters that have reason, type, app and queue in common.
package struct DeadLetterGroup: Sendable, Equatable, Codable {
    package var reason: String
    package var type: String
    package var app: String?
    package var queue: String?
    package var count: Int
}

/// Counts dead letters by what they died of: thousands often have one cause.
package struct DeadLetterCounts: Sendable {
    private struct Key: Hashable {
        var reason: String
        var type: String
        var app: String?
        var queue: String?
    }

    /// Groups that are kept; letters of others count as one group, whose reason says so.
    package static let maxGroups = 1_000
    package static let others = "other reasons"
    private var counts: [Key: Int] = [:]

    package init() {}

    package mutating func add(_ entry: DeadLetterEntry) {
        var key = Key(reason: Self.general(entry.reason), type: entry.type, app: entry.app, queue: entry.queue)
        if counts[key] == nil, counts.count >= Self.maxGroups {
            key = Key(reason: Self.others, type: "", app: nil, queue: nil)
        }
        counts[key, default: 0] += 1
    }

    /// The most frequent first.
    package var groups: [DeadLetterGroup] {
        counts.map { key, count in
            DeadLetterGroup(reason: key.reason, type: key.type, app: key.app, queue: key.queue, count: count)
        }.sorted { ($1.count, $0.reason, $0.type, $0.app ?? "") < ($0.count, $1.reason, $1.type, $1.app ?? "") }
    }

    /// A reason without its numbers, which differ from letter to letter where the cause is one.
    static func general(_ reason: String) -> String {
        var text = ""
        var isInNumber = false
        for character in reason.prefix(300) {
            let isDigit = character.isASCII && character.isNumber
            if !isDigit { text.append(character) } else if !isInNumber { text.append("N") }
            isInNumber = isDigit
        }
        return text
    }
}

import DeviceSync

/// The app in flexible mode: cards in groups, of which users subscribe to some, and rules by which they see all groups or but three.
enum ViewWorld {
    static let app = "fire-views"

    struct Card: Equatable, Sendable {
        var group: String
        var text: String
        /// How often backends have raised it.
        var hits: Int
    }

    static let groups: Set<String> = ["g0", "g1", "g2", "g3", "g4"]
    /// The groups that everybody sees and writes at any time.
    static let common: Set<String> = ["g0", "g1", "g2"]

    static let classes = [
        ObjectSchemaDescription(
            "Card", primaryKey: PropertyDescription("_id", .string),
            properties: [
                PropertyDescription("group", .string), PropertyDescription("text", .string),
                PropertyDescription("hits", .int),
            ])
    ]

    static func query(_ groups: Set<String>) -> String {
        "group IN {" + groups.sorted().map { "'\($0)'" }.joined(separator: ", ") + "}"
    }

    /// Rules by which some groups can be read and written.
    static func rules(_ groups: Set<String>) -> String {
        let filter = #"{"group": {"$in": ["# + groups.sorted().map { "\"\($0)\"" }.joined(separator: ", ") + "]}}"
        return #"""
            {"queryable": {"global": ["group"]}, "defaultRoles": [{"name": "some", "apply_when": {}, "read": true,
             "write": true, "document_filters": {"read": \#(filter), "write": \#(filter)}}]}
            """#
    }
}

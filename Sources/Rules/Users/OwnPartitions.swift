import SyncModel

extension RulesDocument {
    /// The partitions that are a user's own: named by the user's id, the user may write to them, and somebody else may neither
    /// read nor write them, be the rest of what rules know of that person the same.
    package func ownPartitions(of user: RuleUser) -> [String] {
        var stranger = user
        // No id of a user has this form.
        stranger.id = "somebody else"
        stranger.identities = []
        let unknown = RuleUser(id: stranger.id)
        return Self.partitions(namedBy: user.id).filter { partition in
            partitionRights(of: user, partition: partition) == .readWrite
                && partitionRights(of: stranger, partition: partition) == .none
                && partitionRights(of: unknown, partition: partition) == .none
        }
    }

    /// Returns the partitions that a user's id names, as a text and as an object's id.
    private static func partitions(namedBy id: String) -> [String] {
        let text = JSONWriter.text(of: .string(id))
        guard id.utf8.count == 24,
            id.utf8.allSatisfy({
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
            })
        else { return [text] }
        return [text, JSONWriter.text(of: ["$oid": .string(id)])]
    }
}

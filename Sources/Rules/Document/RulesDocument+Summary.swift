import SyncModel

extension RulesDocument {
    /// What is in force for partition sync, in a sentence.
    package var summary: String {
        let said = partition.map { Self.sentence(of: $0) } ?? "nobody may read or write: there are no partition rules"
        return generated == "upgrade" ? "\(said) (made by an upgrade, so that nobody was shut out)" : said
    }

    /// Of an app that has no rules at all.
    package static let summaryOfNone = "nobody may read or write: the app has no rules yet"

    private static func sentence(of partition: Partition) -> String {
        let parts: JSONValue = ["read": partition.read.source, "write": partition.write.source]
        let sentences = [
            "open": "every user may read and write every partition",
            "own": "every user may read and write the partition that is named by the user's id, and no other",
            "read": "every user may read every partition, nobody may write", "none": "nobody may read or write",
        ]
        for (name, sentence) in sentences
        where RuleTemplates.named(name, .partition)?.expand([:]).json == parts {
            return sentence
        }
        return "who may read and write a partition is decided by rules of the app's own"
    }
}

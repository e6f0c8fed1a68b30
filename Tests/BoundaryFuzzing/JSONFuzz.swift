import MergeConformance
import Rules
import SyncModel
import SyncProtocol

enum JSONFuzz {
    static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
        guard let value = try? JSONParser.parse(bytes) else { return }
        for asciiOnly in [false, true] {
            let written = JSONWriter.bytes(of: value, asciiOnly: asciiOnly)
            let again = try? JSONParser.parse(written)
            try BrokenLaw.check(again == value, "what was written reads as another value")
            try BrokenLaw.check(
                again.map { JSONWriter.bytes(of: $0, asciiOnly: asciiOnly) } == written,
                "written again it is another text")
        }
        try check(partition: String(decoding: bytes, as: UTF8.self))
        try check(rule: RuleValue(value))
    }

    private static func check(partition path: String) throws(BrokenLaw) {
        guard let value = try? PartitionValue.parse(path: path) else { return }
        for text in [value.path, value.canonicalText] {
            try BrokenLaw.check(
                (try? PartitionValue.parse(path: text)) == value, "a partition's own name names another one")
        }
        // Rules look at the partition that the realm's name has.
        try BrokenLaw.check(RuleValue(partition: value.canonicalText) != nil, "rules cannot read a partition's name")
    }

    private static func check(rule value: RuleValue) throws(BrokenLaw) {
        try BrokenLaw.check(RuleValue(value.json) == value, "a rule's value is another one once it is written")
    }
}

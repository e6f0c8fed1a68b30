import SyncModel
import TestSupport
import Testing

@testable import Rules

@Suite struct OwnPartitionsTests {
    private let user = RuleUser(id: "65f0c0ffee65f0c0ffee65f0", customData: ["team": .string("red")])

    private func own(_ partition: JSONValue) throws -> [String] {
        let check = RulesCheck(["partition": partition])
        return try #require(check.document).ownPartitions(of: user)
    }

    @Test func partitionsOnlyTheUserMayOpenAreItsOwn() throws {
        try expectEqual(own("own"), ["\"\(user.id)\""])
        try expectEqual(own("ownOrPublic"), ["\"\(user.id)\""])
        try expectTrue(own("open").isEmpty && own("none").isEmpty && own("read").isEmpty)
        // Everybody of the user's team may read it.
        let shared: JSONValue = [
            "read": ["%%user.custom_data.team": "red"], "write": ["%%user.id": "%%partition"],
        ]
        try expectTrue(own(shared).isEmpty)
    }
}

import MergeConformance
import Rules
import SyncModel

enum RulesFuzz {
    private static let users = [
        RuleUser(id: "65f0c0ffee65f0c0ffee65f0"),
        RuleUser(
            id: "65f0c0ffee65f0c0ffee65f1", kind: .server, data: ["email": .string("a@example.net")],
            customData: [
                "team": .string("red"), "isAdmin": .bool(true), "limit": .number(RuleNumber(7)),
                "readPartitions": .array([.string("red"), .null, .object(["of": .string("red")])]),
            ],
            identities: [.init(id: "a", providerType: "local-userpass", data: ["email": .string("a@example.net")])]),
    ]
    private static let partitions = ["\"red\"", "\"65f0c0ffee65f0c0ffee65f0\"", "{\"$numberLong\":\"7\"}", "null"]
    private static let schema = RulesSchema(classes: ["Dog": ["_id": "int", "owner_id": "string", "team": "string?"]])

    static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
        try check(bytes)
        // The same as an expression in each of its places.
        let expression = bytes
        try check(Array("{\"partition\":{\"read\":".utf8) + expression + Array(",\"write\":false}}".utf8))
        try check(
            Array("{\"queryable\":{\"global\":[\"team\"]},\"defaultRoles\":[{\"name\":\"a\",\"apply_when\":".utf8)
                + expression + Array(",\"document_filters\":{\"read\":".utf8) + expression
                + Array(",\"write\":true},\"read\":true,\"write\":true}]}".utf8))
    }

    private static func check(_ bytes: [UInt8]) throws(BrokenLaw) {
        let check = RulesCheck(bytes, schema: schema, app: RulesApp(syncMode: .flexible, emailsAreConfirmed: false))
        guard let document = check.document else {
            return try BrokenLaw.check(!check.errors.isEmpty, "rules are refused without a reason")
        }
        let again = RulesCheck(document.bytes).document
        try BrokenLaw.check(again?.bytes == document.bytes, "rules are others once they are stored")
        for user in users {
            for partition in partitions {
                let rights = document.partitionRights(of: user, partition: partition)
                let stored = again?.partitionRights(of: user, partition: partition)
                try BrokenLaw.check(stored == rights, "stored rules decide otherwise")
                let explained = document.explainPartition(partition, for: user).rights
                try BrokenLaw.check(explained == "\(rights)", "explained as \(explained), enforced as \(rights)")
            }
            for name in ["Dog", "Cat"] {
                let explained = document.explainRole(ofClass: name, for: user)
                let chosen = document.roleChoice(ofClass: name, for: user).role?.name
                try BrokenLaw.check(explained.role == chosen, "another role is explained than is chosen")
            }
        }
        for mode in SyncMode.allCases { _ = (document.summary(for: mode), document.isForEveryUser(in: mode)) }
    }
}

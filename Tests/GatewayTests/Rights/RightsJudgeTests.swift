import Messages
import Rules
import Storage
import StorageSQLite
import StorageSupport
import SyncModel
import TestSupport
import Testing

@testable import Gateway

/// What a user may do, by the rules and by how the user has logged in.
@Suite struct RightsJudgeTests {
    private static let movedRules = #"""
        {"partition": {"read": true, "write": {"%%user.id": "%%partition"}}, "queryable": {"global": ["_partition"]},
         "defaultRoles": "readAndWriteAll"}
        """#

    private func judged(_ rules: String, _ wish: RightsWish, mode: SyncMode = .flexible) async throws -> Judgement {
        let store = try await SQLiteStores.inMemory().control()
        try await store.insert(AppRecord(id: "tasks", syncMode: mode, createdAt: 1))
        try await store.setRules(rules, of: "tasks")
        for user in ["a", "b"] {
            try await store.insert(
                UserRecord(app: "tasks", id: user, identities: [], email: nil, isDisabled: false, createdAt: 1))
        }
        let app = try #require(try await store.app("tasks"))
        let judge = RightsJudge(store: store, rules: AppRules(store: store))
        guard case .judged(let first) = try await judge.judge(app, wish) else { throw HarnessError("no user") }
        // The same without a reading.
        guard case .judged(let again)? = judge.remembered(app, wish) else {
            throw HarnessError("nothing is remembered")
        }
        expectTrue(again == first && first.session.usersVersion == app.usersVersion)
        return first
    }

    /// The partition that a client came from is only the client's word.
    @Test(
        arguments: [
            (#""a""#, #""a""#), (#""b""#, nil), (nil, nil), ("no partition", nil),
        ] as [(String?, String?)])
    func homePartitionCountsOnlyWhereItsUserMayWrite(said: String?, taken: String?) async throws {
        let judgement = try await judged(
            Self.movedRules, RightsWish(user: "a", partition: "", home: said))
        expectTrue(judgement.home == taken && judgement.session.rights == .readWrite)
    }

    @Test func whereThereAreNoPartitionRulesTheRolesDecideAlone() async throws {
        let wish = RightsWish(user: "a", partition: "", home: #""b""#)
        try await expectEqual(judged(#"{"defaultRoles": "readAndWriteAll"}"#, wish).home, #""b""#)
        try await expectTrue(judged(#"{"partition": "none", "defaultRoles": "readAndWriteAll"}"#, wish).home == nil)
        try await expectTrue(judged(#"{"partition": "read", "defaultRoles": "readAndWriteAll"}"#, wish).home == nil)
    }

    @Test(arguments: [RuleUser.Kind.normal, .server])
    func rulesTellServerUsersFromNormalOnes(kind: RuleUser.Kind) async throws {
        let partition = try await judged(
            #"{"partition": {"read": true, "write": {"%%user.type": "server"}}}"#,
            RightsWish(user: "a", kind: kind, partition: #""p""#), mode: .partition)
        expectEqual(partition.session.rights, (kind == .server ? .readWrite : .read))
        let roles = try await judged(
            #"{"classes": {"C": [{"name": "programs", "apply_when": {"%%user.type": "server"}, "read": true, "write": true, "document_filters": {"read": true, "write": true}}]}}"#,
            RightsWish(user: "a", kind: kind, partition: ""))
        let text = try #require(roles.roles)
        let closed = try #require(ClosedRoles(text: text))
        expectEqual((closed.role(ofClass: "C") != nil), (kind == .server))
    }
}

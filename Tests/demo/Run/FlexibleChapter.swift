import DeviceSync
import Foundation
import LocalCluster
import Synchronization

/// Three users of an app in flexible mode: each has what is theirs and what is shared, as subscriptions and roles say.
struct FlexibleChapter {
    static let title = "Three users of an app in flexible mode: their own tasks, and a list that they share"
    private static let app = "lists"
    private static let classes = [
        ObjectSchemaDescription(
            "Item", primaryKey: PropertyDescription("_id", .string),
            properties: [
                PropertyDescription("owner", .string), PropertyDescription("title", .string),
                PropertyDescription("shared", .bool),
            ])
    ]

    /// One user with a realm of their own.
    private struct Person {
        let name: String
        let user: User
        let realm: Realm

        var items: Set<String> { Set(realm.freeze().dynamicObjects("Item").compactMap { $0["_id"] as? String }) }

        func create(_ id: String, owner: String? = nil, isShared: Bool = false) throws {
            try realm.write {
                _ = realm.dynamicCreate(
                    "Item",
                    value: ["_id": id, "owner": owner ?? user.id, "title": "made by \(name)", "shared": isShared])
            }
        }
    }

    let cluster: LocalCluster
    let narrator: Narrator

    func run(_ report: inout Report) async throws {
        try await cluster.operate("apps", "create", Self.app, "--sync-mode", "flexible", "--rules", "open")
        try await setRules(readable: #"{"$or": [{"owner": "%%user.id"}, {"shared": true}]}"#)
        try await CustomToken.allow(in: Self.app, of: cluster)
        let rejected = Mutex<[String]>([])
        let (anna, ben, cleo) = try await people { message in rejected.withLock { $0.append(message) } }

        for person in [anna, ben, cleo] { try person.create("\(person.name)'s task") }
        try anna.create("the list", isShared: true)
        await check("each of three users has their own task and the shared list", &report) {
            for person in [anna, ben, cleo] { try Self.expect(person, ["\(person.name)'s task", "the list"]) }
        }

        try cleo.create("forged", owner: anna.user.id)
        await check("a task that cleo makes in anna's name is undone, and cleo hears why", &report) {
            try Self.expect(cleo, ["cleo's task", "the list"])
            guard rejected.withLock({ $0.contains { $0.contains("forged") && $0.contains("not allowed") } }) else {
                throw LocalClusterError("nobody was told")
            }
            try Self.expect(anna, ["anna's task", "the list"])
        }

        let subscriptions = ben.realm.subscriptions
        try await subscriptions.update { subscriptions.first(named: "all")?.updateQuery(to: "shared == %@", true) }
        await check("ben subscribes to the shared list alone, and his task leaves his copy", &report) {
            try Self.expect(ben, ["the list"])
        }
        try await subscriptions.update {
            subscriptions.append(QuerySubscription("Item", name: "own", where: "owner == %@", ben.user.id))
        }
        await check("ben subscribes to his own tasks besides, and has it again", &report) {
            try Self.expect(ben, ["ben's task", "the list"])
        }

        try await setRules(readable: #"{"owner": "%%user.id"}"#)
        narrator.say("the rules are changed: what is shared is its owner's alone")
        await check("with the new rules ben and cleo lose the list, and anna keeps it", &report) {
            try Self.expect(anna, ["anna's task", "the list"])
            try Self.expect(ben, ["ben's task"])
            try Self.expect(cleo, ["cleo's task"])
        }
    }

    // MARK: Users

    private func people(
        hearing refused: @escaping @Sendable (String) -> Void
    ) async throws -> (anna: Person, ben: Person, cleo: Person) {
        Realm.Configuration.baseDirectory = URL(fileURLWithPath: cluster.folder + "/clients/lists", isDirectory: true)
        let app = App(id: Self.app, configuration: AppConfiguration(baseURL: cluster.gatewayURL))
        app.syncManager.callbackQueue = DispatchQueue(label: "demo.lists")
        app.syncManager.errorHandler = { error, _ in
            guard let error = error as? SyncError, error.code == .writeRejected else { return }
            for write in error.compensatingWriteInfo ?? [] {
                refused("\(write.primaryKey.stringValue ?? ""): \(write.reason)")
            }
        }
        func person(_ name: String) async throws -> Person {
            let user = try await app.login(credentials: .jwt(token: try CustomToken.sign(user: name, of: Self.app)))
            var configuration = user.flexibleSyncConfiguration(initialSubscriptions: { subscriptions in
                subscriptions.append(QuerySubscription("Item", name: "all"))
            })
            configuration.dynamicSchema = Self.classes
            let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
            return Person(name: name, user: user, realm: realm)
        }
        return (try await person("anna"), try await person("ben"), try await person("cleo"))
    }

    /// - Parameter filter: of what a user may read; what is a user's own may be written.
    private func setRules(readable filter: String) async throws {
        let rules = #"""
            {"queryable": {"global": ["owner", "shared"]}, "defaultRoles": [{"name": "member", "apply_when": {}, "read": true,
             "write": true, "document_filters": {"read": \#(filter), "write": {"owner": "%%user.id"}}}]}
            """#
        let file = "\(cluster.folder)/lists.json"
        try Data(rules.utf8).write(to: URL(fileURLWithPath: file))
        try await cluster.operate("rules", "set", Self.app, file)
    }

    // MARK: Checks

    private static func expect(_ person: Person, _ items: Set<String>) throws {
        guard person.items == items else {
            throw LocalClusterError("\(person.name) has \(person.items.sorted()), expected \(items.sorted())")
        }
    }

    /// Waits until something holds.
    private func check(_ name: String, _ report: inout Report, _ body: () async throws -> Void) async {
        do {
            try await LocalCluster.retrying("it holds", upTo: .seconds(60), body)
            report.check(name, true)
            narrator.say(name)
        } catch {
            report.check(name, false, "\(error)")
        }
    }
}

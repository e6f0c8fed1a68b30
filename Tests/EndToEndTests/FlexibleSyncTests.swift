import DeviceSync
import Foundation
import LocalCluster
import Synchronization
import TestSupport
import Testing

extension SharedClusterTests {
    /// The SDK in flexible mode: three users of one app, each of whom has what the subscriptions select and the roles allow.
    @Suite struct FlexibleSyncTests {
        /// Everybody reads and writes what is theirs and what is shared.
        private static let rules = rules(for: #"{"$or": [{"owner": "%%user.id"}, {"shared": true}]}"#)

        /// - Parameter filter: of what may be read and written.
        private static func rules(for filter: String) -> String {
            #"""
            {"queryable": {"global": ["owner", "shared", "name"]}, "defaultRoles": [{"name": "own", "apply_when": {}, "read": true,
             "write": true, "document_filters": {"read": \#(filter), "write": \#(filter)}}]}
            """#
        }

        private static let schema = [
            ObjectSchemaDescription(
                "Item", primaryKey: PropertyDescription("_id", .string),
                properties: [
                    PropertyDescription("owner", .string), PropertyDescription("name", .string),
                    PropertyDescription("shared", .bool), PropertyDescription("secret", .string, isOptional: true),
                ])
        ]

        private final class Person: Sendable {
            let user: User
            let realm: Realm

            init(_ cluster: LocalCluster, with classes: [ObjectSchemaDescription] = []) async throws {
                user = try await Device.user(of: cluster)
                var configuration = user.flexibleSyncConfiguration(initialSubscriptions: { subscriptions in
                    subscriptions.append(QuerySubscription("Item", name: "all"))
                })
                configuration.dynamicSchema = FlexibleSyncTests.schema + classes
                realm = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
            }

            var subscriptions: SyncSubscriptionSet { realm.subscriptions }
            var ids: Set<String> { Set(realm.freeze().dynamicObjects("Item").compactMap { $0["_id"] as? String }) }

            func session() throws -> SyncSession {
                guard let session = realm.syncSession else { throw LocalClusterError("there is no session") }
                return session
            }

            func create(_ id: String, owner: String? = nil, name: String = "thing", isShared: Bool = false) throws {
                try realm.write {
                    _ = realm.dynamicCreate(
                        "Item", value: ["_id": id, "owner": owner ?? user.id, "name": name, "shared": isShared])
                }
            }

            func set(_ id: String, _ property: String, _ value: String) throws {
                try realm.write { realm.dynamicObject(ofType: "Item", forPrimaryKey: id)?[property] = value }
            }

            func upload() async throws { try await session().wait(for: .upload) }

            func eventually(has ids: Set<String>) async throws {
                try await LocalCluster.retrying("the realm has \(ids.sorted())") {
                    guard self.ids == ids else { throw LocalClusterError("it has \(self.ids.sorted())") }
                }
            }
        }

        /// What `campaigns show` says of a reset.
        private struct Campaign: Decodable {
            struct Counts: Decodable {
                var found: Int
                var recovered: Int
                var pending: Int
            }

            var state: String
            var counts: Counts
        }

        private struct Started: Decodable { var campaign: String }

        @Test func oneClientRealmCanBeResetByAnOperator() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp("--sync-mode", "flexible")
            let one = try await Person(cluster)
            let other = try await Person(cluster)
            try one.create("a")
            try await one.upload()
            // The first ident of a realm is 2; the server is 1.
            let started = try await cluster.operateJSON(
                Started.self, "sync", "reset", cluster.app, "--yes", "--client-file", "2")
            try await LocalCluster.retrying("the campaign has ended") {
                let campaign = try await cluster.operateJSON(Campaign.self, "campaigns", "show", started.campaign)
                guard campaign.state == "closed", campaign.counts.found == 1, campaign.counts.recovered == 1 else {
                    throw LocalClusterError("\(campaign)")
                }
            }
            try one.create("b")
            try await one.upload()
            try await other.eventually(has: ["a", "b"])
            expectEqual(one.ids, ["a", "b"])
        }

        @Test func aCopyOfAnotherSchemaVersionIsUploadedAndMadeAnew() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp("--sync-mode", "flexible")
            try await cluster.operate("apps", "set", cluster.app, "--schema-versions", "1-2")
            let user = try await Device.user(of: cluster)
            let heard = Mutex<[SyncError]>([])
            App(id: cluster.app).syncManager.errorHandler = { error, _ in
                if let error = error as? SyncError { heard.withLock { $0.append(error) } }
            }
            func open(_ version: UInt64) async throws -> Realm {
                var configuration = user.flexibleSyncConfiguration(initialSubscriptions: { subscriptions in
                    subscriptions.append(QuerySubscription("Item", name: "all"))
                })
                configuration.dynamicSchema = Self.schema
                configuration.schemaVersion = version
                return try await Realm(configuration: configuration, downloadBeforeOpen: .once)
            }
            func writeOffline() async throws {
                let realm = try await open(1)
                try await realm.syncSession?.wait(for: .upload)
                realm.syncSession?.suspend()
                try realm.write {
                    _ = realm.dynamicCreate("Item", value: ["_id": "offline", "owner": "", "name": "", "shared": true])
                }
            }
            try await writeOffline()
            try await LocalCluster.retrying("the file is closed") { _ = try await open(2) }
            let realm = try await open(2)
            expectTrue(realm.dynamicObjects("Item").map { $0["_id"] as? String } == ["offline"])
            expectTrue(realm.subscriptions.count == 1 && heard.withLock { $0.isEmpty })

            // A client whose build is too old hears so at once, and its data stays.
            try await cluster.operate("apps", "set", cluster.app, "--schema-versions", "3")
            try await LocalCluster.retrying("the session is refused") {
                guard heard.withLock({ $0.contains { $0.message.contains("schema versions 3") } }) else {
                    throw LocalClusterError("nothing was said")
                }
            }
            expectEqual(realm.dynamicObjects("Item").count, 1)
        }

        /// A class's properties and their types, as `schema versions --json` says them.
        private struct Schema: Codable {
            struct Class: Codable {
                struct Property: Codable {
                    var name: String
                    var type: String
                }

                var name: String
                var type: String
                var properties: [Property]
            }

            var classes: [Class]
        }

        /// Builds from before and after a change that breaks the schema, both connected: each has its own, and writes what the other keeps.
        @Test func aBreakingSchemaServesBuildsFromBeforeAndAfterAtOnce() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp("--sync-mode", "flexible")
            func open(_ version: UInt64, _ schema: [ObjectSchemaDescription]) async throws -> Realm {
                let user = try await Device.user(of: cluster)
                var configuration = user.flexibleSyncConfiguration(initialSubscriptions: { subscriptions in
                    subscriptions.append(QuerySubscription("Item", name: "all"))
                })
                configuration.dynamicSchema = schema
                configuration.schemaVersion = version
                return try await Realm(configuration: configuration, downloadBeforeOpen: .once)
            }
            func write(_ realm: Realm, _ id: String, _ property: String, _ value: Any?) async throws {
                try realm.write { realm.dynamicObject(ofType: "Item", forPrimaryKey: id)?[property] = value }
                try await realm.syncSession?.wait(for: .upload)
            }
            let old = try await open(0, Self.schema)
            try old.write {
                _ = old.dynamicCreate(
                    "Item", value: ["_id": "a", "owner": "", "name": "thing", "shared": true, "secret": "x"])
            }
            try await old.syncSession?.wait(for: .upload)

            // The name becomes a number, and the secret goes.
            var schema = try await cluster.operateJSON(
                Schema.self, "schema", "versions", "--app", cluster.app, "--version", "0")
            expectEqual(schema.classes.map(\.name), ["Item"])
            schema.classes[0].properties.removeAll { $0.name == "secret" }
            for index in schema.classes[0].properties.indices where schema.classes[0].properties[index].name == "name" {
                schema.classes[0].properties[index].type = "int"
            }
            let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).json")
            defer { try? FileManager.default.removeItem(at: file) }
            try JSONEncoder().encode(schema).write(to: file)
            try await cluster.operate("schema", "stage", "--app", cluster.app, file.path)
            try await cluster.operate("schema", "deploy", "--app", cluster.app)

            let new = try await open(
                1,
                [
                    ObjectSchemaDescription(
                        "Item", primaryKey: PropertyDescription("_id", .string),
                        properties: [
                            PropertyDescription("owner", .string), PropertyDescription("name", .int),
                            PropertyDescription("shared", .bool),
                        ])
                ])
            expectTrue(new.dynamicObjects("Item").map { $0["name"] as? Int } == [0])
            try await write(new, "a", "name", 7)
            try await write(new, "a", "owner", "new")
            try await write(old, "a", "name", "renamed")
            try await LocalCluster.retrying("the build from before has the owner and its own name") {
                let item = old.freeze().dynamicObject(ofType: "Item", forPrimaryKey: "a")
                guard item?["owner"] as? String == "new", item?["name"] as? String == "renamed",
                    item?["secret"] as? String == "x"
                else { throw LocalClusterError("not yet") }
            }
            try await LocalCluster.retrying("the build from after keeps its number") {
                _ = try await new.syncSession?.wait(for: .download)
                guard new.freeze().dynamicObject(ofType: "Item", forPrimaryKey: "a")?["name"] as? Int == 7 else {
                    throw LocalClusterError("not yet")
                }
            }
            // A verdict that is bad is an exit code.
            try await cluster.operate("realms", "verify", "--app", cluster.app)
        }

        @Test func threeUsersHaveWhatIsTheirsAndWhatIsShared() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp("--sync-mode", "flexible")
            try await cluster.setRules(Self.rules, of: cluster.app)
            let people = [try await Person(cluster), try await Person(cluster), try await Person(cluster)]
            let (anna, ben, cleo) = (people[0], people[1], people[2])
            // One app in this process: its handler hears of everybody's errors, with the session.
            let heard = Mutex<[(SyncError, String)]>([])
            App(id: cluster.app).syncManager.errorHandler = { error, session in
                guard let error = error as? SyncError else { return }
                heard.withLock { $0.append((error, session?.parentUser()?.id ?? "")) }
            }

            try anna.create("anna")
            try ben.create("ben")
            try cleo.create("cleo")
            try anna.create("list", name: "groceries", isShared: true)
            try await anna.eventually(has: ["anna", "list"])
            try await ben.eventually(has: ["ben", "list"])
            try await cleo.eventually(has: ["cleo", "list"])
            try ben.set("list", "name", "more groceries")
            try await LocalCluster.retrying("all have the new name") {
                for person in people {
                    let list = person.realm.dynamicObject(ofType: "Item", forPrimaryKey: "list")
                    guard list?["name"] as? String == "more groceries" else { throw LocalClusterError("not yet") }
                }
            }

            // What the role does not allow is undone, and its author hears why.
            try cleo.create("forged", owner: anna.user.id)
            try await cleo.upload()
            try await LocalCluster.retrying("the write is undone") {
                guard heard.withLock({ !$0.isEmpty }) else { throw LocalClusterError("nothing was said") }
            }
            let (error, author) = try #require(heard.withLock { $0.first })
            expectTrue(error.code == .writeRejected && author == cleo.user.id)
            expectEqual(error.compensatingWriteInfo?.first?.objectType, "Item")
            expectEqual(error.compensatingWriteInfo?.first?.primaryKey.stringValue, "forged")
            expectEqual(error.compensatingWriteInfo?.first?.reason, #"write to "forged" in table "Item" not allowed"#)
            try await cleo.eventually(has: ["cleo", "list"])
            expectEqual(anna.ids, ["anna", "list"])

            // A query change sends the difference.
            let subscriptions = ben.subscriptions
            try await subscriptions.update {
                subscriptions.first(named: "all")?.updateQuery(to: "shared == %@", true)
            }
            expectEqual(ben.ids, ["list"])
            try await subscriptions.update {
                subscriptions.append(QuerySubscription("Item", where: "owner == %@", ben.user.id))
            }
            expectEqual(ben.ids, ["ben", "list"])
            try await ben.realm.dynamicObjects("Item").filter("name == 'nothing'").subscribe(
                name: "nothing", timeout: 60)
            expectEqual(subscriptions.map(\.name), ["all", nil, "nothing"])

            // A query that the server refuses leaves the set before it in force.
            let refused = await #expect(throws: Realm.Error.self) {
                try await subscriptions.update {
                    subscriptions.append(QuerySubscription("Item", name: "bad", where: "secret == 'x' SORT(name ASC)"))
                }
            }
            expectTrue(refused?.code == .subscriptionFailed && refused?.message.contains("Item") == true)
            try anna.create("second", name: "errands", isShared: true)
            try await ben.eventually(has: ["ben", "list", "second"])
            try await subscriptions.update { subscriptions.remove(named: "bad") }
            expectEqual(subscriptions.state, .complete)

            // Roles change while everybody is connected: what is shared can be read no longer by those whose it is not.
            try await cluster.setRules(Self.rules(for: #"{"owner": "%%user.id"}"#), of: cluster.app)
            try await ben.eventually(has: ["ben"])
            try await cleo.eventually(has: ["cleo"])
            try await anna.eventually(has: ["anna", "list", "second"])
            try await cluster.setRules(Self.rules, of: cluster.app)
            try await ben.eventually(has: ["ben", "list", "second"])
        }

        @Test func asymmetricObjectsStayAtTheServer() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp("--sync-mode", "flexible")
            try await cluster.setRules(Self.rules, of: cluster.app)
            let event = ObjectSchemaDescription(
                "Event", primaryKey: PropertyDescription("_id", .string),
                properties: [
                    PropertyDescription("owner", .string), PropertyDescription("name", .string),
                    PropertyDescription("shared", .bool),
                ], isAsymmetric: true)
            let anna = try await Person(cluster, with: [event])
            let ben = try await Person(cluster, with: [event])
            let heard = Mutex<[SyncError]>([])
            App(id: cluster.app).syncManager.errorHandler = { error, _ in
                guard let error = error as? SyncError else { return }
                heard.withLock { $0.append(error) }
            }
            func send(_ id: String, of owner: User) throws {
                try anna.realm.write {
                    _ = anna.realm.dynamicCreate("Event", value: ["_id": id, "owner": owner.id, "name": "seen"])
                }
            }
            // No subscription is needed; there is nothing to read.
            try send("first", of: anna.user)
            expectTrue(anna.realm.dynamicObjects("Event").isEmpty)
            try await anna.upload()
            try send("forged", of: ben.user)
            try await LocalCluster.retrying("the write is refused") {
                guard heard.withLock({ !$0.isEmpty }) else { throw LocalClusterError("nothing was said") }
            }
            let error = try #require(heard.withLock { $0.first })
            expectTrue(error.code == .writeRejected && !error.isFatal)
            expectEqual(error.compensatingWriteInfo?.map(\.primaryKey.stringValue), ["forged"])
            // Both go on.
            try send("second", of: anna.user)
            try anna.create("list", isShared: true)
            try await anna.upload()
            try await ben.eventually(has: ["list"])
            expectTrue(ben.realm.dynamicObjects("Event").isEmpty && anna.realm.dynamicObjects("Event").isEmpty)
            let exported = try await cluster.operate("realms", "export", "--app", cluster.app, "--flexible")
            let events = exported.split(separator: "\n").filter { $0.contains(#""class":"Event""#) }
            expectTrue(events.count == 2 && events[0].contains("first") && events[1].contains("second"))
            try await cluster.operate("realms", "verify", "--app", cluster.app)
            expectEqual(heard.withLock(\.count), 1)
        }

        @Test func aResetKeepsSubscriptionsAndRecoversWrites() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp("--sync-mode", "flexible")
            try await cluster.setRules(Self.rules, of: cluster.app)
            let anna = try await Person(cluster)
            let ben = try await Person(cluster)
            try anna.create("anna")
            try anna.create("list", isShared: true)
            try await anna.upload()
            try await ben.eventually(has: ["list"])
            let session = try ben.session()
            session.suspend()
            try await LocalCluster.retrying("the session rests") {
                guard session.state == .inactive else { throw LocalClusterError("it is \(session.state)") }
            }
            try ben.create("offline")
            let subscriptions = ben.subscriptions
            subscriptions.update(
                { subscriptions.first(named: "all")?.updateQuery(to: "shared == true OR name == 'late'") },
                onComplete: nil)
            try ben.create("late", name: "late")
            try await cluster.operate("sync", "terminate", cluster.app, "--yes", "--enable")
            try anna.create("meanwhile", isShared: true)
            session.resume()
            try await subscriptions.wait()
            try await ben.upload()
            try await ben.eventually(has: ["late", "list", "meanwhile"])
            expectTrue(subscriptions.count == 1 && subscriptions.state == .complete)
            let other = try await Person(cluster)
            try await other.eventually(has: ["list", "meanwhile"])
            try await anna.eventually(has: ["anna", "list", "meanwhile"])
            // What was written offline is with the server.
            try await subscriptions.update {
                subscriptions.first(named: "all")?.updateQuery(toType: DynamicObject.self)
            }
            expectEqual(ben.ids, ["late", "list", "meanwhile", "offline"])
        }
    }
}

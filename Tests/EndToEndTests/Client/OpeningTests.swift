import DeviceSync
import Foundation
import LocalCluster
import Synchronization
import TestSupport
import Testing

extension SharedClusterTests {
    /// Opening, copying and reopening realms of a running cluster.
    @MainActor @Suite struct OpeningTests {
        @Test(arguments: [true, false])
        func copiesThatWereChangedApartEndEqualWhoeverComesBackFirst(oneIsFirst: Bool) async throws {
            let app = try await SharedCluster.cluster.newApp()
            let one = try await Phone(of: app)
            let other = try await Phone(of: app)
            try one.add("changed", "deleted")
            try await one.upload()
            try await other.download()
            try await one.suspend()
            try await other.suspend()
            try one.change("changed") { $0.text = "by one" }
            try one.delete("deleted")
            try one.add("one")
            try other.change("changed") { $0.count = 5 }
            try other.change("deleted") { $0.text = "in vain" }
            try other.add("other")
            for phone in oneIsFirst ? [one, other] : [other, one] {
                try phone.session.resume()
                try await phone.upload()
            }
            try await one.download()
            try await other.download()
            expectEqual(one.contents, ["changed: by one, 5", "one: first, 1", "other: first, 1"])
            expectEqual(other.contents, one.contents)
        }

        @Test func anOpeningWaitsForTheServerNeverOnceOrAlways() async throws {
            let app = try await SharedCluster.cluster.newApp()
            let writer = try await Phone(of: app)
            try writer.add("a")
            try await writer.upload()

            // Without waiting: the data come as a change.
            let early = try await Phone.user(of: app)
            let phone = try await Phone(early, early.configuration(partitionValue: "home"), downloadBeforeOpen: .never)
            let seen = Mutex<[String]>([])
            let token = phone.chores.observe(on: .main) { change in
                guard case .update(let chores, _, _, _) = change else { return }
                let ids = chores.map(\._id)
                seen.withLock { $0 = ids }
            }
            try await eventually("the data come") { phone.ids == ["a"] }
            token.invalidate()

            // Once: the first opening has the data; later ones take what is there, here behind the server's back.
            let user = try await Phone.user(of: app)
            let configuration = user.configuration(partitionValue: "home")
            func open(_ behavior: Realm.OpenBehavior) async throws -> [String] {
                let phone = try await Phone(user, configuration, downloadBeforeOpen: behavior)
                defer { phone.realm.syncSession?.suspend() }
                return phone.ids
            }
            try await expectEqual(open(.once), ["a"])
            try writer.add("b")
            try await writer.upload()
            // Always: at each opening, also where the session was suspended.
            try await expectEqual(open(.always), ["a", "b"])
        }

        @Test func aFirstLoginNeedsTheServerAndCachesNobodyWithoutOne() async throws {
            let port = FreePort.next()
            let app = App(
                id: try await SharedCluster.cluster.newApp(),
                // A person is told at once, and not when the time for a request is over: that is longer than this
                // suite may take.
                configuration: AppConfiguration(baseURL: "http://127.0.0.1:\(port)", defaultRequestTimeoutMS: 3_600_000)
            )
            await #expect(throws: AppError.self) {
                _ = try await app.login(credentials: .emailPassword(email: "a@example.net", password: "correct horse"))
            }
            expectTrue(app.currentUser == nil && app.allUsers.isEmpty)
        }

        @Test func aRealmInMemoryLeavesNoFileAndIsDownloadedAnew() async throws {
            let app = try await SharedCluster.cluster.newApp()
            let writer = try await Phone(of: app)
            try writer.add("a")
            try await writer.upload()
            let user = try await Phone.user(of: app)
            var configuration = user.configuration(partitionValue: "home")
            configuration.inMemoryIdentifier = "memory-\(app)"
            let folder = Realm.Configuration.baseDirectory.appendingPathComponent("mongodb-realm/\(app)/\(user.id)")
                .path
            func files() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] }
            func use() async throws {
                let first = try await Phone(user, configuration, downloadBeforeOpen: .always)
                let second = try await Phone(user, configuration, downloadBeforeOpen: .never)
                expectTrue(first.ids == ["a"] && second.ids == ["a"])
                try first.add("b")
                expectEqual(second.ids, ["a", "b"])
                try await second.upload()
                expectTrue(files().isEmpty)
            }
            try await use()
            // The store goes with its last handle, and with it what the server knew this client by.
            struct StoredRealm: Decodable {
                struct File: Decodable { var user: String }
                var files: [File]
            }
            let again = try await Phone(user, configuration, downloadBeforeOpen: .always)
            expectTrue(again.ids == ["a", "b"] && files().isEmpty)
            let stored = try await SharedCluster.cluster.operateJSON(
                StoredRealm.self, "realms", "show", "--app", app, "--realm", "home")
            expectEqual(stored.files.count { $0.user == user.id }, 2)
        }

        @Test func aCopyForAnotherUserBeginsWithTheSameTasksAndGoesItsOwnWay() async throws {
            let app = try await SharedCluster.cluster.newApp("--sync-mode", "flexible")
            try await SharedCluster.cluster.operate("rules", "set", app, try await Self.rulesFile())
            func configuration(_ user: User) -> Realm.Configuration {
                var configuration = user.flexibleSyncConfiguration(initialSubscriptions: { subscriptions in
                    subscriptions.append(QuerySubscription<Chore>(name: "frodo's") { $0.owner == "Frodo" })
                })
                configuration.objectTypes = [Chore.self]
                return configuration
            }
            let frodo = try await Phone.user(of: app)
            let frodos = try await Phone(frodo, configuration(frodo), downloadBeforeOpen: .always)
            try frodos.add("ring", "second breakfast", "ferry", owner: "Frodo")
            try await frodos.upload()
            try await frodos.download()

            let sam = try await Phone.user(of: app)
            var samsConfiguration = configuration(sam)
            samsConfiguration.fileURL = Realm.Configuration.baseDirectory.appendingPathComponent("copied-\(app).realm")
            try frodos.realm.writeCopy(configuration: samsConfiguration)
            #expect(throws: Realm.Error.self) { try frodos.realm.writeCopy(configuration: samsConfiguration) }
            let sams = try await Phone(sam, samsConfiguration, downloadBeforeOpen: .never)
            expectTrue(sams.contents == frodos.contents && sams.ids.count == 3)
            let subscriptions = sams.realm.subscriptions
            try await subscriptions.update {
                subscriptions.append(QuerySubscription<Chore>(name: "sam's") { $0.owner == "Sam" })
            }
            try sams.add("watch Gollum", owner: "Sam")
            expectEqual(sams.ids.count, 4)
            try await sams.upload()
            try await frodos.download()
            expectEqual(frodos.ids.count, 3)
        }

        @Test func aLocalRealmsObjectsCanBeginToSyncAndASyncedOnesCanStop() async throws {
            let app = try await SharedCluster.cluster.newApp()
            let user = try await Phone.user(of: app)
            let folder = Realm.Configuration.baseDirectory
            let local = Realm.Configuration(
                fileURL: folder.appendingPathComponent("local-\(app).realm"), objectTypes: [Chore.self])
            let offline = try await Phone(user, local)
            try offline.add("a", "b")
            expectTrue(offline.realm.syncSession == nil)
            try offline.realm.writeCopy(configuration: user.configuration(partitionValue: "home"))
            let phone = try await Phone(user, user.configuration(partitionValue: "home"))
            expectEqual(phone.ids, ["a", "b"])
            try await phone.upload()
            let other = try await Phone(of: app)
            expectEqual(other.ids, ["a", "b"])

            // For good: the copy has no history, and nothing syncs it.
            let kept = Realm.Configuration(
                fileURL: folder.appendingPathComponent("kept-\(app).realm"), objectTypes: [Chore.self])
            try phone.realm.writeCopy(configuration: kept)
            let alone = try await Phone(user, kept)
            try alone.add("c")
            expectTrue(alone.realm.syncSession == nil && alone.ids == ["a", "b", "c"])
            try await phone.download()
            expectEqual(phone.ids, ["a", "b"])
        }

        @Test func initialSubscriptionsAreMetWhenADownloadingOpeningReturns() async throws {
            let app = try await SharedCluster.cluster.newApp("--sync-mode", "flexible")
            let runs = Mutex(0)
            func open(_ user: User, rerunOnOpen: Bool = false) async throws -> Realm {
                var configuration = user.flexibleSyncConfiguration(
                    initialSubscriptions: { subscriptions in
                        runs.withLock { $0 += 1 }
                        guard subscriptions.first(named: "all_chores") == nil else { return }
                        subscriptions.append(QuerySubscription<Chore>(name: "all_chores"))
                    }, rerunOnOpen: rerunOnOpen)
                configuration.objectTypes = [Chore.self]
                return try await Realm(
                    configuration: configuration, actor: MainActor.shared, downloadBeforeOpen: .always)
            }
            let first = try await open(try await Phone.user(of: app))
            try first.write { _ = first.create(Chore.self, value: ["_id": "a"]) }
            try await first.syncSession?.wait(for: .upload)
            let user = try await Phone.user(of: app)
            runs.withLock { $0 = 0 }
            for _ in 0..<2 {
                let realm = try await open(user)
                expectEqual(realm.subscriptions.map(\.name), ["all_chores"])
                expectEqual(realm.objects(Chore.self).map(\._id), ["a"])
                expectEqual(runs.withLock { $0 }, 1)
            }
        }

        /// Subscriptions may look at the owner; everybody may do everything.
        private static func rulesFile() async throws -> String {
            let file = "\(try SharedCluster.cluster.folder)/owners.json"
            let rules = #"{"queryable": {"global": ["owner"]}, "defaultRoles": "readAndWriteAll"}"#
            try Data(rules.utf8).write(to: URL(fileURLWithPath: file))
            return file
        }
    }
}

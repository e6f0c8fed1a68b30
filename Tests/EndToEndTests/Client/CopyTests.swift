import DeviceSync
import Foundation
import LocalCluster
import TestSupport
import Testing

extension SharedClusterTests.OpeningTests {
    /// Copies of realms for a user of the same mode of sync, for one of the other, and for nobody.
    @MainActor @Suite struct CopyTests {
        private let folder: URL

        init() throws {
            folder = Realm.Configuration.baseDirectory.appendingPathComponent("copies-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        /// A new user's realm, in a file of the test's folder.
        private func configuration(of app: String, isFlexible: Bool, file: String) async throws -> Realm.Configuration {
            let user = try await Phone.user(of: app)
            var configuration =
                isFlexible
                ? user.flexibleSyncConfiguration(initialSubscriptions: { subscriptions in
                    subscriptions.append(QuerySubscription<Chore>(name: "all"))
                }) : user.configuration(partitionValue: "home")
            configuration.fileURL = folder.appendingPathComponent(file)
            return configuration
        }

        private func open(
            _ configuration: Realm.Configuration, downloadBeforeOpen: Realm.OpenBehavior
        ) async throws -> Phone {
            let user = try #require(configuration.syncConfiguration?.user)
            return try await Phone(user, configuration, downloadBeforeOpen: downloadBeforeOpen)
        }

        /// A realm that can be copied, with two objects.
        private func original(of app: String, isFlexible: Bool) async throws -> Phone {
            let phone = try await open(
                try await configuration(of: app, isFlexible: isFlexible, file: "\(app).realm"),
                downloadBeforeOpen: .always)
            try phone.add("a", "b")
            try await phone.upload()
            try await phone.download()
            return phone
        }

        /// A client that opens the copy has the same objects at once, and from then on both hear of each other.
        @Test(arguments: [true, false])
        func aCopyForSomebodyOfTheSameModeSyncsAndOneForNobodyDoesNot(isFlexible: Bool) async throws {
            let app = try await SharedCluster.cluster.newApp("--sync-mode", isFlexible ? "flexible" : "partition")
            let phone = try await original(of: app, isFlexible: isFlexible)
            let target = try await configuration(of: app, isFlexible: isFlexible, file: "copy.realm")
            try phone.realm.writeCopy(configuration: target)
            let copy = try await open(target, downloadBeforeOpen: .never)
            expectTrue(copy.contents == phone.contents && copy.ids == ["a", "b"])
            try copy.add("c")
            try await copy.upload()
            try await phone.download()
            expectEqual(phone.ids, ["a", "b", "c"])

            let local = Realm.Configuration(fileURL: folder.appendingPathComponent("local.realm"))
            try phone.realm.writeCopy(configuration: local)
            let kept = try await Phone(phone.user, local)
            try kept.add("d")
            expectTrue(kept.realm.syncSession == nil && kept.ids == ["a", "b", "c", "d"])
            try await phone.download()
            expectEqual(phone.ids, ["a", "b", "c"])
        }

        /// The objects of a flexible realm came by its subscriptions, those of a partition belong to it: neither becomes the other, and
        /// nothing is left where the copy should have been.
        @Test func aCopyForSomebodyOfTheOtherModeIsRefused() async throws {
            let flexibleApp = try await SharedCluster.cluster.newApp("--sync-mode", "flexible")
            let partitionApp = try await SharedCluster.cluster.newApp("--sync-mode", "partition")
            let flexible = try await original(of: flexibleApp, isFlexible: true)
            let partition = try await original(of: partitionApp, isFlexible: false)
            let local = Realm.Configuration(fileURL: folder.appendingPathComponent("local.realm"))
            let offline = try await Phone(partition.user, local)
            try offline.add("a", "b")

            let forFlexible = try await configuration(of: flexibleApp, isFlexible: true, file: "copy.realm")
            let forPartition = try await configuration(of: partitionApp, isFlexible: false, file: "copy.realm")
            for (phone, target) in [(flexible, forPartition), (partition, forFlexible), (offline, forFlexible)] {
                let error = #expect(throws: Realm.Error.self) { try phone.realm.writeCopy(configuration: target) }
                expectTrue(error?.code == .invalidInput && phone.ids == ["a", "b"])
                let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                expectTrue(!files.contains { $0.hasPrefix("copy") }, "\(files)")
            }
            // Nothing is in the way of whoever opens it.
            let phone = try await open(forPartition, downloadBeforeOpen: .always)
            expectEqual(phone.ids, ["a", "b"])
        }
    }
}

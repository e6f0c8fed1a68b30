import DeviceSync
import Foundation
import LocalCluster
import Synchronization
import TestSupport
import Testing

/// Realms of notes, each written by its id.
private enum Notes {
    static let schema = [
        ObjectSchemaDescription(
            "Note", primaryKey: PropertyDescription("_id", .string),
            properties: [PropertyDescription("text", .string)])
    ]

    static func open(_ user: User, _ partition: String) async throws -> Realm {
        var configuration = user.configuration(partitionValue: partition)
        configuration.dynamicSchema = schema
        return try await Realm(configuration: configuration, downloadBeforeOpen: .always)
    }

    static func write(_ realm: Realm, _ id: String) throws {
        try realm.write { _ = realm.dynamicCreate("Note", value: ["_id": id, "text": id]) }
    }

    static func ids(_ realm: Realm) -> Set<String> {
        Set(realm.freeze().dynamicObjects("Note").compactMap { $0["_id"] as? String })
    }

    static func eventually(_ realm: Realm, has ids: Set<String>) async throws {
        try await LocalCluster.retrying("the realm has \(ids.sorted())") {
            guard Self.ids(realm) == ids else { throw LocalClusterError("it has \(Self.ids(realm).sorted())") }
        }
    }
}

extension SharedClusterTests {
    /// An app moves from partition to flexible sync and back, while its clients hold what they have not uploaded.
    @Suite struct ModeMigrationTests {
        /// The realms of one slice have the same owner.
        @Test(arguments: [true, false])
        func anAppMovesToFlexibleSyncAndBackWithoutLosingAnything(isOfOneSlice: Bool) async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let slice = try await cluster.slice(ofPartition: "red")
            var number = 0
            while try await (cluster.slice(ofPartition: "blue-\(number)") == slice) != isOfOneSlice { number += 1 }
            let bluePartition = "blue-\(number)"
            let user = try await Device.user(of: cluster)
            let heard = Mutex<[SyncError]>([])
            App(id: cluster.app).syncManager.errorHandler = { error, _ in
                if let error = error as? SyncError, error.isFatal { heard.withLock { $0.append(error) } }
            }
            let red = try await Notes.open(user, "red")
            let blue = try await Notes.open(user, bluePartition)
            try Notes.write(red, "red")
            try Notes.write(blue, "blue")
            try await red.syncSession?.wait(for: .upload)
            try await blue.syncSession?.wait(for: .upload)
            red.syncSession?.suspend()
            try Notes.write(red, "red-offline")

            try await cluster.operate("apps", "migrate", cluster.app, "--to", "flexible", "--dry-run")
            try await cluster.operate("apps", "migrate", cluster.app, "--to", "flexible", "--yes")
            red.syncSession?.resume()
            try await red.syncSession?.wait(for: .upload)
            try await Notes.eventually(red, has: ["red", "red-offline"])
            try await Notes.eventually(blue, has: ["blue"])
            // What is made in flexible sync is of the partition whose app makes it.
            try Notes.write(blue, "blue-flexible")
            try await blue.syncSession?.wait(for: .upload)
            let again = try await Notes.open(user, bluePartition)
            expectEqual(Notes.ids(again), ["blue", "blue-flexible"])
            expectEqual(Notes.ids(red), ["red", "red-offline"])

            blue.syncSession?.suspend()
            try Notes.write(blue, "blue-offline")
            try await cluster.operate("apps", "migrate", cluster.app, "--to", "partition", "--yes")
            blue.syncSession?.resume()
            try await blue.syncSession?.wait(for: .upload)
            try await Notes.eventually(blue, has: ["blue", "blue-flexible", "blue-offline"])
            try Notes.write(red, "red-again")
            try await red.syncSession?.wait(for: .upload)
            try await Notes.eventually(red, has: ["red", "red-offline", "red-again"])
            expectTrue(heard.withLock { $0.isEmpty })
        }

        @Test func partitionsWithObjectsOfOneKeyStayAsTheyAre() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let user = try await Device.user(of: cluster)
            let red = try await Notes.open(user, "red")
            let blue = try await Notes.open(user, "blue")
            for realm in [red, blue] {
                try Notes.write(realm, "same")
                try await realm.syncSession?.wait(for: .upload)
            }
            await #expect(throws: (any Error).self) {
                try await cluster.operate("apps", "migrate", cluster.app, "--to", "flexible", "--yes")
            }
            try Notes.write(red, "after")
            try await red.syncSession?.wait(for: .upload)
            expectEqual(Notes.ids(red), ["same", "after"])
        }
    }
}

extension ShakenClusterTests {
    /// Moves between the modes of sync whose cluster breaks meanwhile.
    @Suite struct BrokenModeMigrationTests {
        /// Kills the coordinator of the move in one of its phases.
        @Test(arguments: ["clearing", "copying"])
        func aMoveGoesOnWhereItsCoordinatorWasKilled(in phase: String) async throws {
            try await SharedCluster.cluster.moveWhileTheCoordinatorDies(in: phase)
        }

        /// A realm that is being copied is not taken away from under the copy.
        @Test func nothingIsErasedDuringAMove() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let user = try await Device.user(of: cluster)
            let red = try await Notes.open(user, "red")
            let blue = try await Notes.open(user, "blue")
            for (realm, id) in [(red, "red"), (blue, "blue")] {
                try Notes.write(realm, id)
                try await realm.syncSession?.wait(for: .upload)
            }
            // The move waits for the owners.
            for worker in ["worker-1", "worker-2"] { cluster.pause(worker) }
            try await cluster.operate("apps", "migrate", cluster.app, "--to", "flexible", "--yes", "--no-wait")
            let refusal = await #expect(throws: (any Error).self) {
                try await cluster.operate("realms", "erase", "--app", cluster.app, "--partition", "blue", "--yes")
            }
            expectTrue("\(String(describing: refusal))".contains("being moved"))
            for worker in ["worker-1", "worker-2"] { cluster.resume(worker) }
            try await LocalCluster.retrying("the move has ended") {
                _ = try await cluster.operate("apps", "migrate", cluster.app, "--to", "flexible", "--yes")
            }
            try await Notes.eventually(blue, has: ["blue"])
            try await Notes.eventually(red, has: ["red"])
        }
    }
}

extension ShakenPostgresClusterTests {
    /// Moves between the modes of sync whose cluster breaks meanwhile.
    @Suite struct BrokenModeMigrationTests {
        @Test func aMoveGoesOnWhereItsCoordinatorWasKilled() async throws {
            try await SharedCluster.cluster.moveWhileTheCoordinatorDies(in: "copying")
        }
    }
}

extension LocalCluster {
    fileprivate func moveWhileTheCoordinatorDies(in phase: String) async throws {
        try await makeApp()
        let partitions = ["red", "green", "blue"]
        let user = try await Device.user(of: self)
        var realms: [String: Realm] = [:]
        for partition in partitions {
            let realm = try await Notes.open(user, partition)
            try realm.write {
                for number in 0..<150 {
                    _ = realm.dynamicCreate("Note", value: ["_id": "\(partition)-\(number)", "text": partition])
                }
            }
            try await realm.syncSession?.wait(for: .upload)
            realms[partition] = realm
        }
        try await operate("apps", "migrate", app, "--to", "flexible", "--yes", "--no-wait")
        try await LocalCluster.retrying("the move is \(phase)") {
            let lines = log(of: "coordinator").split(separator: "\n")
            guard lines.contains(where: { $0.contains(app) && $0.contains("phase") && $0.contains(phase) }) else {
                throw LocalClusterError("it is not")
            }
        }
        await kill("coordinator")
        for (partition, realm) in realms { try Notes.write(realm, "\(partition)-meanwhile") }
        try await startCoordinator()
        try await LocalCluster.retrying("the move has ended") {
            _ = try await operate("apps", "migrate", app, "--to", "flexible", "--yes")
        }
        for (partition, realm) in realms {
            try await realm.syncSession?.wait(for: .upload)
            let all = Set((0..<150).map { "\(partition)-\($0)" } + ["\(partition)-meanwhile"])
            try await Notes.eventually(realm, has: all)
        }
    }
}

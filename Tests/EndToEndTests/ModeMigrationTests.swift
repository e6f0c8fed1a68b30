import DeviceSync
import Foundation
import LocalCluster
import Synchronization
import TestSupport
import Testing

/// An app moves from partition to flexible sync and back, while its clients hold what they have not uploaded.
@Suite(.needsBroker, .timeLimit(.minutes(10)), .serialized)
struct ModeMigrationTests {
    private static let schema = [
        ObjectSchemaDescription(
            "Note", primaryKey: PropertyDescription("_id", .string),
            properties: [PropertyDescription("text", .string)])
    ]

    private static func open(_ user: User, _ partition: String) async throws -> Realm {
        var configuration = user.configuration(partitionValue: partition)
        configuration.dynamicSchema = schema
        return try await Realm(configuration: configuration, downloadBeforeOpen: .always)
    }

    private static func write(_ realm: Realm, _ id: String) throws {
        try realm.write { _ = realm.dynamicCreate("Note", value: ["_id": id, "text": id]) }
    }

    private static func ids(_ realm: Realm) -> Set<String> {
        Set(realm.dynamicObjects("Note").compactMap { $0["_id"] as? String })
    }

    private static func eventually(_ realm: Realm, has ids: Set<String>) async throws {
        try await LocalCluster.retrying("the realm has \(ids.sorted())") {
            guard Self.ids(realm) == ids else { throw LocalClusterError("it has \(Self.ids(realm).sorted())") }
        }
    }

    /// With one slice, all partitions have the same owner.
    @Test(arguments: [1, 4])
    func anAppMovesToFlexibleSyncAndBackWithoutLosingAnything(slices: Int) async throws {
        try await withCluster(workers: 2, slices: slices) { cluster in
            try await cluster.operate("apps", "create", cluster.app, "--rules", "open")
            let user = try await Device.user(of: cluster)
            let heard = Mutex<[SyncError]>([])
            App(id: cluster.app).syncManager.errorHandler = { error, _ in
                if let error = error as? SyncError, error.isFatal { heard.withLock { $0.append(error) } }
            }
            let red = try await Self.open(user, "red")
            let blue = try await Self.open(user, "blue")
            try Self.write(red, "red")
            try Self.write(blue, "blue")
            try await red.syncSession?.wait(for: .upload)
            try await blue.syncSession?.wait(for: .upload)
            red.syncSession?.suspend()
            try Self.write(red, "red-offline")

            try await cluster.operate("apps", "migrate", cluster.app, "--to", "flexible", "--dry-run")
            try await cluster.operate("apps", "migrate", cluster.app, "--to", "flexible", "--yes")
            red.syncSession?.resume()
            try await red.syncSession?.wait(for: .upload)
            try await Self.eventually(red, has: ["red", "red-offline"])
            try await Self.eventually(blue, has: ["blue"])
            // What is made in flexible sync is of the partition whose app makes it.
            try Self.write(blue, "blue-flexible")
            try await blue.syncSession?.wait(for: .upload)
            let again = try await Self.open(user, "blue")
            #expect(Self.ids(again) == ["blue", "blue-flexible"])
            #expect(Self.ids(red) == ["red", "red-offline"])

            blue.syncSession?.suspend()
            try Self.write(blue, "blue-offline")
            try await cluster.operate("apps", "migrate", cluster.app, "--to", "partition", "--yes")
            blue.syncSession?.resume()
            try await blue.syncSession?.wait(for: .upload)
            try await Self.eventually(blue, has: ["blue", "blue-flexible", "blue-offline"])
            try Self.write(red, "red-again")
            try await red.syncSession?.wait(for: .upload)
            try await Self.eventually(red, has: ["red", "red-offline", "red-again"])
            #expect(heard.withLock { $0.isEmpty })
        }
    }

    /// Which phase the coordinator of a move is killed in, and where the store is.
    struct Death: Sendable, CustomTestStringConvertible {
        var phase: String
        var isPostgres: Bool
        var testDescription: String { "\(phase), \(isPostgres ? "PostgreSQL" : "SQLite")" }
    }

    @Test(
        arguments: [
            Death(phase: "clearing", isPostgres: false), Death(phase: "copying", isPostgres: false),
            Death(phase: "copying", isPostgres: true),
        ])
    func aMoveGoesOnWhereItsCoordinatorWasKilled(_ death: Death) async throws {
        guard !death.isPostgres || TestPostgres.isAvailable else { return }
        var settings: [String: String] = [:]
        if death.isPostgres {
            settings["SLUICE_STORE_URL"] = "\(try TestPostgres.requireURL())?schema=\(TestPostgres.uniqueName())"
        }
        let partitions = ["red", "green", "blue"]
        try await withCluster(
            workers: 2, slices: 4, settings: settings,
            start: { cluster in
                if death.isPostgres { try await cluster.operate("store", "init", "--without-roles") }
                try await cluster.startAll(workers: 2)
            }
        ) { cluster in
            try await cluster.operate("apps", "create", cluster.app, "--rules", "open")
            let user = try await Device.user(of: cluster)
            var realms: [String: Realm] = [:]
            for partition in partitions {
                let realm = try await Self.open(user, partition)
                try realm.write {
                    for number in 0..<150 {
                        _ = realm.dynamicCreate("Note", value: ["_id": "\(partition)-\(number)", "text": partition])
                    }
                }
                try await realm.syncSession?.wait(for: .upload)
                realms[partition] = realm
            }
            try await cluster.operate("apps", "migrate", cluster.app, "--to", "flexible", "--yes", "--no-wait")
            try await LocalCluster.retrying("the move is \(death.phase)") {
                let lines = cluster.log(of: "coordinator").split(separator: "\n")
                guard lines.contains(where: { $0.contains("phase") && $0.contains(death.phase) }) else {
                    throw LocalClusterError("it is not")
                }
            }
            await cluster.kill("coordinator")
            for (partition, realm) in realms { try Self.write(realm, "\(partition)-meanwhile") }
            try await cluster.startCoordinator()
            try await LocalCluster.retrying("the move has ended") {
                _ = try await cluster.operate("apps", "migrate", cluster.app, "--to", "flexible", "--yes")
            }
            for (partition, realm) in realms {
                try await realm.syncSession?.wait(for: .upload)
                let all = Set((0..<150).map { "\(partition)-\($0)" } + ["\(partition)-meanwhile"])
                try await Self.eventually(realm, has: all)
            }
        }
    }

    /// A realm that is being copied is not taken away from under the copy.
    @Test func nothingIsErasedDuringAMove() async throws {
        try await withCluster(workers: 1, slices: 1) { cluster in
            try await cluster.operate("apps", "create", cluster.app, "--rules", "open")
            let user = try await Device.user(of: cluster)
            let red = try await Self.open(user, "red")
            let blue = try await Self.open(user, "blue")
            for (realm, id) in [(red, "red"), (blue, "blue")] {
                try Self.write(realm, id)
                try await realm.syncSession?.wait(for: .upload)
            }
            // The move waits for the owner.
            cluster.pause("worker-1")
            try await cluster.operate("apps", "migrate", cluster.app, "--to", "flexible", "--yes", "--no-wait")
            let refusal = await #expect(throws: (any Error).self) {
                try await cluster.operate("realms", "erase", "--app", cluster.app, "--partition", "blue", "--yes")
            }
            #expect("\(String(describing: refusal))".contains("being moved"))
            cluster.resume("worker-1")
            try await LocalCluster.retrying("the move has ended") {
                _ = try await cluster.operate("apps", "migrate", cluster.app, "--to", "flexible", "--yes")
            }
            try await Self.eventually(blue, has: ["blue"])
            try await Self.eventually(red, has: ["red"])
        }
    }

    @Test func partitionsWithObjectsOfOneKeyStayAsTheyAre() async throws {
        try await withCluster(workers: 1, slices: 1) { cluster in
            try await cluster.operate("apps", "create", cluster.app, "--rules", "open")
            let user = try await Device.user(of: cluster)
            let red = try await Self.open(user, "red")
            let blue = try await Self.open(user, "blue")
            for realm in [red, blue] {
                try Self.write(realm, "same")
                try await realm.syncSession?.wait(for: .upload)
            }
            await #expect(throws: (any Error).self) {
                try await cluster.operate("apps", "migrate", cluster.app, "--to", "flexible", "--yes")
            }
            try Self.write(red, "after")
            try await red.syncSession?.wait(for: .upload)
            #expect(Self.ids(red) == ["same", "after"])
        }
    }
}

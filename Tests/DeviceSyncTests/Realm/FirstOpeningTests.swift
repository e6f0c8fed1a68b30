import Changesets
import Foundation
import RealmState
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// What a first opening adds to the schema, and what of it is the server's business.
@Suite(.hangGuard)
struct FirstOpeningTests {
    private func copyConfiguration(_ device: Device) throws -> Realm.Configuration {
        var configuration = try device.configuration()
        configuration.fileURL = device.folder.appendingPathComponent("copy.realm")
        return configuration
    }

    /// The server has a realm with the schema.
    private func fill(_ server: TestServer) async throws {
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration(), downloadBeforeOpen: .always)
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        try await realm.syncSession?.wait(for: .upload)
        server.forgetMessages()
    }

    private func uploadedChangesets(_ server: TestServer) -> Int {
        server.messages.reduce(0) { count, message in
            if case .upload(let upload) = message { count + upload.entries.count } else { count }
        }
    }

    @Test func aCopyCanBeWrittenRightAfterAFirstOpening() async throws {
        let server = TestServer()
        try await server.start()
        // The schema is on its way for as long as this lasts.
        server.holdsPages = true
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration(), downloadBeforeOpen: .always)
        let target = try copyConfiguration(device)
        try realm.writeCopy(configuration: target)
        server.holdsPages = false
        // The server need never have heard of the schema through the original.
        realm.syncSession?.suspend()
        let copy = try await Realm(configuration: target, downloadBeforeOpen: .always)
        try copy.write { copy.dynamicCreate("Task", value: ["_id": "a", "title": "from the copy"]) }
        try await copy.syncSession?.wait(for: .upload)
        expectEqual(server.taskCount, 1)
        realm.syncSession?.resume()
        try await realm.syncSession?.wait(for: .download)
        expectEqual(realm.titles(), ["a": "from the copy"])
    }

    @Test func aCopyBringsTheServerTheSchemaItselfIfTheOriginalNeverDoes() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        server.refusesConnections = true
        let realm = try Realm.openNow(device.configuration())
        let target = try copyConfiguration(device)
        try realm.writeCopy(configuration: target)
        realm.syncSession?.suspend()
        server.refusesConnections = false
        let copy = try await Realm(configuration: target, downloadBeforeOpen: .always)
        try copy.write { copy.dynamicCreate("Task", value: ["_id": "a"]) }
        try await copy.syncSession?.wait(for: .upload)
        expectEqual(server.taskCount, 1)
    }

    @Test func aFirstOpeningUploadsNothingThatTheServerHas() async throws {
        let server = TestServer()
        try await server.start()
        try await fill(server)
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration(), downloadBeforeOpen: .once)
        expectEqual(realm.titles().count, 1)
        let writes = try realm.instance.core.file.read {
            try HistoryRows($0).localEntries(after: 0, upTo: ClientVersion(.max))
        }
        expectTrue(writes.isEmpty)
        try await realm.syncSession?.wait(for: .upload)
        expectEqual(uploadedChangesets(server), 0)
    }

    @Test func aFirstOpeningWhoseSchemaDoesNotFitTheServersThrowsAndUploadsNothing() async throws {
        let server = TestServer()
        try await server.start()
        try await fill(server)
        let device = Device(server)
        _ = try await device.login()
        let misfit = ObjectSchemaDescription(
            "Task", primaryKey: PropertyDescription("_id", .string), properties: [PropertyDescription("count", .string)]
        )
        let error = await #expect(throws: Realm.Error.self) {
            try await Realm(configuration: device.configuration(schema: [misfit]), downloadBeforeOpen: .always)
        }
        expectEqual(error?.code, .schemaMismatch)
        expectEqual(uploadedChangesets(server), 0)
    }

    @Test func classesOfASecondOpeningAreUploadedAtOnce() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration(), downloadBeforeOpen: .always)
        try await realm.syncSession?.wait(for: .upload)
        let more = ObjectSchemaDescription(
            "More", primaryKey: PropertyDescription("_id", .string), properties: [PropertyDescription("n", .int)])
        let second = try Realm.openNow(device.configuration(schema: Device.schema + [more]))
        try await second.syncSession?.wait(for: .upload)
        expectTrue(server.reading { $0.schema.table("More") != nil })
    }
}

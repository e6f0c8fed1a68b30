import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// The version that an app gives its schema: kept with the file, compared when it is opened.
@Suite(.hangGuard)
struct SchemaVersionTests {
    /// Opens and releases.
    @discardableResult
    private func open(
        _ folder: Folder, _ version: UInt64, _ change: (inout Realm.Configuration) -> Void = { _ in }
    ) throws -> Int {
        var configuration = folder.configuration
        configuration.schemaVersion = version
        change(&configuration)
        let realm = try Realm(configuration: configuration)
        if !configuration.readOnly {
            try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"], update: .all) }
        }
        return realm.dynamicObjects("Task").count
    }

    @Test func aLowerVersionIsRefusedByAnErrorThatNamesBoth() throws {
        let folder = Folder()
        try open(folder, 10)
        let error = #expect(throws: Realm.Error.self) { try open(folder, 5) }
        expectEqual(error?.code, .fail)
        expectEqual(error?.message, "Provided schema version 5 is less than last set version 10.")
        try open(folder, 10)
        try open(folder, 11)
        #expect(throws: Realm.Error.self) { try open(folder, 10) }
    }

    @Test func aHigherVersionIsKeptWithWhatItAdds() throws {
        let folder = Folder()
        try open(folder, 1)
        try open(folder, 2) {
            $0.dynamicSchema.append(ObjectSchemaDescription("Other", properties: [PropertyDescription("n", .int)]))
        }
        #expect(throws: Realm.Error.self) { try open(folder, 1) }
    }

    /// What does not fit is neither added nor noted.
    @Test func aVersionWhoseSchemaDoesNotFitIsNotKept() throws {
        let folder = Folder()
        try open(folder, 1)
        let error = #expect(throws: Realm.Error.self) { try open(folder, 2) { $0.dynamicSchema = Self.misfit } }
        expectEqual(error?.code, .schemaMismatch)
        try open(folder, 1)
    }

    @Test func aFileWithoutAVersionOpensWithAny() throws {
        let folder = Folder()
        try open(folder, 3)
        try RealmFileEdits.run("DELETE FROM meta WHERE name = 'schema_version'", at: folder.file.path)
        try expectEqual(open(folder, 7) { $0.readOnly = true }, 1)
        try open(folder, 0)
        try open(folder, 2)
        #expect(throws: Realm.Error.self) { try open(folder, 1) }
    }

    @Test func aReadOnlyOpeningNeedsTheVersionOfTheFile() throws {
        let folder = Folder()
        try open(folder, 4)
        for version in [3, 5] as [UInt64] {
            let error = #expect(throws: Realm.Error.self) { try open(folder, version) { $0.readOnly = true } }
            expectTrue(error?.message.contains("\(version)") == true && error?.message.contains("4") == true)
        }
        try expectEqual(open(folder, 4) { $0.readOnly = true }, 1)
    }

    @Test(arguments: [1, 3] as [UInt64])
    func anotherVersionDeletesTheRealmIfTheAppWantsThat(version: UInt64) throws {
        let folder = Folder()
        try open(folder, 2) { $0.deleteRealmIfMigrationNeeded = true }
        try expectEqual(open(folder, 2) { $0.deleteRealmIfMigrationNeeded = true }, 1)
        var configuration = folder.configuration
        configuration.schemaVersion = version
        configuration.deleteRealmIfMigrationNeeded = true
        try expectTrue(Realm(configuration: configuration).isEmpty)
    }

    @Test func aSchemaThatDoesNotFitDeletesTheRealmIfTheAppWantsThat() throws {
        let folder = Folder()
        try open(folder, 1)
        var configuration = folder.configuration
        configuration.schemaVersion = 1
        configuration.dynamicSchema = Self.misfit
        configuration.deleteRealmIfMigrationNeeded = true
        try expectEqual(Realm(configuration: configuration).dynamicSchema.first?.properties, Self.misfit[0].properties)
    }

    /// A file that others read and write is never taken from under them.
    @Test func anOpenRealmIsNotDeletedForAMigration() throws {
        let folder = Folder()
        let realm = try Realm(configuration: folder.configuration)
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        var configuration = folder.configuration
        configuration.dynamicSchema = Self.misfit
        configuration.deleteRealmIfMigrationNeeded = true
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
        expectEqual(error?.code, .schemaMismatch)
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "b"]) }
        expectEqual(realm.titles().count, 2)
    }

    @Test func anInMemoryRealmKeepsItsVersionForAsLongAsItIsOpen() throws {
        let name = UUID().uuidString
        func configuration(_ version: UInt64) -> Realm.Configuration {
            Realm.Configuration(inMemoryIdentifier: name, schemaVersion: version, dynamicSchema: Device.schema)
        }
        let realm = try Realm(configuration: configuration(2))
        #expect(throws: Realm.Error.self) { try Realm(configuration: configuration(1)) }
        try expectTrue(Realm(configuration: configuration(2)).instance.core === realm.instance.core)
    }

    @Test func aLocalCopyHasTheVersionOfItsOriginal() throws {
        let folder = Folder()
        var configuration = folder.configuration
        configuration.schemaVersion = 6
        let realm = try Realm(configuration: configuration)
        configuration.fileURL = folder.url.appendingPathComponent("copy.realm")
        try realm.writeCopy(configuration: configuration)
        configuration.schemaVersion = 5
        #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
    }

    @Test func aSyncedRealmHasNoVersion() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        for version in [5, 1] as [UInt64] {
            var configuration = try device.configuration()
            configuration.schemaVersion = version
            let core = try await Realm(configuration: configuration, downloadBeforeOpen: .always).instance.core
            expectTrue(core.schemaVersion == nil)
        }
    }

    private static let misfit = [
        ObjectSchemaDescription(
            "Task", primaryKey: PropertyDescription("_id", .string), properties: [PropertyDescription("count", .string)]
        )
    ]
}

import Changesets
import Foundation
import Storage
import StorageSupport
import SyncModel
import TestSupport
import Testing

@testable import StorageSQLite

@Suite(.hangGuard) struct ControlAppTests {
    @Test(arguments: ControlVariant.allCases)
    func appsAreInsertedChangedAndListedById(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            let beta = AppRecord(id: "beta", syncMode: .flexible, developmentMode: false, createdAt: 2)
            try await store.insert(beta)
            try await store.insert(AppRecord(id: "alpha", createdAt: 1))
            try await expectEqual(store.apps().map(\.id), ["alpha", "beta"])
            try await expectEqual(store.app("beta"), beta)
            try await expectTrue(store.app("gamma") == nil)
            let changed = try await store.updateApp("beta") {
                $0.maxOfflineDays = 3
                $0.id = "other"
                $0.changeFeed.set(.documents, at: 77)
                $0.schemas = SchemaVersions(
                    versions: [
                        SchemaVersion(number: 0),
                        SchemaVersion(
                            number: 1, hiddenClasses: ["Old"],
                            properties: [.init(className: "Item", name: "a", column: "a@v1", nullable: true)]),
                    ],
                    draft: SchemaDraft(
                        version: SchemaVersion(number: 2), basis: 1,
                        added: [SchemaElement(className: "Item", property: "b", type: "int")], changes: ["one"]))
            }
            expectTrue(changed.id == "beta" && changed.maxOfflineDays == 3)
            try await expectEqual(store.app("beta"), changed)
            try await expectEqual(store.app("beta")?.changeFeed, ChangeFeedSetting(.documents, since: 77))
            // The feed began when it was turned on, whatever it tells since.
            let other = try await store.updateApp("beta") { $0.changeFeed.set(.keys, at: 99) }
            expectEqual(other.changeFeed, ChangeFeedSetting(.keys, since: 77))
            expectTrue(!other.changeFeed.isSettled(at: 5_000) && other.changeFeed.isSettled(at: 20_000))
            let off = try await store.updateApp("beta") { $0.changeFeed.set(.off, at: 100) }
            expectTrue(!off.changeFeed.isOn && !off.changeFeed.isSettled(at: 99_999))
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func anAppIsInsertedOnce(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            let error = await #expect(throws: StoreError.self) {
                try await store.insert(AppRecord(id: "tasks", createdAt: 2))
            }
            expectEqual(error?.code, .alreadyExists)
            let missing = await #expect(throws: StoreError.self) { _ = try await store.updateApp("none") { _ in } }
            expectEqual(missing?.code, .notFound)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func anAppsCompatibilityStaysWhateverElseChanges(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "own", compatibility: .convergent, createdAt: 1))
            try await store.insert(AppRecord(id: "any", createdAt: 1))
            let changed = try await store.updateApp("own") { $0.generation += 1 }
            expectEqual(changed.compatibility, .convergent)
            try await expectEqual(store.apps().map(\.compatibility), [.stockClients, .convergent])
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func anAppsSchemaGrowsAndHasABound(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            let dog = SchemaElement(className: "Dog", type: "object(_id: int)")
            let age = SchemaElement(className: "Dog", property: "age", type: "int")
            let missing = await #expect(throws: StoreError.self) {
                try await store.extendSchema(ofApp: "tasks", with: [dog])
            }
            expectEqual(missing?.code, .notFound)
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await store.insert(AppRecord(id: "other", createdAt: 1))
            try await store.extendSchema(ofApp: "tasks", with: [age])
            try await store.extendSchema(ofApp: "tasks", with: [dog, age])
            try await expectEqual(store.schema(ofApp: "tasks"), [dog, age])
            try await expectTrue(store.schema(ofApp: "other").isEmpty)
            let other = SchemaElement(className: "Dog", property: "age", type: "string")
            try await expectEqual(
                store.schema(ofApp: "tasks", among: [other, age, dog]).sorted(by: { $0.type < $1.type }),
                [
                    age, dog,
                ])
            try await expectTrue(store.schema(ofApp: "other", among: [age]).isEmpty)
            try await expectTrue(store.schema(ofApp: "tasks", among: []).isEmpty)
            let many = (1..<SchemaElement.maxPerApp).map { SchemaElement(className: "C\($0)", type: "embedded") }
            let full = await #expect(throws: StoreError.self) {
                try await store.extendSchema(ofApp: "tasks", with: many)
            }
            expectEqual(full?.code, .full)
            try await expectEqual(store.schema(ofApp: "tasks"), [dog, age])
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func schemaAdditionsPerUserAreBoundedAndOperatorsRevokeThem(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            func element(_ name: String) -> SchemaElement { SchemaElement(className: name, type: "embedded") }
            let flood = SchemaAuthor(user: "flood", limit: 2)
            try await store.extendSchema(ofApp: "tasks", with: [element("A"), element("B")], by: flood)
            // What is there already counts for nobody.
            try await store.extendSchema(ofApp: "tasks", with: [element("A")], by: flood)
            let full = await #expect(throws: StoreError.self) {
                try await store.extendSchema(ofApp: "tasks", with: [element("C")], by: flood)
            }
            expectEqual(full?.code, .full)
            expectEqual(
                full?.message.contains("user flood would have added 3 entries to the schema of app tasks; 2"), true)
            try await store.extendSchema(ofApp: "tasks", with: [element("C")], by: SchemaAuthor(user: "calm", limit: 2))
            try await store.extendSchema(ofApp: "tasks", with: [element("D")])
            try await expectEqual(store.schema(ofApp: "tasks").map(\.className), ["A", "B", "C", "D"])

            try await expectEqual(store.reduceSchema(ofApp: "tasks", by: [element("X")]), 0)
            try await expectEqual(store.app("tasks")?.schemaVersion, 0)
            try await expectEqual(
                store.reduceSchema(ofApp: "tasks", by: [element("A"), element("D"), element("X")]), 2)
            try await expectEqual(store.app("tasks")?.schemaVersion, 1)
            // A change of the settings leaves the version alone.
            _ = try await store.updateApp("tasks") { $0.schemaVersion = 0 }
            try await expectEqual(store.app("tasks")?.schemaVersion, 1)
            try await store.extendSchema(ofApp: "tasks", with: [element("E")], by: flood)
            try await expectEqual(store.schema(ofApp: "tasks").map(\.className), ["B", "C", "E"])
            let missing = await #expect(throws: StoreError.self) {
                _ = try await store.reduceSchema(ofApp: "none", by: [])
            }
            expectEqual(missing?.code, .notFound)
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func anAppsQuotasAreKept(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await expectEqual(store.app("tasks")?.quotas.isEmpty, true)
            _ = try await store.updateApp("tasks") { $0.quotas[.userSockets] = 7 }
            let app = try #require(try await store.app("tasks"))
            expectEqual(app.quotas[.userSockets], 7)
            expectEqual(app.limit(of: .userSockets, by: QuotaValues([.userSockets: 5])), 7)
            expectEqual(app.limit(of: .realms, by: QuotaValues([.realms: 5])), 5)
            expectEqual(app.limit(of: .bytes, by: QuotaValues()), Quota.bytes.standard)
            _ = try await store.updateApp("tasks") { $0.quotas[.userSockets] = nil }
            try await expectEqual(store.app("tasks")?.quotas.isEmpty, true)
        }
    }

    @Test func appsOfAnOlderStoreAreForStockClients() async throws {
        try await withControlFolder { folder in
            try SQLiteControlSchema.makeFirstVersion(
                file: "\(folder)/control.sqlite",
                with: "INSERT INTO apps VALUES ('old', 'partition', 'enabled', 1, 1, 30, 4, 1, 1, 7)")
            let store = try await SQLiteStores(folder: folder).control()
            try await expectEqual(store.app("old"), AppRecord(id: "old", generation: 4, rulesVersion: 1, createdAt: 7))
        }
    }

    @Test(arguments: ControlVariant.allCases)
    func theFirstSliceCountStays(_ variant: ControlVariant) async throws {
        try await variant.withStore { store in
            let counts = [try await store.sliceCount(orCreate: 8), try await store.sliceCount(orCreate: 16)]
            expectEqual(counts, [8, 8])
        }
    }

    @Test func severalOpenersAtOnceShareOneFile() async throws {
        try await withControlFolder { folder in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 1...8 {
                    group.addTask {
                        let store = try await SQLiteStores(folder: folder).control()
                        try await store.insert(AppRecord(id: "app\(number)", createdAt: 1))
                        return try await store.sliceCount(orCreate: number)
                    }
                }
                let counts = try await group.reduce(into: Set<Int>()) { $0.insert($1) }
                expectEqual(counts.count, 1)
            }
            try await expectEqual(SQLiteStores(folder: folder).control().apps().count, 8)
        }
    }

    @Test func twoConnectionsDoNotLoseUpdates() async throws {
        try await withControlFolder { folder in
            let stores = [
                try await SQLiteStores(folder: folder).control(),
                try await SQLiteStores(folder: folder).control(),
            ]
            try await stores[0].insert(AppRecord(id: "tasks", generation: 0, createdAt: 1))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        _ = try await stores[number % 2].updateApp("tasks") { $0.generation += 1 }
                    }
                }
                try await group.waitForAll()
            }
            try await expectEqual(stores[1].app("tasks")?.generation, 40)
        }
    }

    @Test func theFileIsForItsOwnerOnly() async throws {
        try await withControlFolder { folder in
            let store = try await SQLiteStores(folder: folder).control()
            try await store.insert(AppRecord(id: "tasks", createdAt: 1))
            for name in ["control.sqlite", "control.sqlite-wal"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
                expectTrue(attributes[.posixPermissions] as? Int == 0o600)
            }
        }
    }

    @Test func writtenAppsAreThereWhenOpenedAgain() async throws {
        try await withControlFolder { folder in
            try await SQLiteStores(folder: folder).control().insert(AppRecord(id: "tasks", createdAt: 7))
            try await expectEqual(SQLiteStores(folder: folder).control().app("tasks")?.createdAt, 7)
        }
    }

    @Test func aForeignOrNewerFileIsRefused() async throws {
        try await withControlFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data("not a database, but long enough to be taken for one".utf8)
                .write(to: URL(fileURLWithPath: "\(folder)/control.sqlite"))
            let error = await #expect(throws: StoreError.self) {
                _ = try await SQLiteStores(folder: folder).control()
            }
            expectEqual(error?.code, .corrupt)
        }
    }
}

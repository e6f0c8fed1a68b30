import Changesets
import Foundation
import GRDB
import RealmState
import TestSupport
import Testing

@testable import DeviceSync

/// Files in the form that earlier versions of the SDK wrote.
@Suite(.hangGuard)
struct FileFormTests {
    /// Makes a realm of tasks that link to each other, in the earlier form.
    static func makeEarlier(_ folder: Folder, tasks: Int) throws -> [UInt8] {
        let dump = try {
            let realm = try Realm(configuration: folder.configuration)
            try realm.write {
                var previous: DynamicObject?
                for number in 0..<tasks {
                    let task = realm.dynamicCreate(
                        "Task", value: ["_id": "task \(number)", "count": number, "best": previous])
                    previous = number % 3 == 0 ? task : previous
                }
            }
            return Self.dump(realm)
        }()
        let database = try DatabaseQueue(path: folder.file.path)
        try database.write { database in
            let rows = try Row.fetchAll(database, sql: "SELECT class, key, value FROM objects")
            try database.execute(
                sql: """
                    DROP TABLE objects; DROP TABLE links; DELETE FROM meta WHERE name = 'form';
                    CREATE TABLE objects(
                        class INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY(class, key))
                        WITHOUT ROWID;
                    """)
            for row in rows {
                try database.execute(
                    sql: "INSERT INTO objects VALUES(?, ?, ?)",
                    arguments: [
                        row[0] as Int, Data(try ObjectKey(ordered: row[1] as Data).detachedEncoding()), row[2] as Data,
                    ])
            }
        }
        try database.close()
        return dump
    }

    static func dump(_ realm: Realm) -> [UInt8] { realm.instance.read { StateDump.canonical(of: copy $0) } }

    private static func dump(_ configuration: Realm.Configuration) throws -> [UInt8] {
        try dump(Realm(configuration: configuration))
    }

    private static func isMoved(_ folder: Folder) throws -> Bool {
        let database = try DatabaseQueue(path: folder.file.path)
        defer { try? database.close() }
        return try database.read { try FileForm($0).isOrdered }
    }

    @Test func anEarlierFileIsMovedWhenItIsOpened() throws {
        let folder = Folder()
        let dump = try Self.makeEarlier(folder, tasks: 300)
        for _ in 1...2 {
            let realm = try Realm(configuration: folder.configuration)
            expectEqual(Self.dump(realm), dump)
            let target = ObjectAddress("Task", .string("task 3"))
            let origins = realm.instance.origins(of: target, in: "Task", over: "best")
            expectEqual(origins, ["task 4", "task 5", "task 6"].map { .string($0) })
            expectTrue(
                realm.dynamicObjects("Task").map { $0.primaryKey as? String ?? "" }
                    == (0..<300).map { "task \($0)" }.sorted())
        }
        try expectTrue(Self.isMoved(folder))
    }

    @Test func anEarlierFileCanBeOpenedReadOnly() throws {
        let folder = Folder()
        let dump = try Self.makeEarlier(folder, tasks: 50)
        do {
            var configuration = folder.configuration
            configuration.readOnly = true
            let realm = try Realm(configuration: configuration)
            expectEqual(Self.dump(realm), dump)
            expectEqual(realm.dynamicObjects("Task").filter("best.count == 3").count, 3)
        }
        try expectTrue(!Self.isMoved(folder))
    }

    @Test func aFileOfANewerSDKIsRefused() throws {
        let folder = Folder()
        _ = try Realm(configuration: folder.configuration)
        try RealmFileEdits.run("UPDATE meta SET value = CAST('3' AS BLOB) WHERE name = 'form'", at: folder.file.path)
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: folder.configuration) }
        expectEqual(error?.code, .unsupportedFileFormatVersion)
    }

    /// A file is moved in another process, which is killed at some moment.
    struct Killed: Codable {
        var file: URL
        var microseconds: Int

        func open() throws {
            var configuration = Realm.Configuration(fileURL: file)
            configuration.dynamicSchema = Device.schema
            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(microseconds)) {
                kill(getpid(), SIGKILL)
            }
            let realm = try Realm(configuration: configuration)
            _ = realm.dynamicObjects("Task").count
            while true { sleep(1) }
        }
    }

    @Test func aMoveThatIsCutOffLeavesTheOneFormOrTheOther() async throws {
        let folder = Folder()
        let dump = try Self.makeEarlier(folder, tasks: 5000)
        for microseconds in [0, 2000, 5000, 10_000, 20_000, 40_000] {
            let killed = Killed(file: folder.file, microseconds: microseconds)
            await #expect(processExitsWith: .signal(SIGKILL)) { [killed = killed as Killed] in try killed.open() }
            var configuration = folder.configuration
            configuration.readOnly = true
            try expectEqual(Self.dump(configuration), dump)
        }
        try expectEqual(Self.dump(folder.configuration), dump)
    }
}

import Foundation
import GRDB

@testable import DeviceSync

/// A realm's file that nobody else can write until `release()`.
final class LockedFile {
    private let database: DatabaseQueue

    /// - Parameter realm: waits no longer than a moment from now on.
    convenience init(_ realm: Realm) throws {
        let core = realm.instance.core
        try core.file.read { try $0.execute(sql: "PRAGMA busy_timeout = 20") }
        try self.init(core.url ?? URL(fileURLWithPath: ""))
    }

    /// - Parameter file: whoever opens it now waits.
    init(_ file: URL) throws {
        var configuration = GRDB.Configuration()
        configuration.allowsUnsafeTransactions = true
        // Only here: the realm's session may be writing just now.
        configuration.busyMode = .timeout(60)
        database = try DatabaseQueue(path: file.path, configuration: configuration)
        try database.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    }

    func release() throws {
        try database.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try database.close()
    }
}

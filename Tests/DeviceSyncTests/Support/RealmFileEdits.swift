import Foundation
import GRDB

@testable import DeviceSync

/// What a failing disk or another program does to a file.
enum RealmFileEdits {
    static func run(_ sql: String, on realm: Realm) throws {
        try run(sql, at: realm.instance.core.url?.path ?? "")
    }

    static func run(_ sql: String, at path: String) throws {
        var configuration = GRDB.Configuration()
        // A session may be writing just now.
        configuration.busyMode = .timeout(60)
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try database.write { try $0.execute(sql: sql) }
        try database.close()
    }
}

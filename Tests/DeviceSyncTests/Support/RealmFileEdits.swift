import Foundation
import GRDB

@testable import DeviceSync

/// What a failing disk or another program does to a realm's file.
enum RealmFileEdits {
    static func run(_ sql: String, on realm: Realm) throws {
        var configuration = GRDB.Configuration()
        // The realm's session may be writing just now.
        configuration.busyMode = .timeout(60)
        let database = try DatabaseQueue(path: realm.instance.core.url?.path ?? "", configuration: configuration)
        try database.write { try $0.execute(sql: sql) }
        try database.close()
    }
}

import Foundation
import GRDB

@testable import DeviceSync

/// What a failing disk or another program does to a realm's file.
enum RealmFileEdits {
    static func run(_ sql: String, on realm: Realm) throws {
        let database = try DatabaseQueue(path: realm.instance.core.url?.path ?? "")
        try database.write { try $0.execute(sql: sql) }
        try database.close()
    }
}

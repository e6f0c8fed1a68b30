import Foundation

@testable import DeviceSync

/// A temporary folder for a realm that does not sync.
final class Folder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("local-\(UUID().uuidString)")
    deinit { try? FileManager.default.removeItem(at: url) }

    var file: URL { url.appendingPathComponent("a.realm") }
    var configuration: Realm.Configuration { Realm.Configuration(fileURL: file, dynamicSchema: Device.schema) }
}

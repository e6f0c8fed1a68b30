import Changesets
import SyncModel
import SyncProtocol

/// A client realm as its file on the device knows it: who it is, how far it has come, what it was sent.
@MainActor
final class StockFile {
    var identity: ClientFileIdent?
    var progress = SyncProgress()
    /// The newest version of its own history that it has told the server.
    var newestClientVersion: ClientVersion = 0
    private(set) var entries: [HistoryEntry] = []
    /// What the entries amount to.
    private(set) var image = ObjectImage()

    func receive(_ download: Download) throws {
        progress = download.progress
        entries += download.entries
        for entry in download.entries { try image.apply(entry.changeset) }
    }
}

/// The objects that changesets made and what they set: enough to see whether another client's writes have arrived.
struct ObjectImage {
    /// Field and value, in words, by object.
    private(set) var objects: [String: [String: String]] = [:]

    mutating func apply(_ bytes: [UInt8]) throws {
        let changeset = try Changeset(parsing: bytes)
        let strings = changeset.strings
        func name(_ table: InternedString, _ key: PrimaryKey) -> String {
            "\(strings[table]?.string ?? "?")[\(strings.resolve(key).map { "\($0)" } ?? "?")]"
        }
        for instruction in changeset.instructions {
            switch instruction {
            case .createObject(let table, let key): objects[name(table, key), default: [:]][""] = ""
            case .eraseObject(let table, let key): objects[name(table, key)] = nil
            case .update(let update) where update.target.path.isEmpty:
                let value: String =
                    if case .link(let table, let key) = update.value { name(table, key) } else { "\(update.value)" }
                let field = strings[update.target.field]?.string ?? "?"
                objects[name(update.target.table, update.target.object)]?[field] = value
            case .addInteger(let target, _):
                // Sums are not kept: what a field amounts to after one is not compared.
                objects[name(target.table, target.object)]?[strings[target.field]?.string ?? "?"] = nil
            default: break
            }
        }
    }

    /// What the client has set itself is not compared: after a reset the server says once more what that has come to.
    mutating func forget(_ bytes: [UInt8]) throws {
        let changeset = try Changeset(parsing: bytes)
        for case .update(let update) in changeset.instructions where update.target.path.isEmpty {
            let table = changeset.strings[update.target.table]?.string ?? "?"
            let key = changeset.strings.resolve(update.target.object).map { "\($0)" } ?? "?"
            objects["\(table)[\(key)]"]?[changeset.strings[update.target.field]?.string ?? "?"] = nil
        }
    }

    func contains(_ other: ObjectImage, objectsOnly: Bool = false) -> Bool {
        other.objects.allSatisfy { name, fields in
            guard let mine = objects[name] else { return false }
            return objectsOnly || fields.allSatisfy { mine[$0.key] == $0.value }
        }
    }

    func has(_ className: String, _ key: String) -> Bool {
        objects["\(className)[\(ObjectKey.string(ByteString(key)))]"] != nil
    }

    func value(_ className: String, _ key: String, _ field: String) -> String? {
        objects["\(className)[\(ObjectKey.string(ByteString(key)))]"]?[field]
    }
}

extension [UInt8] {
    /// A changeset in one form, whatever the order of its strings was.
    var canonicalChangeset: [UInt8] {
        get throws {
            let changeset = try Changeset(parsing: self)
            var encoder = StreamingEncoder()
            for instruction in changeset.instructions { try encoder.append(instruction, from: changeset.strings) }
            return encoder.bytes
        }
    }
}

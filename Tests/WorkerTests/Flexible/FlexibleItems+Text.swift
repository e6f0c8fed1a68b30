import Changesets
import SyncModel
import SyncProtocol

/// Messages about items in words, for whoever looks into a schedule.
extension FlexibleItems {
    static func text(of message: ClientMessage) -> String {
        switch message {
        case .ident(let ident):
            "IDENT file \(ident.file.ident) at \(ident.download.serverVersion) set \(ident.query.map { "\($0.version) \($0.text)" } ?? "")"
        case .query(let query): "QUERY \(query.query.version) \(query.query.text)"
        case .upload(let upload):
            "UPLOAD through \(upload.progress)"
                + upload.entries.map {
                    "\n    \($0.clientVersion) on \($0.serverVersion) at \($0.timestamp): \(text(of: $0.changeset))"
                }.joined()
        default: message.name
        }
    }

    static func text(of message: ServerMessage) -> String {
        switch message {
        case .ident(_, let file): "IDENT file \(file.ident)"
        case .jsonError(_, let code, let body): "ERROR \(code) \(body.message)"
        case .download(let download):
            "DOWNLOAD at \(download.progress.download.serverVersion)/\(download.progress.download.clientVersion)"
                + " upload \(download.progress.upload) \(download.batch.map { "set \($0.queryVersion) \($0.state)" } ?? "")"
                + download.entries.map {
                    "\n    \($0.serverVersion)/\($0.clientVersion) by \($0.originFile) at \($0.timestamp): \(text(of: $0.changeset))"
                }.joined()
        default: message.name
        }
    }

    private static func text(of bytes: [UInt8]) -> String {
        guard let changeset = try? Changeset(parsing: bytes) else { return "?" }
        func name(_ path: FieldPath) -> String {
            "\(path.object).\(changeset.strings[path.field]?.string ?? "?")"
                + path.path.map { if case .index(let index) = $0 { "[\(index)]" } else { "" } }.joined()
        }
        return changeset.instructions.map { instruction in
            switch instruction {
            case .createObject(_, let object): "create \(object)"
            case .eraseObject(_, let object): "erase \(object)"
            case .update(let update): "\(name(update.target)) = \(update.value)"
            case .addInteger(let path, let delta): "\(name(path)) += \(delta)"
            case .arrayInsert(let path, let value, let count): "\(name(path)) insert \(value) of \(count)"
            case .arrayErase(let path, let count): "\(name(path)) erase of \(count)"
            case .clear(let path, _): "\(name(path)) clear"
            default: "schema"
            }
        }.joined(separator: "; ")
    }
}

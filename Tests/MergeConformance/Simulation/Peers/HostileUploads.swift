import Changesets
import Merge
import SyncModel
import SyncProtocol

/// Uploads that no honest client makes.
enum HostileUploads {
    static func upload(_ kind: Int, latest: ServerVersion) -> SimulatedUpload {
        let cursor = UploadCursor(clientVersion: 2, serverVersion: latest)
        return SimulatedUpload(
            message: Upload(
                session: SimulatedSession.ident, progress: cursor, lockedServerVersion: latest,
                entries: [
                    UploadedChangeset(
                        clientVersion: 2, serverVersion: latest, timestamp: 1, changeset: changeset(kind))
                ]), follows: 0)
    }

    private static func changeset(_ kind: Int) -> [UInt8] {
        var strings = InternTable()
        let table = strings.intern("Hostile")
        let field = strings.intern("l")
        let addTable = Instruction.addTable(
            .init(table: table, kind: .topLevel(keyField: field, keyType: .int, keyNullable: false, asymmetric: false)))
        let path = FieldPath(table: table, object: .int(1), field: field, path: [.index(3)])
        switch kind % 3 {
        case 0: return [0x3E]
        // A part of it fits: that must go as well.
        case 1:
            return Changeset(
                strings: strings,
                instructions: [addTable, .createObject(table: table, object: .int(1)), .arrayErase(path, priorSize: 9)]
            ).encoded()
        default: return Changeset(strings: strings, instructions: [addTable, .eraseTable(table: field)]).encoded()
        }
    }
}

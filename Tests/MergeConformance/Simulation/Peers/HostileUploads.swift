import Changesets
import Merge
import SyncModel

/// Uploads that no honest client makes.
enum HostileUploads {
    static func upload(_ kind: Int, latest: UInt64) -> SimulatedUpload {
        let cursor = UploadCursor(clientVersion: 2, serverVersion: latest)
        return SimulatedUpload(
            header: UploadHeader(progress: cursor, lockedServerVersion: latest, follows: 0),
            entries: [UploadEntry(cursor: cursor, originTimestamp: 1, originFileIdent: 0)],
            changesets: [changeset(kind)])
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

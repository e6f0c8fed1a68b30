internal import Foundation
internal import GRDB
internal import RealmState
import SyncModel
internal import Synchronization

/// The connections that show versions of a realm's file.
struct FileReaders {
    /// In a read transaction or not; until the file is closed.
    var all: [ObjectIdentifier: DatabaseQueue] = [:]
    /// In none.
    var idle: [DatabaseQueue] = []
    var isClosed = false

    /// So many connections stay open for later versions.
    static let idleLimit = 2
}

extension RealmFile {
    /// A connection that shows the newest version until it is given back.
    func beginReading() throws -> DatabaseQueue {
        guard let url else { throw Realm.Error(.fail, "a realm in memory has no versions in a file") }
        let idle = readers.withLock { $0.idle.popLast() }
        let reader = try idle ?? DatabaseQueue.reader(url, encryption)
        do {
            let isClosed = readers.withLock { readers in
                if !readers.isClosed { readers.all[ObjectIdentifier(reader)] = reader }
                return readers.isClosed
            }
            guard !isClosed else { throw Realm.Error(.fileAccess, "the realm's file has been closed", fileURL: url) }
            try reader.inDatabase { database in
                try database.beginTransaction(.deferred)
                // The transaction shows the version of its first read.
                _ = try Row.fetchOne(database, sql: "SELECT rootpage FROM sqlite_schema LIMIT 1")
            }
            return reader
        } catch {
            discard(reader)
            throw error
        }
    }

    /// A connection that shows the newest version, if that is the one; nil otherwise.
    func beginReading(at version: ClientVersion) throws -> DatabaseQueue? {
        let reader = try beginReading()
        do {
            if try reader.unsafeRead({ try Self.version($0) }) == version { return reader }
        } catch {
            discard(reader)
            throw error
        }
        endReading(reader)
        return nil
    }

    /// Takes a connection back: what it showed need not be kept any more.
    func endReading(_ reader: DatabaseQueue) {
        // Out of the others' sight, as it could be closed otherwise while the transaction ends.
        guard readers.withLock({ $0.all.removeValue(forKey: ObjectIdentifier(reader)) }) != nil else { return }
        let hasEnded = (try? reader.inDatabase { try $0.rollback() }) != nil
        let isKept = readers.withLock { readers in
            guard hasEnded, !readers.isClosed, readers.idle.count < FileReaders.idleLimit else { return false }
            readers.idle.append(reader)
            readers.all[ObjectIdentifier(reader)] = reader
            return true
        }
        if !isKept { discard(reader) }
    }

    private func discard(_ reader: DatabaseQueue) {
        readers.withLock { $0.all[ObjectIdentifier(reader)] = nil }
        try? reader.close()
    }

    /// Closes all of them; nothing can be read of any version any more.
    func closeReaders() {
        let all = readers.withLock { readers in
            readers.isClosed = true
            readers.idle = []
            defer { readers.all = [:] }
            return readers.all.values
        }
        for reader in all { try? reader.close() }
    }

    /// Puts a state on the newest version of the file, so that it need not hold what has changed since the version that it stands on.
    /// - Returns: nil if the file has another version by now.
    func settled(_ state: RealmState, _ version: ClientVersion) throws -> RealmState? {
        guard let base = state.base as? FileVersion, let reader = try beginReading(at: version) else { return nil }
        return state.standing(on: FileVersion(self, reader, after: base, with: state))
    }

    /// Moves what is in the write-ahead log into the database, as far as no version needs the database as it is.
    /// - Returns: whether that is all of it.
    func checkpoint() throws -> Bool {
        try database.writeWithoutTransaction { database in
            let result = try database.checkpoint(.passive)
            return result.walFrameCount == result.checkpointedFrameCount
        }
    }
}

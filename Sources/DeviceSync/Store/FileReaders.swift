internal import Foundation
internal import GRDB
import SyncModel
internal import Synchronization

/// The connections that show versions of a realm's file.
final class FileReaders: Sendable {
    struct Contents {
        /// The open connections, in a read transaction or not; kept until the file is closed.
        var all: [ObjectIdentifier: DatabaseQueue] = [:]
        /// The connections that are in no read transaction.
        var idle: [DatabaseQueue] = []
        var isClosed = false
    }

    /// So many connections stay open for later versions.
    static let idleLimit = 2

    let contents = Mutex(Contents())
    private let url: URL?
    private let encryption: FileEncryption?

    /// - Parameter url: nil for a realm in memory, which has no versions in a file.
    init(_ url: URL?, _ encryption: FileEncryption?) {
        self.url = url
        self.encryption = encryption
    }

    /// A connection that shows the newest version until it is given back.
    func begin() throws -> DatabaseQueue {
        guard let url else { throw Realm.Error(.fail, "a realm in memory has no versions in a file") }
        let idle = contents.withLock { $0.idle.popLast() }
        let reader = try idle ?? DatabaseQueue.reader(url, encryption)
        do {
            let isClosed = contents.withLock { contents in
                if !contents.isClosed { contents.all[ObjectIdentifier(reader)] = reader }
                return contents.isClosed
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
    func begin(at version: ClientVersion) throws -> DatabaseQueue? {
        let reader = try begin()
        do {
            if try reader.unsafeRead({ try $0.realmVersion() }) == version { return reader }
        } catch {
            discard(reader)
            throw error
        }
        end(reader)
        return nil
    }

    /// Takes a connection back: what it showed need not be kept any more.
    func end(_ reader: DatabaseQueue) {
        // Out of the others' sight, as it could be closed otherwise while the transaction ends.
        guard contents.withLock({ $0.all.removeValue(forKey: ObjectIdentifier(reader)) }) != nil else { return }
        let hasEnded = (try? reader.inDatabase { try $0.rollback() }) != nil
        let isKept = contents.withLock { contents in
            guard hasEnded, !contents.isClosed, contents.idle.count < Self.idleLimit else { return false }
            contents.idle.append(reader)
            contents.all[ObjectIdentifier(reader)] = reader
            return true
        }
        if !isKept { discard(reader) }
    }

    private func discard(_ reader: DatabaseQueue) {
        contents.withLock { $0.all[ObjectIdentifier(reader)] = nil }
        try? reader.close()
    }

    /// Closes all of them; nothing can be read of any version any more.
    func close() {
        let all = contents.withLock { contents in
            contents.isClosed = true
            contents.idle = []
            defer { contents.all = [:] }
            return contents.all.values
        }
        for reader in all { try? reader.close() }
    }
}

import Crypto
package import SyncModel

/// One UPLOAD of a client, whole, as the client packed it; or changesets published from a shell.
///
/// From a gateway: everything is set. From a shell: `realm` and `changesets` are enough; such a message follows
/// nothing, counts as written by the server itself on top of the latest version, and is known by its message id.
package struct ChangesetMessage: CodableMessage, Equatable {
    package static let type = "changeset"

    package struct Upload: Codable, Sendable, Equatable {
        package var session: SessionReference
        package var clientFile: FileIdent
        package var generation: UInt64
        /// The client version of the progress that this upload follows; the owner refuses a gap.
        package var follows: ClientVersion
        /// The head's cursors: client version scanned to, server version seen there, and the client's download cursor.
        package var progress: UploadCursor
        package var lockedServerVersion: ServerVersion
        /// The rights under which the upload was let in. Nil from a gateway of a version without rules: the owner
        /// refuses the upload.
        package var rights: SessionRights?

        package init(
            session: SessionReference, clientFile: FileIdent, generation: UInt64, follows: ClientVersion,
            progress: UploadCursor, lockedServerVersion: ServerVersion, rights: SessionRights?
        ) {
            self.session = session
            self.clientFile = clientFile
            self.generation = generation
            self.follows = follows
            self.progress = progress
            self.lockedServerVersion = lockedServerVersion
            self.rights = rights
        }
    }

    package var realm: RealmName
    /// Nil for an event from a shell.
    package var upload: Upload?
    package var entries: [UploadedChangeset]

    /// The text that the slice's store remembers of an event from a shell, by which a repetition is told.
    ///
    /// - Parameter id: the message's. Ids are the publishers' own: another realm's event may have the same.
    package static func mark(ofEvent id: String, in realm: RealmName) -> String {
        let digest = HexBytes(Array(SHA256.hash(data: Array(realm.key.utf8)).prefix(16)))
        return "event \(id) in \(realm.app) \(digest.hex)"
    }

    package init(realm: RealmName, upload: Upload?, entries: [UploadedChangeset]) {
        self.realm = realm
        self.upload = upload
        self.entries = entries
    }

    private enum CodingKeys: String, CodingKey { case realm, upload, entries }
    /// The keys that a message from a shell has in place of entries.
    private enum ShellKey: String, CodingKey { case changesets, timestamp }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let shell = try decoder.container(keyedBy: ShellKey.self)
        realm = try container.decode(RealmName.self, forKey: .realm)
        upload = try container.decodeIfPresent(Upload.self, forKey: .upload)
        if let changesets = try shell.decodeIfPresent([HexBytes].self, forKey: .changesets) {
            let timestamp = try shell.decodeIfPresent(SyncTimestamp.self, forKey: .timestamp) ?? 0
            entries = changesets.map { UploadedChangeset(timestamp: timestamp, changeset: $0.bytes) }
        } else {
            entries = try container.decode([UploadedChangeset].self, forKey: .entries)
        }
    }

    package func binaryBody() -> [UInt8]? {
        var writer = WireWriter(capacity: entries.reduce(96) { $0 + $1.changeset.count + 24 })
        // Version 1 had no rights, version 2 no flexible realms.
        writer.byte(realm.isFlexible ? 3 : 2)
        writer.text(realm.app)
        writer.text(realm.partition)
        writer.byte(upload == nil ? 0 : 1)
        if let upload {
            writer.text(upload.session.gateway)
            writer.number(upload.session.number)
            writer.number(upload.clientFile)
            writer.number(upload.generation)
            writer.number(upload.follows)
            writer.cursor(upload.progress)
            writer.number(upload.lockedServerVersion)
            writer.byte(upload.rights == nil ? 0 : 1)
            if let rights = upload.rights {
                writer.byte(rights.rights.rawValue)
                writer.number(rights.rulesVersion)
            }
        }
        writer.number(UInt64(entries.count))
        for entry in entries {
            writer.number(entry.clientVersion)
            writer.number(entry.serverVersion)
            writer.number(entry.timestamp)
            writer.blob(entry.changeset)
        }
        return writer.bytes
    }

    /// The version of the app's users that the session was let in at (`SessionRights.usersVersion`).
    package static let usersHeader = "x-sluice-users"

    package var headers: [String: UInt64] {
        upload?.rights?.usersVersion.map { [Self.usersHeader: $0] } ?? [:]
    }

    package mutating func take(_ header: (String) -> UInt64?) {
        if let version = header(Self.usersHeader) { upload?.rights?.usersVersion = version }
    }

    package init(binaryBody: [UInt8]) throws {
        var reader = WireReader(binaryBody, messageType: Self.type)
        let version = try reader.version(atMost: 3)
        realm = RealmName(app: try reader.text(), partition: try reader.text())
        if try reader.flag() {
            let gateway = try reader.text()
            upload = Upload(
                session: SessionReference(gateway: gateway, number: try reader.number()),
                clientFile: try reader.number(), generation: try reader.number(), follows: try reader.number(),
                progress: try reader.uploadCursor(), lockedServerVersion: try reader.number(),
                rights: try version == 1 ? nil : reader.rights())
        }
        let count = try reader.count(minimumSize: 4)
        entries = []
        entries.reserveCapacity(count)
        for _ in 0..<count {
            entries.append(
                UploadedChangeset(
                    clientVersion: try reader.number(), serverVersion: try reader.number(),
                    timestamp: try reader.number(), changeset: try reader.blob()))
        }
        try reader.finish()
    }
}

extension WireReader {
    /// Every binary body begins with its format's version.
    mutating func version(atMost newest: UInt8) throws(MessageError) -> UInt8 {
        let version = try byte()
        guard (1...newest).contains(version) else {
            throw MessageError(
                messageType: "binary",
                reason: "format version \(version); this build reads versions 1 to \(newest)",
                isNewer: version > newest)
        }
        return version
    }

    /// Nothing but 0 or 1: an upload that is not read as one would count as an operator's.
    fileprivate mutating func flag() throws(MessageError) -> Bool {
        let value = try byte()
        guard value <= 1 else {
            throw MessageError(messageType: ChangesetMessage.type, reason: "flag \(value); expected 0 or 1")
        }
        return value == 1
    }

    fileprivate mutating func rights() throws(MessageError) -> SessionRights? {
        guard try flag() else { return nil }
        let value = try byte()
        guard let rights = PartitionRights(rawValue: value) else {
            throw MessageError(
                messageType: ChangesetMessage.type,
                reason: "rights \(value); expected 0 (none), 1 (read) or 2 (readWrite)")
        }
        return SessionRights(rights, rulesVersion: try number())
    }
}

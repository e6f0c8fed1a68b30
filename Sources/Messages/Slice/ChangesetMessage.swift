package import SyncModel

/// One UPLOAD of a client, whole, as the client packed it; or changesets published from a shell.
///
/// From a gateway: everything is set. From a shell: `realm` and `changesets` are enough; such a message follows
/// nothing, counts as written by the server itself on top of the latest version, and is known by its message id.
package struct ChangesetMessage: Message, Equatable {
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

        package init(
            session: SessionReference, clientFile: FileIdent, generation: UInt64, follows: ClientVersion,
            progress: UploadCursor, lockedServerVersion: ServerVersion
        ) {
            self.session = session
            self.clientFile = clientFile
            self.generation = generation
            self.follows = follows
            self.progress = progress
            self.lockedServerVersion = lockedServerVersion
        }
    }

    package var realm: RealmName
    /// Nil for an event from a shell.
    package var upload: Upload?
    package var entries: [UploadedChangeset]

    package init(realm: RealmName, upload: Upload?, entries: [UploadedChangeset]) {
        self.realm = realm
        self.upload = upload
        self.entries = entries
    }

    private enum Key: String, CodingKey { case realm, upload, entries, changesets, timestamp }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        realm = try container.decode(RealmName.self, forKey: .realm)
        upload = try container.decodeIfPresent(Upload.self, forKey: .upload)
        if let changesets = try container.decodeIfPresent([HexBytes].self, forKey: .changesets) {
            let timestamp = try container.decodeIfPresent(SyncTimestamp.self, forKey: .timestamp) ?? 0
            entries = changesets.map { UploadedChangeset(timestamp: timestamp, changeset: $0.bytes) }
        } else {
            entries = try container.decode([UploadedChangeset].self, forKey: .entries)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(realm, forKey: .realm)
        try container.encodeIfPresent(upload, forKey: .upload)
        try container.encode(entries, forKey: .entries)
    }

    package func binaryBody() -> [UInt8]? {
        var writer = WireWriter(capacity: entries.reduce(96) { $0 + $1.changeset.count + 24 })
        writer.byte(1)
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

    package init(binaryBody: [UInt8]) throws {
        var reader = WireReader(binaryBody, messageType: Self.type)
        try reader.expectVersion1()
        realm = RealmName(app: try reader.text(), partition: try reader.text())
        if try reader.byte() == 1 {
            let gateway = try reader.text()
            upload = Upload(
                session: SessionReference(gateway: gateway, number: try reader.number()),
                clientFile: try reader.number(), generation: try reader.number(), follows: try reader.number(),
                progress: try reader.uploadCursor(),
                lockedServerVersion: try reader.number())
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
    mutating func expectVersion1() throws(MessageError) {
        let version = try byte()
        guard version == 1 else {
            throw MessageError(messageType: "binary", reason: "format version \(version); this build reads version 1")
        }
    }
}

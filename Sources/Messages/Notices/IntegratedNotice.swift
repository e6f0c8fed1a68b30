package import SyncModel

/// What one commit of the owner did to a realm, to every gateway with sessions on it (realm topic).
package struct IntegratedNotice: Message, Equatable {
    package static let type = "integrated"

    /// The new upload cursor of a client whose upload this commit integrated (or found already integrated).
    package struct Acknowledgement: Codable, Sendable, Equatable {
        package var clientFile: FileIdent
        package var upload: UploadCursor

        package init(clientFile: FileIdent, upload: UploadCursor) {
            self.clientFile = clientFile
            self.upload = upload
        }
    }

    package var realm: RealmName
    package var generation: UInt64
    /// The server version that the entries follow; a gateway whose session stands elsewhere asks for a page.
    package var follows: ServerVersion
    package var latest: SaltedServerVersion
    /// Every version of `follows + 1 ... latest`, empty ones too; none at all if they were too large for a notice
    /// (then `latest.version > follows` and sessions ask for pages).
    package var entries: [HistoryEntry]
    package var acknowledgements: [Acknowledgement]

    package init(
        realm: RealmName, generation: UInt64, follows: ServerVersion, latest: SaltedServerVersion,
        entries: [HistoryEntry],
        acknowledgements: [Acknowledgement]
    ) {
        self.realm = realm
        self.generation = generation
        self.follows = follows
        self.latest = latest
        self.entries = entries
        self.acknowledgements = acknowledgements
    }

    package func binaryBody() -> [UInt8]? {
        var writer = WireWriter(capacity: entries.reduce(128) { $0 + $1.changeset.count + 32 })
        writer.byte(1)
        writer.text(realm.app)
        writer.text(realm.partition)
        writer.number(generation)
        writer.number(follows)
        writer.version(latest)
        writer.entries(entries)
        writer.number(UInt64(acknowledgements.count))
        for acknowledgement in acknowledgements {
            writer.number(acknowledgement.clientFile)
            writer.cursor(acknowledgement.upload)
        }
        return writer.bytes
    }

    package init(binaryBody: [UInt8]) throws {
        var reader = WireReader(binaryBody, messageType: Self.type)
        try reader.expectVersion1()
        realm = RealmName(app: try reader.text(), partition: try reader.text())
        generation = try reader.number()
        follows = try reader.number()
        latest = try reader.version()
        entries = try reader.entries()
        let count = try reader.count(minimumSize: 3)
        acknowledgements = []
        for _ in 0..<count {
            acknowledgements.append(
                Acknowledgement(
                    clientFile: try reader.number(),
                    upload: try reader.uploadCursor()))
        }
        try reader.finish()
    }
}

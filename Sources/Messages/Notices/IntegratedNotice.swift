package import SyncModel

/// The facts of a commit by which gateways tell which sessions of a flexible realm it concerns. Numbers of classes and properties are
/// those of the realm's schema.
package struct NoticedObjects: Codable, Sendable, Equatable {
    /// Tells the realm's schema after the commit from others.
    package var schema: UInt64
    /// That schema, if the commit has changed it; else empty.
    @HexBytes package var changedSchema: [UInt8]
    /// The objects that each version touches, as they were, as far as views look at them (docs/flexible.md,
    /// "Who computes what"); an element for every version.
    package var before: [HexBytes]
    /// The objects that any version touches, as they are.
    @HexBytes package var now: [UInt8]

    package init(schema: UInt64, changedSchema: [UInt8], before: [[UInt8]], now: [UInt8]) {
        self.schema = schema
        _changedSchema = HexBytes(changedSchema)
        self.before = before.map { HexBytes($0) }
        _now = HexBytes(now)
    }

    /// The bytes that it takes, about.
    package var bytes: Int { before.reduce(64 + changedSchema.count + now.count) { $0 + $1.wrappedValue.count + 32 } }
}

/// The effect of one commit of the owner on a realm, to every gateway with sessions on it (realm topic).
package struct IntegratedNotice: CodableMessage, Equatable {
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
    /// The objects that the commit concerns in a flexible realm; nil if they were too large, or if nothing has
    /// happened.
    package var objects: NoticedObjects?

    package init(
        realm: RealmName, generation: UInt64, follows: ServerVersion, latest: SaltedServerVersion,
        entries: [HistoryEntry], acknowledgements: [Acknowledgement], objects: NoticedObjects? = nil
    ) {
        self.objects = objects
        self.realm = realm
        self.generation = generation
        self.follows = follows
        self.latest = latest
        self.entries = entries
        self.acknowledgements = acknowledgements
    }

    package func binaryBody() -> [UInt8]? {
        var writer = WireWriter(capacity: entries.reduce(128) { $0 + $1.changeset.count + 32 })
        writer.byte(objects == nil ? 1 : 2)
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
        if let objects {
            writer.number(objects.schema)
            writer.blob(objects.changedSchema)
            writer.number(UInt64(objects.before.count))
            for images in objects.before { writer.blob(images.wrappedValue) }
            writer.blob(objects.now)
        }
        return writer.bytes
    }

    package init(binaryBody: [UInt8]) throws {
        var reader = WireReader(binaryBody, messageType: Self.type)
        let version = try reader.version(atMost: 2)
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
        if version == 2 {
            let schema: UInt64 = try reader.number()
            let changed = try reader.blob()
            var before: [[UInt8]] = []
            for _ in 0..<(try reader.count(minimumSize: 1)) { before.append(try reader.blob()) }
            objects = NoticedObjects(schema: schema, changedSchema: changed, before: before, now: try reader.blob())
        }
        try reader.finish()
    }
}

public import Foundation

extension Realm {
    /// Where a realm is and how it is opened.
    @frozen public struct Configuration: Sendable, Equatable, CustomStringConvertible {
        /// The file. Setting it clears `inMemoryIdentifier`.
        public var fileURL: URL? {
            didSet { if fileURL != nil { inMemoryIdentifier = nil } }
        }
        /// The name of a realm that exists in memory only. Setting it clears `fileURL`.
        public var inMemoryIdentifier: String? {
            didSet { if inMemoryIdentifier != nil { fileURL = nil } }
        }
        /// How the realm is synced; nil for a local one.
        public var syncConfiguration: SyncConfiguration?
        /// The key by which the realm's files are encrypted: 64 random bytes, which the app keeps where nobody else gets at them. A file keeps
        /// the key that it was made with; `writeCopy(configuration:)` makes a copy with another one or none. Without its key, a file
        /// cannot be read by anybody.
        ///
        /// Everything in the realm is encrypted with AES-256 in GCM, wherever it is stored: in the file, its log, the fresh copy and the
        /// backup of a client reset. What was changed or moved in a file is noticed. Not hidden are how large the files are, which of their pages are
        /// written and when, and what the app keeps elsewhere. That somebody put an older state of the file, or of a page, in its place is not noticed. Key
        /// and contents are in the memory of the process.
        public var encryptionKey: Data?
        /// Whether the app may not write. The session of a synced realm writes what the server sends all the same.
        public var readOnly: Bool
        /// The version of the schema of a local realm, or of a realm in flexible mode, whose server knows some versions and no others.
        public var schemaVersion: UInt64
        /// Whether a local realm whose schema does not fit is deleted.
        public var deleteRealmIfMigrationNeeded: Bool
        /// Says at the first opening in the process, from the size of the file and of what is used of it in bytes, whether to make the file as small as it can be.
        public var shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)?
        /// How many versions of the realm may be kept by frozen realms and objects, with the newest one; a write that would make one more throws. Nil for any
        /// number.
        public var maximumNumberOfActiveVersions: UInt?
        /// A realm to copy if there is no file yet.
        public var seedFilePath: URL?
        /// The model classes that the realm has. Nil for all that the program has, or for none if `dynamicSchema` names classes. Opening adds what the
        /// file lacks; a link to a class that is not among them, and two classes of one name, throw.
        public var objectTypes: [ObjectBase.Type]?
        /// Brings the objects of a local realm into the form of a higher `schemaVersion`; see `Migration`.
        public var migrationBlock: MigrationBlock?
        /// The classes, declared without Swift types. Opening adds what the file lacks. (Not upstream.)
        public var dynamicSchema: [ObjectSchemaDescription]

        /// A configuration.
        public init(
            fileURL: URL? = Configuration.defaultFileURL, inMemoryIdentifier: String? = nil,
            syncConfiguration: SyncConfiguration? = nil, encryptionKey: Data? = nil, readOnly: Bool = false,
            schemaVersion: UInt64 = 0, migrationBlock: MigrationBlock? = nil,
            deleteRealmIfMigrationNeeded: Bool = false,
            shouldCompactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)? = nil,
            objectTypes: [ObjectBase.Type]? = nil, seedFilePath: URL? = nil,
            dynamicSchema: [ObjectSchemaDescription] = []
        ) {
            self.fileURL = inMemoryIdentifier == nil ? fileURL : nil
            self.inMemoryIdentifier = inMemoryIdentifier
            self.syncConfiguration = syncConfiguration
            self.encryptionKey = encryptionKey
            self.readOnly = readOnly
            self.schemaVersion = schemaVersion
            self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
            self.shouldCompactOnLaunch = shouldCompactOnLaunch
            self.seedFilePath = seedFilePath
            self.objectTypes = objectTypes
            self.migrationBlock = migrationBlock
            self.dynamicSchema = dynamicSchema
        }

        /// `default.realm` in the base directory.
        public static var defaultFileURL: URL { baseDirectory.appendingPathComponent("default.realm") }

        /// The configuration of the realm that `Realm()` opens.
        public static var defaultConfiguration: Configuration {
            get { ConfigurationDefaults.shared.configuration }
            set { ConfigurationDefaults.shared.configuration = newValue }
        }

        /// The folder for all files; `$XDG_DATA_HOME/<process>` or `~/.local/share/<process>` unless set. Set it before
        /// the first `App` or `Realm`. (Not upstream.)
        public static var baseDirectory: URL {
            get { ConfigurationDefaults.shared.baseDirectory }
            set { ConfigurationDefaults.shared.baseDirectory = newValue }
        }

        /// Equality of place, key, partition, mode and version.
        public static func == (left: Configuration, right: Configuration) -> Bool {
            left.fileURL == right.fileURL && left.inMemoryIdentifier == right.inMemoryIdentifier
                && left.encryptionKey == right.encryptionKey
                && left.syncConfiguration?.partitionValue == right.syncConfiguration?.partitionValue
                && left.readOnly == right.readOnly && left.schemaVersion == right.schemaVersion
        }

        /// The place; no secrets.
        public var description: String {
            "Realm.Configuration(\(placeName))"
        }

        /// The file, or the name in memory.
        var placeName: String { fileURL?.path ?? inMemoryIdentifier.map { "in memory: \($0)" } ?? "nowhere" }
    }
}

extension Realm.Configuration {
    /// The key of the file.
    /// - Throws: `Realm.Error` with code `invalidInput` if it has another length.
    func key() throws -> EncryptionKey? { try encryptionKey.map { try EncryptionKey($0) } }

    /// Checks what cannot work.
    /// - Throws: `Realm.Error` with code `invalidInput`.
    func location() throws -> RealmCore.Location {
        let key = try key()
        precondition(
            syncConfiguration == nil || !deleteRealmIfMigrationNeeded,
            "deleteRealmIfMigrationNeeded cannot be combined with a sync configuration")
        if let name = inMemoryIdentifier {
            guard !name.isEmpty else { throw Realm.Error(.invalidInput, "inMemoryIdentifier is empty") }
            guard key == nil else {
                throw Realm.Error(
                    .invalidInput,
                    "a realm in memory has no file to encrypt: set inMemoryIdentifier or encryptionKey, not both")
            }
            return .memory(name)
        }
        guard let fileURL, fileURL.isFileURL else { throw Realm.Error(.invalidInput, "fileURL is missing") }
        return .file(fileURL)
    }
}

public import Foundation
internal import Synchronization

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
        /// Not supported yet: opening with a key throws.
        public var encryptionKey: Data?
        /// Whether writing is forbidden.
        public var readOnly: Bool
        /// The version of the schema of a local realm, or of a realm in flexible mode, whose server knows some versions and no others.
        public var schemaVersion: UInt64
        /// Whether a local realm whose schema does not fit is deleted.
        public var deleteRealmIfMigrationNeeded: Bool
        /// A realm to copy if there is no file yet.
        public var seedFilePath: URL?
        /// The classes, declared without Swift types. Opening adds what the file lacks. (Not upstream.)
        public var dynamicSchema: [ObjectSchemaDescription]

        /// A configuration.
        public init(
            fileURL: URL? = Configuration.defaultFileURL, inMemoryIdentifier: String? = nil,
            syncConfiguration: SyncConfiguration? = nil, encryptionKey: Data? = nil, readOnly: Bool = false,
            schemaVersion: UInt64 = 0, deleteRealmIfMigrationNeeded: Bool = false, seedFilePath: URL? = nil,
            dynamicSchema: [ObjectSchemaDescription] = []
        ) {
            self.fileURL = inMemoryIdentifier == nil ? fileURL : nil
            self.inMemoryIdentifier = inMemoryIdentifier
            self.syncConfiguration = syncConfiguration
            self.encryptionKey = encryptionKey
            self.readOnly = readOnly
            self.schemaVersion = schemaVersion
            self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
            self.seedFilePath = seedFilePath
            self.dynamicSchema = dynamicSchema
        }

        /// `default.realm` in the base directory.
        public static var defaultFileURL: URL { baseDirectory.appendingPathComponent("default.realm") }

        /// What `Realm()` opens.
        public static var defaultConfiguration: Configuration {
            get { defaults.withLock { $0.configuration } ?? Configuration() }
            set { defaults.withLock { $0.configuration = newValue } }
        }

        /// The folder for all files; `$XDG_DATA_HOME/<process>` or `~/.local/share/<process>` unless set. Set it before
        /// the first `App` or `Realm`. (Not upstream.)
        public static var baseDirectory: URL {
            get { defaults.withLock { $0.base } ?? systemBaseDirectory }
            set { defaults.withLock { $0.base = newValue } }
        }

        private struct Defaults {
            var base: URL?
            var configuration: Configuration?
        }
        private static let defaults = Mutex(Defaults())

        private static var systemBaseDirectory: URL {
            let process = ProcessInfo.processInfo
            if let data = process.environment["XDG_DATA_HOME"], data.hasPrefix("/") {
                return URL(fileURLWithPath: data).appendingPathComponent(process.processName)
            }
            return FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share")
                .appendingPathComponent(process.processName)
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
            "Realm.Configuration(\(fileURL?.path ?? inMemoryIdentifier.map { "in memory: \($0)" } ?? "nowhere"))"
        }
    }
}

extension Realm.Configuration {
    /// Checks what cannot work.
    /// - Throws: `Realm.Error` with code `invalidInput`.
    func location() throws -> RealmCore.Location {
        if encryptionKey != nil { throw Realm.Error(.invalidInput, "encrypted realms are not supported yet") }
        precondition(
            syncConfiguration == nil || !deleteRealmIfMigrationNeeded,
            "deleteRealmIfMigrationNeeded cannot be combined with a sync configuration")
        if let name = inMemoryIdentifier {
            guard !name.isEmpty else { throw Realm.Error(.invalidInput, "inMemoryIdentifier is empty") }
            return .memory(name)
        }
        guard let fileURL, fileURL.isFileURL else { throw Realm.Error(.invalidInput, "fileURL is missing") }
        return .file(fileURL)
    }
}

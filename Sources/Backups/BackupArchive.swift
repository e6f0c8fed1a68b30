package import Foundation

/// Brings backups to a place, packed, and back, and takes old ones away. A backup's manifest is written last and removed first: one
/// without a manifest is none.
package struct BackupArchive: Sendable {
    /// The file that is written last.
    package static let manifest = "manifest.json"
    private static let maxManifestBytes = 8 << 20
    private static let maxFileBytes = 1 << 50
    /// What packing may add to a file.
    private static let packedBytes = 1 << 20
    /// How long a backup without a manifest may be one that is under way, in milliseconds.
    private static let unfinished: UInt64 = 48 * 3_600_000

    let place: any BackupPlace
    private let keys: SealKeys?

    /// - Parameter secret: what backups are sealed with; nil: they are only compressed.
    package init(_ place: any BackupPlace, secret: BackupSecret?) {
        self.place = place
        keys = secret.map(SealKeys.init)
    }

    package var words: String { place.words }

    /// Brings a backup from a local folder to the place. Its files leave the folder one by one.
    ///
    /// - Parameters:
    ///   - files: the backup's files but its manifest.
    ///   - report: told of each file, with its packed size.
    package func put(
        _ folder: String, files: [String], as backup: String, report: @Sendable (String, Int) -> Void
    ) async throws {
        let packing: Packing = keys == nil ? .compressed : .sealed
        let salt = SealHeader.random(16)
        try await place.begin(backup)
        for file in files + [Self.manifest] {
            let (source, packed) = ("\(folder)/\(file)", "\(folder)/\(file)\(packing.rawValue)")
            let keys = keys
            let bytes = try await onFileThread {
                try packing.pack(source, to: packed, name: file, keys: keys, salt: salt)
                try FileManager.default.removeItem(atPath: source)
                return try FileManager.default.attributesOfItem(atPath: packed)[.size] as? Int ?? 0
            }
            try await place.put(packed, as: file + packing.rawValue, of: backup)
            try await onFileThread { try FileManager.default.removeItem(atPath: packed) }
            report(file, bytes)
        }
    }

    /// The names of the backups that are whole, the oldest first.
    package func whole() async throws -> [String] {
        var names: [String] = []
        for name in try await place.names() where try await packing(of: name) != nil { names.append(name) }
        return names
    }

    /// Fetches a backup into an empty local folder, unpacked.
    ///
    /// - Parameter files: tells from the manifest's bytes which files there are, and how long each is.
    /// - Throws: `notFound` if there is no such backup; `corrupt`, `notAllowed`.
    package func fetch(
        _ backup: String, into folder: String, files: @Sendable (Data) throws -> [(name: String, bytes: Int)]
    ) async throws {
        guard let packing = try await packing(of: backup) else {
            throw BackupError(
                .notFound,
                "there is no backup \(backup) at \(place.words): it has no \(Self.manifest), which is written last")
        }
        // With a key nobody who can write there may be able to put an open backup in place of a sealed one.
        guard keys == nil || packing == .sealed else {
            throw BackupError(
                .notAllowed,
                "the backup \(backup) is not sealed, and a key was given: leave the key out if you trust who can write there"
            )
        }
        let kept = "\(folder)/\(Self.manifest)"
        try await fetch(Self.manifest, of: backup, packing, to: kept, bytes: Self.maxManifestBytes)
        let data = try await onFileThread { try Data(contentsOf: URL(filePath: kept)) }
        for (name, bytes) in try files(data) {
            try await fetch(name, of: backup, packing, to: "\(folder)/\(name)", bytes: bytes)
        }
    }

    private func fetch(
        _ file: String, of backup: String, _ packing: Packing, to target: String, bytes: Int
    ) async throws {
        guard (0...Self.maxFileBytes).contains(bytes) else {
            throw BackupError(.corrupt, "\(file) of backup \(backup) has \(bytes) bytes, by its manifest")
        }
        let packed = target + ".packed"
        let keys = keys
        // Deflated data is never much longer than what it holds, and each sealed MiB has a tag.
        let most = bytes + bytes / 1_000 + Self.packedBytes
        try await place.fetch(file + packing.rawValue, of: backup, to: packed, maxBytes: most)
        try await onFileThread {
            try packing.unpack(packed, to: target, name: file, keys: keys, maxBytes: bytes)
            try FileManager.default.removeItem(atPath: packed)
        }
    }

    private func packing(of backup: String) async throws -> Packing? {
        let files = Set(try await place.files(of: backup))
        return Packing.allCases.last { files.contains(Self.manifest + $0.rawValue) }
    }

    // MARK: Retention

    /// Takes away all whole backups but the newest, and what is left of older ones that never became whole.
    ///
    /// - Parameter now: milliseconds of Unix time.
    /// - Returns: the names of those that are gone.
    package func keep(_ count: Int, at now: UInt64) async throws -> [String] {
        let all = try await place.names()
        let whole = try await whole()
        let old = Set(whole.dropLast(max(count, 1)))
        let deadline = BackupName.of(now > Self.unfinished ? now - Self.unfinished : 0)
        let broken = Set(all).subtracting(whole).filter { $0 < deadline }
        var gone: [String] = []
        for name in all where old.contains(name) || broken.contains(name) {
            // The manifest first: what is left without it is no backup.
            let files = try await place.files(of: name)
                .sorted { ($0.hasPrefix(Self.manifest) ? 0 : 1, $0) < ($1.hasPrefix(Self.manifest) ? 0 : 1, $1) }
            for file in files { try await place.remove(file, of: name) }
            try await place.removeFolder(of: name)
            gone.append(name)
        }
        return gone
    }
}

package import Foundation
package import Storage

/// The list of what a backup consists of: written last, so that a folder without it is no backup.
package struct BackupManifest: Codable, Sendable, Equatable {
    package struct File: Codable, Sendable, Equatable {
        package var name: String
        package var bytes: Int
        /// Hexadecimal.
        package var sha256: String
    }

    package static let name = "manifest.json"
    static let format = 1
    /// The longest manifest that is read, in bytes. The manifest of 4,096 slices' files has less than one MiB.
    private static let maxBytes = 8 << 20

    package var format: Int
    package var cluster: String
    package var prefix: String
    /// Milliseconds of Unix time. Everything that was acknowledged before `startedAt` is in the backup.
    package var startedAt: UInt64
    package var finishedAt: UInt64
    /// The slices in their order, then the control store.
    package var files: [File]

    /// - Throws: `notFound`, `corrupt`, `mismatch` for one of a newer version.
    package init(in folder: String) throws(StoreError) {
        let file = BackupFile(folder: folder, name: Self.name)
        let path = file.path
        let handle: FileHandle
        do throws(StoreError) {
            handle = try file.opened()
        } catch {
            guard error.code == .notFound else { throw error }
            throw StoreError(
                .notFound, "there is no backup in \(folder): it has no \(Self.name), which is written last")
        }
        defer { try? handle.close() }
        let data: Data
        do {
            data = try handle.read(upToCount: Self.maxBytes) ?? Data()
        } catch {
            throw StoreError(.corrupt, "\(path) cannot be read", underlying: error)
        }
        try self.init(decoding: data, path: path)
    }

    /// - Throws: `corrupt`, `mismatch` for one of a newer version.
    package init(decoding data: Data, path: String = name) throws(StoreError) {
        do {
            self = try JSONDecoder().decode(BackupManifest.self, from: data)
        } catch {
            throw StoreError(.corrupt, "\(path) cannot be read", underlying: error)
        }
        guard format == Self.format else {
            throw StoreError(.mismatch, "\(path) is of format \(format), and this version knows \(Self.format)")
        }
        // Names come from a file that may be anybody's.
        guard files.allSatisfy({ !$0.name.contains("/") && $0.name.hasSuffix(".sqlite") }),
            Set(files.map(\.name)).count == files.count, files.allSatisfy({ $0.bytes >= 0 }),
            files.contains(where: { $0.name == BackupFile.control })
        else {
            throw StoreError(.corrupt, "\(path) names files that no backup has")
        }
    }

    init(cluster: ClusterRecord, startedAt: UInt64) {
        format = Self.format
        self.cluster = cluster.id
        prefix = cluster.prefix
        self.startedAt = startedAt
        finishedAt = startedAt
        files = []
    }

    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}

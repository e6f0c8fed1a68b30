import AsyncHTTPClient
import Backups
import Foundation
import NIOCore
import NIOSSL
import Operations
import StorageSQLite
import Synchronization

extension ClusterSettings {
    /// Runs `body` with the backups at a place: a folder of them, or `s3://bucket/prefix`.
    func withArchive<Value>(at place: String, _ body: (BackupArchive) async throws -> Value) async throws -> Value {
        do {
            let secret = try backupSecret()
            guard place.hasPrefix("s3://") else {
                return try await body(BackupArchive(FolderPlace(place), secret: secret))
            }
            let token = configuration.backupSessionToken.revealed
            let address = try S3Address(
                place, endpoint: configuration.backupEndpoint, region: configuration.backupRegion,
                accessKey: configuration.backupAccessKey.revealed,
                secretKey: configuration.backupSecretKey.revealed, sessionToken: token.isEmpty ? nil : token)
            var http = HTTPClient.Configuration.singletonConfiguration
            http.timeout.connect = .seconds(10)
            if let authorities = configuration.authoritiesFile {
                var tls = TLSConfiguration.makeClientConfiguration()
                tls.additionalTrustRoots = [.file(authorities)]
                http.tlsConfiguration = tls
            }
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: http)
            do {
                let value = try await body(BackupArchive(S3Place(address, http: client), secret: secret))
                try await client.shutdown()
                return value
            } catch {
                try? await client.shutdown()
                throw error
            }
        } catch let error as BackupError {
            throw CommandFailure(error)
        }
    }

    private func backupSecret() throws -> BackupSecret? {
        if let file = configuration.backupKeyFile { return try BackupSecret(keyFile: file) }
        return try configuration.backupPassphraseFile.map { try BackupSecret(passphraseFile: $0) }
    }

    /// Where a packed backup is made, or unpacked, if nobody says: beside the others, else where temporary files go.
    func work(for place: String) -> String {
        place.hasPrefix("s3://") ? FileManager.default.temporaryDirectory.path : place
    }
}

/// A folder of its own for a backup on its way, which goes at the end.
enum BackupWork {
    static func with<Value>(_ parent: String, _ body: (String) async throws -> Value) async throws -> Value {
        let folder = "\(parent)/.sluice-\(UUID().uuidString.lowercased())"
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure(
                .unreachable, "\(parent) cannot be written: \((error as NSError).localizedDescription)")
        }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try await body(folder)
    }
}

/// A sum that several tasks add to.
final class ByteCount: Sendable {
    private let sum = Mutex(0)

    func add(_ bytes: Int) { sum.withLock { $0 += bytes } }
    var value: Int { sum.withLock(\.self) }
}

extension CommandFailure {
    init(_ error: BackupError) {
        let kind: Kind =
            switch error.code {
            case .badInput, .alreadyExists, .corrupt: .badInput
            case .notFound: .notFound
            case .notAllowed: .notAllowed
            case .unavailable: .unreachable
            }
        self.init(kind, error.message)
    }
}

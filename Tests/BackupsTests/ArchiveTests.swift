import AsyncHTTPClient
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Backups

/// Backups brought to a folder and to a store of objects, and back.
@Suite(.hangGuard) struct ArchiveTests {
    private static let secret = BackupSecret.key(PackingTests.noise(32))
    private static let partBytes = 64 << 10

    private static func place(_ store: ObjectStore, _ prefix: String = "cluster") throws -> S3Place {
        let address = try S3Address(
            "s3://\(ObjectStore.bucket)/\(prefix)", endpoint: "http://127.0.0.1:\(store.port)", region: "eu-central-1",
            accessKey: ObjectStore.account.accessKey, secretKey: ObjectStore.account.secretKey, sessionToken: nil)
        return S3Place(address, http: .shared, partBytes: partBytes, pause: .milliseconds(1))
    }

    /// Makes a backup of two files and brings it to a place.
    private static func put(_ archive: BackupArchive, _ name: String, _ scratch: Scratch) async throws {
        let folder = scratch.path(UUID().uuidString)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (file, bytes) in files { try Data(bytes).write(to: URL(filePath: "\(folder)/\(file)")) }
        try Data("a manifest".utf8).write(to: URL(filePath: "\(folder)/\(BackupArchive.manifest)"))
        try await archive.put(folder, files: files.map(\.0), as: name) { _, _ in }
        try expectTrue(FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }

    private static let files: [(String, [UInt8])] = [
        ("slice-0.sqlite", PackingTests.noise(300 << 10)), ("control.sqlite", Array(repeating: 7, count: 5_000)),
    ]

    private static func fetch(_ archive: BackupArchive, _ name: String, _ scratch: Scratch) async throws {
        let folder = scratch.path(UUID().uuidString)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await archive.fetch(name, into: folder) { data in
            try #require(data == Data("a manifest".utf8))
            return files.map { ($0.0, $0.1.count) }
        }
        for (file, bytes) in files {
            try expectTrue([UInt8](Data(contentsOf: URL(filePath: "\(folder)/\(file)"))) == bytes)
        }
    }

    private static func code(_ body: () async throws -> Void) async -> BackupError.Code? {
        do {
            try await body()
            return nil
        } catch { return (error as? BackupError)?.code }
    }

    @Test(arguments: [true, false])
    func aBackupComesBackFromAFolder(_ isSealed: Bool) async throws {
        let scratch = try Scratch()
        let archive = BackupArchive(FolderPlace(scratch.path("kept")), secret: isSealed ? Self.secret : nil)
        try await Self.put(archive, "20261122T020000Z", scratch)
        try await expectEqual(archive.whole(), ["20261122T020000Z"])
        try await Self.fetch(archive, "20261122T020000Z", scratch)
        await expectEqual(Self.code { try await Self.put(archive, "20261122T020000Z", scratch) }, .alreadyExists)
        await expectEqual(Self.code { try await Self.fetch(archive, "20261122T020001Z", scratch) }, .notFound)
        let other = BackupArchive(FolderPlace(scratch.path("kept")), secret: isSealed ? nil : Self.secret)
        // Sealed, without the key; or open, where a sealed one was to be expected.
        await expectEqual(Self.code { try await Self.fetch(other, "20261122T020000Z", scratch) }, .notAllowed)
        let kept = try FileManager.default.contentsOfDirectory(atPath: scratch.path("kept/20261122T020000Z"))
        expectTrue(kept.allSatisfy { $0.hasSuffix(isSealed ? ".gz.sealed" : ".gz") } && kept.count == 3)
    }

    @Test func aLinkInAFolderIsNoBackup() async throws {
        let scratch = try Scratch()
        let archive = BackupArchive(FolderPlace(scratch.path("kept")), secret: nil)
        try await Self.put(archive, "20261122T020000Z", scratch)
        let path = scratch.path("kept/20261122T020000Z/control.sqlite.gz")
        try FileManager.default.moveItem(atPath: path, toPath: scratch.path("elsewhere"))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: scratch.path("elsewhere"))
        await expectEqual(Self.code { try await Self.fetch(archive, "20261122T020000Z", scratch) }, .unavailable)
    }

    @Test func aBackupComesBackFromAStoreOfObjects() async throws {
        let scratch = try Scratch()
        try await ObjectStore.with { store in
            let archive = BackupArchive(try Self.place(store), secret: Self.secret)
            store.state.withLock { $0.busy = 3 }
            try await Self.put(archive, "20261122T020000Z", scratch)
            try await Self.put(archive, "20261123T020000Z", scratch)
            try await expectEqual(archive.whole(), ["20261122T020000Z", "20261123T020000Z"])
            // The connection breaks off once: what was fetched of the file is fetched again.
            store.state.withLock { $0.cutAfter = 100 }
            try await Self.fetch(archive, "20261122T020000Z", scratch)
            store.state.withLock { state in
                expectTrue(state.uploads.isEmpty && state.largestBody <= Self.partBytes)
                expectEqual(state.objects.count, 6)
                expectTrue(
                    state.objects.keys.allSatisfy { $0.hasPrefix("cluster/2026112") && $0.hasSuffix(".gz.sealed") })
                expectTrue(!state.requests.contains { $0.contains("secret") })
            }
        }
    }

    @Test func anUploadThatFailsLeavesNoParts() async throws {
        let scratch = try Scratch()
        try await ObjectStore.with { store in
            let archive = BackupArchive(try Self.place(store), secret: nil)
            store.state.withLock { $0.refusedPart = 3 }
            await expectEqual(Self.code { try await Self.put(archive, "20261122T020000Z", scratch) }, .unavailable)
            store.state.withLock { state in expectTrue(state.uploads.isEmpty && state.objects.isEmpty) }
            try await expectTrue(archive.whole().isEmpty)
        }
    }

    @Test func aWrongSecretIsRefusedAndNotRepeated() async throws {
        try await ObjectStore.with { store in
            let address = try S3Address(
                "s3://\(ObjectStore.bucket)", endpoint: "http://127.0.0.1:\(store.port)", region: "eu-central-1",
                accessKey: "id", secretKey: "wrong", sessionToken: nil)
            let place = S3Place(address, http: .shared, pause: .milliseconds(1))
            do {
                _ = try await place.names()
                Issue.record("a wrong secret was taken")
            } catch let error as BackupError {
                expectTrue(error.code == .notAllowed && error.message.contains("SignatureDoesNotMatch"), "\(error)")
                expectTrue(!error.message.contains("wrong"))
            }
        }
    }

    /// A store that goes on answering that it is busy, or is not there, is given up.
    @Test func aStoreThatIsAwayIsNamed() async throws {
        try await ObjectStore.with { store in
            store.state.withLock { $0.busy = 1_000 }
            let place = try Self.place(store)
            await expectEqual(Self.code { _ = try await place.names() }, .unavailable)
            expectTrue(store.state.withLock { $0.requests.count } > 2)
        }
    }

    @Test(arguments: [true, false])
    func theNewestStayAndWhatNeverBecameWholeGoes(_ isFolder: Bool) async throws {
        let scratch = try Scratch()
        try await ObjectStore.with { store in
            let place: any BackupPlace = try isFolder ? FolderPlace(scratch.path("kept")) : Self.place(store)
            let archive = BackupArchive(place, secret: nil)
            for day in 20...24 { try await Self.put(archive, "202611\(day)T020000Z", scratch) }
            // A backup that was broken off long ago, and one that may be under way.
            for name in ["20261121T030000Z", "20261124T100000Z"] {
                try await place.begin(name)
                try await place.put(scratch.write([1], "x"), as: "slice-0.sqlite.gz", of: name)
            }
            // 2026-11-24T12:00:00Z
            let now: UInt64 = 1_795_521_600_000
            expectEqual(BackupName.of(now), "20261124T120000Z")
            let gone = try await archive.keep(2, at: now)
            expectEqual(
                gone, ["20261120T020000Z", "20261121T020000Z", "20261121T030000Z", "20261122T020000Z"])
            try await expectEqual(archive.whole(), ["20261123T020000Z", "20261124T020000Z"])
            try await expectEqual(
                place.names(), ["20261123T020000Z", "20261124T020000Z", "20261124T100000Z"])
            try await expectTrue(archive.keep(2, at: now).isEmpty)
        }
    }
}

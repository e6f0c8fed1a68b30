import Foundation
import TestSupport
import Testing

@testable import Backups

/// A folder for the files of one test.
final class Scratch: Sendable {
    let folder = FileManager.default.temporaryDirectory.appending(path: "backups-\(UUID().uuidString)").path

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func path(_ name: String) -> String { "\(folder)/\(name)" }

    @discardableResult
    func write(_ bytes: [UInt8], _ name: String) throws -> String {
        try Data(bytes).write(to: URL(filePath: path(name)))
        return path(name)
    }

    func read(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path(name)))) }
    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }
}

@Suite struct PackingTests {
    /// Bytes that compress badly, so that sealed files have as many chunks as they should.
    static func noise(_ count: Int) -> [UInt8] {
        var state: UInt64 = 7
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
    }

    private func error(_ body: () throws -> Void) -> BackupError? {
        do {
            try body()
            return nil
        } catch { return error as? BackupError }
    }

    @Test(arguments: [0, 1, 1 << 18, Sealing.chunkBytes - 1, Sealing.chunkBytes, 3 * Sealing.chunkBytes + 5])
    func whatIsPackedIsUnpackedAsItWas(_ count: Int) throws {
        let scratch = try Scratch()
        let content = Self.noise(count)
        let source = try scratch.write(content, "a")
        let keys = SealKeys(.key(Self.noise(32)))
        for packing in Packing.allCases {
            let name = "packed\(packing.rawValue)"
            try packing.pack(source, to: scratch.path(name), name: "a", keys: keys, salt: SealHeader.random(16))
            try packing.unpack(scratch.path(name), to: scratch.path("b"), name: "a", keys: keys, maxBytes: count)
            try expectTrue(scratch.read("b") == content)
            try scratch.remove("b")
            if count > 0 {
                let found = error {
                    try packing.unpack(
                        scratch.path(name), to: scratch.path("c"), name: "a", keys: keys, maxBytes: count - 1)
                }
                expectEqual(found?.code, .corrupt)
                try scratch.remove("c")
            }
        }
    }

    @Test func filesOfGzipAreThatOfEveryTool() throws {
        let scratch = try Scratch()
        let source = try scratch.write(Array(repeating: 65, count: 100_000), "a")
        try Packing.compressed.pack(source, to: scratch.path("a.gz"), name: "a", keys: nil, salt: [])
        let packed = try scratch.read("a.gz")
        expectTrue(packed.count < 1_000 && packed.starts(with: [0x1F, 0x8B, 8]))
        for (name, bytes) in [("cut", Array(packed.dropLast(5))), ("more", packed + [0]), ("none", [])] {
            let path = try scratch.write(bytes, name)
            let found = error {
                try Packing.compressed.unpack(
                    path, to: scratch.path("out-\(name)"), name: "a", keys: nil, maxBytes: .max)
            }
            expectEqual(found?.code, .corrupt, "\(name)")
        }
    }

    /// Sealed with the same key, a file that was cut off at the end of a chunk, changed, or put in another's place is refused.
    @Test func nothingOfASealedFileIsChangedUnseen() throws {
        let scratch = try Scratch()
        let keys = SealKeys(.key(Self.noise(40)))
        let source = try scratch.write(Self.noise(2 * Sealing.chunkBytes + 100), "a")
        try Packing.sealed.pack(source, to: scratch.path("a.s"), name: "a", keys: keys, salt: SealHeader.random(16))
        let sealed = try scratch.read("a.s")
        let chunk = Sealing.chunkBytes + Sealing.tagBytes
        let (first, second) = (
            SealHeader.bytes..<SealHeader.bytes + chunk, SealHeader.bytes + chunk..<SealHeader.bytes + 2 * chunk
        )
        var changed = sealed
        changed[SealHeader.bytes + 5] ^= 1
        var salted = sealed
        salted[40] ^= 1
        let swapped = sealed[..<first.lowerBound] + sealed[second] + sealed[first] + sealed[second.upperBound...]
        let wrong: [(String, [UInt8])] = [
            ("cut off at a chunk", Array(sealed[..<second.lowerBound])),
            ("cut off at the last", Array(sealed[..<second.upperBound])),
            ("cut off", Array(sealed.dropLast())), ("longer", sealed + [0]), ("changed", changed),
            ("another header", salted),
            ("swapped", Array(swapped)), ("only a header", Array(sealed.prefix(SealHeader.bytes))), ("nothing", []),
            ("another file", Self.noise(500)),
        ]
        for (what, bytes) in wrong {
            let path = try scratch.write(bytes, "wrong")
            let found = error {
                try Packing.sealed.unpack(path, to: scratch.path("out"), name: "a", keys: keys, maxBytes: .max)
            }
            expectEqual(found?.code, .corrupt, "\(what)")
            try scratch.remove("out")
        }
        let other = error {
            try Packing.sealed.unpack(
                scratch.path("a.s"), to: scratch.path("out"), name: "b", keys: keys, maxBytes: .max)
        }
        expectEqual(other?.code, .corrupt)
        try scratch.remove("out")
        let stranger = error {
            try Packing.sealed.unpack(
                scratch.path("a.s"), to: scratch.path("out"), name: "a", keys: SealKeys(.key(Self.noise(41))),
                maxBytes: .max)
        }
        expectEqual(stranger?.code, .corrupt)
    }

    @Test func aPassphraseOpensWhatItHasSealed() throws {
        let keys = SealKeys(.passphrase(Array("correct horse battery".utf8)))
        var sealing = try Sealing(keys, salt: SealHeader.random(16), name: "a")
        let bytes = try sealing.header.encoded + sealing.add([1, 2, 3]) + sealing.finish()
        var same = Unsealing(SealKeys(.passphrase(Array("correct horse battery".utf8))), name: "a")
        try expectEqual(same.add(bytes) + same.finish(), [1, 2, 3])
        var other = Unsealing(SealKeys(.passphrase(Array("correct horse batterz".utf8))), name: "a")
        expectEqual(error { _ = try other.add(bytes) + other.finish() }?.code, .corrupt)
        var key = Unsealing(SealKeys(.key(Self.noise(32))), name: "a")
        expectEqual(error { _ = try key.add(bytes) + key.finish() }?.code, .notAllowed)
        // A stranger's file may not ask for a gigabyte.
        var costly = bytes
        costly[12] = 30
        var asked = Unsealing(keys, name: "a")
        expectEqual(error { _ = try asked.add(costly) }?.code, .corrupt)
    }

    @Test func filesWithSecretsAreTheirOwnersAlone() throws {
        let scratch = try Scratch()
        let path = try scratch.write(Self.noise(32), "key")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        expectEqual(error { _ = try BackupSecret(keyFile: path) }?.code, .notAllowed)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        expectTrue(error { _ = try BackupSecret(keyFile: path) } == nil)
        let short = try scratch.write(Array("short\n".utf8), "short")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: short)
        expectEqual(error { _ = try BackupSecret(keyFile: short) }?.code, .badInput)
        expectEqual(error { _ = try BackupSecret(passphraseFile: short) }?.code, .badInput)
        expectEqual(error { _ = try BackupSecret(passphraseFile: scratch.path("none")) }?.code, .notFound)
    }
}

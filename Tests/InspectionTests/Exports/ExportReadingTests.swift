import Foundation
import Rules
import TestSupport
import Testing

@testable import Inspection

/// Exported apps as operators have them: folders and zip files, some of them made to do harm.
@Suite struct ExportReadingTests {
    private static let config =
        #"{"type":"partition","partition":{"permissions":{"read":true,"write":{"%%partition":"%%user.id"}}}}"#

    private static func inFolder(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "export-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    private static func write(_ text: String, to path: String, in folder: String) throws {
        let file = URL(filePath: "\(folder)/\(path)")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: false, encoding: .utf8)
    }

    private static func isUsable(_ files: ExportFiles) throws -> Bool {
        RulesImport(try ExportedRules(files), denyingIncompatible: false).isUsable
    }

    // MARK: Folders

    @Test func aFolderIsRead() throws {
        try Self.inFolder { folder in
            for root in ["", "app/"] {
                try Self.write(Self.config, to: "\(root)sync/config.json", in: folder)
                try Self.write("x", to: "\(root)functions/config.json", in: folder)
                try expectTrue(Self.isUsable(try ExportReading.files(at: folder)))
                try FileManager.default.removeItem(atPath: "\(folder)/\(root.isEmpty ? "sync" : "app")")
                try? FileManager.default.removeItem(atPath: "\(folder)/functions")
            }
        }
    }

    @Test func linksPipesAndOversizedFilesAreNotRead() throws {
        try Self.inFolder { folder in
            try Self.write(Self.config, to: "elsewhere.txt", in: folder)
            try FileManager.default.createDirectory(atPath: "\(folder)/sync", withIntermediateDirectories: true)
            let link = "\(folder)/sync/config.json"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(folder)/elsewhere.txt")
            let problem = #expect(throws: ExportProblem.self) { try ExportReading.files(at: folder) }
            expectEqual(problem?.description.contains("sync/config.json is a link"), true)
            try FileManager.default.removeItem(atPath: link)
            // A reader that opened the pipe would wait for ever.
            expectEqual(mkfifo(link, 0o600), 0)
            #expect(throws: ExportProblem.self) { try ExportedRules(try ExportReading.files(at: folder)) }
            try FileManager.default.removeItem(atPath: link)
            try Self.write(
                String(repeating: " ", count: ExportFiles.maxFileBytes + 1), to: "sync/config.json", in: folder)
            #expect(throws: ExportProblem.self) { try ExportReading.files(at: folder) }
        }
        #expect(throws: ExportProblem.self) { try ExportReading.files(at: "/no/such/place") }
        #expect(throws: ExportProblem.self) { try ExportReading.files(at: "/dev/null") }
    }

    // MARK: Archives

    /// A file of an archive, and what is wrong with it.
    private struct Packed {
        var name: String
        var bytes: [UInt8]
        var method = 0
        var size: Int?
        var checksum: UInt32?
        var flags = 0
        /// Unix, and the file's kind.
        var attributes = 0x8000_0000
        /// The name in the file's own header.
        var localName: String?

        init(_ name: String, _ text: String = "{}") {
            self.name = name
            bytes = Array(text.utf8)
        }
    }

    private static func number(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var value = ~UInt32(0)
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 {
                let isOdd = value & 1 == 1
                value >>= 1
                if isOdd { value ^= 0xedb8_8320 }
            }
        }
        return ~value
    }

    private static func archive(_ files: [Packed], comment: String = "", count: Int? = nil) -> [UInt8] {
        var bytes: [UInt8] = []
        var directory: [UInt8] = []
        for file in files {
            let name = Array(file.name.utf8)
            let local = Array((file.localName ?? file.name).utf8)
            var common = number(file.flags, 2)
            common += number(file.method, 2)
            common += number(0, 4)
            common += number(Int(file.checksum ?? checksum(file.bytes)), 4)
            common += number(file.bytes.count, 4)
            common += number(file.size ?? file.bytes.count, 4)
            directory += number(0x0201_4b50, 4)
            directory += number(3 << 8 | 20, 2)
            directory += number(20, 2)
            directory += common
            directory += number(name.count, 2)
            directory += number(0, 8)
            directory += number(file.attributes, 4)
            directory += number(bytes.count, 4)
            directory += name
            bytes += number(0x0403_4b50, 4)
            bytes += number(20, 2)
            bytes += common
            bytes += number(local.count, 2)
            bytes += number(0, 2)
            bytes += local + file.bytes
        }
        let start = bytes.count
        bytes += directory
        bytes += number(0x0605_4b50, 4)
        bytes += number(0, 4)
        bytes += number(count ?? files.count, 2)
        bytes += number(count ?? files.count, 2)
        bytes += number(directory.count, 4)
        bytes += number(start, 4)
        bytes += number(comment.utf8.count, 2)
        return bytes + Array(comment.utf8)
    }

    private static func files(_ packed: [Packed]) throws(ExportProblem) -> [String: [UInt8]] {
        try ZipArchive(archive(packed)).files(wanted: ExportFiles.isWanted)
    }

    @Test func anArchiveIsRead() throws {
        try Self.inFolder { folder in
            // Packed by another program.
            var deflated = Packed("app-export/sync/config.json")
            deflated.bytes = [UInt8](
                try #require(
                    Data(
                        base64Encoded:
                            "q1YqqSxIVbJSKkgsKsksyczPU9JBYltVKxWkFuVmFhcDecUgblFqYoqSVUlRaaqOUnlRZkkqSFBVFUkLkFdanFqkl5miVAsEAA=="
                    )))
            deflated.method = 8
            deflated.size = Self.config.utf8.count
            deflated.checksum = Self.checksum(Array(Self.config.utf8))
            let bytes = Self.archive(
                [Packed("app-export/", ""), deflated, Packed("app-export/hosting/x.html", "<")], comment: "PK")
            let file = "\(folder)/export.zip"
            try Data(bytes).write(to: URL(filePath: file))
            try expectTrue(Self.isUsable(try ExportReading.files(at: file)))
            try expectEqual(
                Self.files([Packed("sync/config.json", Self.config)]),
                [
                    "sync/config.json": Array(Self.config.utf8)
                ])
        }
    }

    @Test func hostileArchivesAreRefused() throws {
        for name in [
            "../sync/config.json", "/sync/config.json", "sync/../../x.json", "sync\\config.json", "sync/./config.json",
            "", "a\0b",
        ] {
            #expect(throws: ExportProblem.self, "\(name)") { try Self.files([Packed(name)]) }
        }
        func refused(_ change: (inout Packed) -> Void) -> String? {
            var packed = Packed("sync/config.json", Self.config)
            change(&packed)
            let packedFile = packed
            return #expect(throws: ExportProblem.self) { try Self.files([packedFile]) }?.description
        }
        expectEqual(refused { $0.attributes = 0xa1ff_0000 }?.contains("link"), true)
        expectEqual(refused { $0.attributes = 0x1000_0000 }?.contains("no plain file"), true)
        expectEqual(refused { $0.size = ExportFiles.maxFileBytes + 1 }?.contains("allowed"), true)
        expectEqual(refused { $0.size = 0xffff_ffff }?.contains("allowed"), true)
        expectEqual(refused { $0.size = 5 }?.contains("damaged"), true)
        expectEqual(refused { $0.checksum = 7 }?.contains("damaged"), true)
        expectEqual(refused { $0.flags = 1 }?.contains("encrypted"), true)
        expectEqual(refused { $0.method = 12 }?.contains("method 12"), true)
        expectEqual(refused { $0.method = 8 }?.contains("damaged"), true)
        // One name in the directory, another in its place.
        expectEqual(refused { $0.localName = "sync/confiG.json" }?.contains("damaged"), true)
        // The file would grow by more than any stream can.
        expectEqual(
            refused {
                $0.method = 8
                $0.bytes = [0, 0]
                $0.size = 1 << 20
            }?.contains("damaged"), true)
        let twice = #expect(throws: ExportProblem.self) {
            try Self.files([Packed("sync/config.json"), Packed("sync/config.json")])
        }
        expectEqual(twice?.description.contains("twice"), true)
        // A link may stand for a folder whose files would be missed.
        var link = Packed("data_sources")
        link.attributes = 0xa1ff_0000
        let linked = link
        #expect(throws: ExportProblem.self) { try Self.files([linked]) }
    }

    @Test func anArchivesFilesAreBounded() throws {
        let many = (0...ExportFiles.maxFiles).map { Packed("x\($0)", "") }
        let problem = #expect(throws: ExportProblem.self) { try Self.files(many) }
        expectEqual(problem?.description.contains("20001 files"), true)
        let heavy = (0...16).map { index in
            var packed = Packed("values/\(index).json")
            packed.size = ExportFiles.maxFileBytes
            return packed
        }
        let sized = #expect(throws: ExportProblem.self) { try Self.files(heavy) }
        expectEqual(sized?.description.contains("67108864"), true)
        #expect(throws: ExportProblem.self) {
            try ZipArchive(Self.archive([], count: 0xffff)).files(wanted: ExportFiles.isWanted)
        }
    }

    /// Nothing that a stranger can pack traps.
    @Test func damagedArchivesAreRefusedOrRead() throws {
        let whole = Self.archive([Packed("sync/config.json", Self.config), Packed("values/a.json")])
        for length in 0..<whole.count {
            #expect(throws: ExportProblem.self) {
                try ZipArchive(Array(whole[..<length])).files(wanted: ExportFiles.isWanted)
            }
            for value: UInt8 in [0, 0x7f, 0xff] {
                var damaged = whole
                damaged[length] = value
                _ = try? ZipArchive(damaged).files(wanted: ExportFiles.isWanted)
            }
        }
    }
}

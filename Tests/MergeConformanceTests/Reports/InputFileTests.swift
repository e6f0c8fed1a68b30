import Foundation
import MergeConformance
import TestSupport
import Testing

@Suite struct InputFileTests {
    /// Two members of one recorded case each.
    private static let packed = """
        H4sIAAAAAAACA6WQwQ6CMBBE737GnnvYUvTQXzGEVFlgIxRDqxfCv7toIpooJpI9TLbZ9M3MACf2BVgI7KuGQEF36QPY/QBX6gN3HqxWELmlEF\
        17BmvkpOeKfV5yQzkX5CPYRMGxdr6iQLKBKRFRb1NRjXq3w4PszuDnmW5kEMZMUDXxsgP90YFZdiCaiOq7kwfPTMwUp3cY1QsuecOlq3DuiUvu\
        KBTsbGGOPdWeuzJSL9H/7e9Z3/effvSg1iXJxs0NiqjykFICAAAfiwgAAAAAAAIDfY/BDoIwEETvfsacObSANfZXDGmILLARimmrF8K/u2DiRW\
        X2sJlksm92xo19A4vIvhsIGaZHiLCXGU8KkScPqzMkHimmerzDlhIJ3LF3LQ/kuCGfYPMM1772HUUSh6JVSuljKVsrbU7KrF5GhKWSgz3xPqf4\
        ySl2OLk5m1K9tbE20vqPq9tEQWj7xT69/uS/AdVyeAF2BvV0QgEAAA==
        """

    private func file(_ bytes: some Sequence<UInt8>, _ body: (String) throws -> Void) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "input-\(UUID().uuidString)")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try body(file.path)
    }

    private func packed() throws -> Data { try #require(Data(base64Encoded: Self.packed)) }

    @Test func aPackedFileIsReadLikeAPlainOne() throws {
        try file(try packed()) { path in
            let report = PairCheck.check(try InputFile(path: path))
            expectTrue(report.hasPassed, "\(report.details)")
            expectEqual(report.verdict.passed, 2)
        }
    }

    @Test func paddingBehindAPackedFileIsIgnored() throws {
        try file(try packed() + Data(count: 100)) { path in
            let file = try InputFile(path: path)
            expectEqual(Array(file.lines).count, 2)
        }
    }

    @Test(arguments: [10, 100, 202, 300])
    func aPackedFileThatIsCutShortIsRefused(length: Int) throws {
        try file(try packed().prefix(length)) { path in
            let error = #expect(throws: ConformanceError.self) { try InputFile(path: path) }
            expectEqual(error?.code, .unreadable)
            expectEqual(error?.message.contains("expected more gzip data"), true)
            expectEqual(error?.file, path)
        }
    }

    @Test func aDamagedPackedFileIsRefused() throws {
        var damaged = try packed()
        damaged[60] ^= 0xFF
        try file(damaged) { path in
            #expect(throws: ConformanceError.self) { try InputFile(path: path) }
        }
        try file(try packed() + Data([1, 2, 3])) { path in
            let error = #expect(throws: ConformanceError.self) { try InputFile(path: path) }
            expectEqual(error?.message.contains("another gzip member"), true)
        }
    }

    @Test func moreThanTheLimitIsRefused() throws {
        try file(try packed()) { path in
            let error = #expect(throws: ConformanceError.self) { try InputFile(path: path, limit: 600) }
            expectEqual(error?.code, .limitExceeded)
        }
        try file([UInt8](repeating: 0x20, count: 601)) { path in
            let error = #expect(throws: ConformanceError.self) { try InputFile(path: path, limit: 600) }
            expectEqual(error?.code, .limitExceeded)
            let file = try InputFile(path: path, limit: 601)
            expectEqual(file.bytes.count, 601)
        }
    }

    @Test func aMissingFileIsNamed() {
        let error = #expect(throws: ConformanceError.self) { try InputFile(path: "/no/such/file") }
        expectEqual(error?.description.hasPrefix("/no/such/file: expected a file"), true)
    }

    @Test func blankLinesAndCarriageReturnsAreAllRight() throws {
        let input = InputFile(name: "x", bytes: Array("\r\n{\"event\":\"begin\"}\r\n\n \t\n".utf8))
        let lines = Array(input.lines)
        expectEqual(lines.map(\.number), [2])
        guard case .begin = try lines[0].decode(RecordedEvent.self) else { throw CancellationError() }
    }
}

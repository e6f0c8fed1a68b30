import Foundation
import TestSupport
import Testing

@testable import AMQP

/// Bodies that would take too much memory wait in a file.
@Suite(.hangGuard) struct SpoolTests {
    private static func body(_ index: Int, _ count: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: count)
    }

    /// Returns the resident memory of this process, in bytes.
    private static func residentBytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return (Int(line.split(separator: " ").dropFirst().first ?? "") ?? 0) << 10
    }

    @Test func memoryStaysFlatWhereMessagesOfSixteenMegabytesWait() async throws {
        let spool = AMQPSpool(folder: "/var/tmp", maxHeldBytes: 64 << 20)
        let size = 16 << 20
        let before = try Self.residentBytes()
        var places: [AMQPSpool.Place?] = []
        var inMemory: [[UInt8]] = []
        for index in 0..<64 {
            let body = Self.body(index, size)
            let place = spool.take(body)
            if place == nil { inMemory.append(body) }
            places.append(place)
        }
        expectEqual(inMemory.count, 4)
        expectTrue(spool.statistics.held == 64 << 20)
        expectEqual(spool.statistics.spooled, 60 * size)
        expectEqual(spool.statistics.failures, 0)
        // 1 GiB waits. What is held, and room for what the tests beside this one do.
        try expectTrue(Self.residentBytes() - before < 640 << 20)
        for index in stride(from: 63, to: 3, by: -13) {
            let place = try #require(places[index])
            try await expectEqual(spool.read(place), Self.body(index, size))
        }
        for place in places { if let place { spool.free(place) } else { spool.released(size) } }
        expectTrue(spool.statistics.held == 0 && spool.statistics.spooled == 0)
    }

    @Test func aPlaceThatIsFreeIsUsedAgain() throws {
        let spool = AMQPSpool(folder: "/var/tmp", maxHeldBytes: 0)
        let bodies = [8_192, 4_096, 8_192].map { Self.body(1, $0) }
        let places = try bodies.map { try #require(spool.take($0)) }
        expectEqual(places.map(\.offset), [0, 8_192, 12_288])
        spool.free(places[1])
        expectEqual(spool.take(Self.body(2, 5_000))?.offset, 20_480)
        expectEqual(spool.take(Self.body(3, 4_096))?.offset, 8_192)
        expectTrue(spool.take(Self.body(4, 100)) == nil)
        expectEqual(spool.statistics.held, 100)
    }

    @Test func whereNothingCanBeWrittenBodiesStayInMemory() {
        let spool = AMQPSpool(folder: "/proc/nowhere", maxHeldBytes: 0)
        expectTrue(spool.take(Self.body(1, 8_192)) == nil)
        expectTrue(spool.statistics.held == 8_192 && spool.statistics.failures == 1)
    }
}

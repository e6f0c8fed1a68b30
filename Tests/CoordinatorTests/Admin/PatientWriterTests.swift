import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import Coordinator

/// Answers that are given up when nobody takes them.
@Suite(.hangGuard) struct PatientWriterTests {
    /// Takes so many bytes, and then no more.
    private final class Client: Sendable {
        let room: Int
        let taken = Mutex<[UInt8]>([])

        init(room: Int) { self.room = room }

        func take(_ buffer: ByteBuffer) async throws {
            let fits = taken.withLock { taken in
                guard taken.count + buffer.readableBytes <= room else { return false }
                taken += buffer.readableBytesView
                return true
            }
            if !fits { try await Task.sleep(for: .seconds(86_400)) }
        }
    }

    private struct Writer: ResponseBodyWriter {
        let client: Client
        func write(_ buffer: ByteBuffer) async throws { try await client.take(buffer) }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    private let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    @Test func everythingIsWrittenInOrder() async throws {
        let client = Client(room: .max)
        var writer = PatientWriter(Writer(client: client), patience: .seconds(86_400))
        try await writer.write(ByteBuffer(bytes: bytes))
        try await writer.write(ByteBuffer())
        try await writer.write(ByteBuffer(bytes: [1, 2]))
        expectEqual(client.taken.withLock(\.self), bytes + [1, 2])
    }

    @Test func aClientThatTakesNothingIsGivenUp() async throws {
        let client = Client(room: 150_000)
        var writer = PatientWriter(Writer(client: client), patience: .milliseconds(50))
        do {
            try await writer.write(ByteBuffer(bytes: bytes))
            expectTrue(false, "written")
        } catch let stalled as StalledReader {
            expectEqual(stalled, StalledReader(patience: .milliseconds(50)))
        }
        // Parts that were taken are whole.
        expectEqual(client.taken.withLock(\.self), Array(bytes.prefix(2 * 65_536)))
    }
}

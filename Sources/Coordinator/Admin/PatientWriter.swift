import HTTPTypes
import Hummingbird
import NIOCore
import SyncModel

/// Writes to a client for whom something is held meanwhile, such as a snapshot of a store: a client that takes nothing for too long is given up.
///
/// What is written goes in small parts, and the time is that of each: a client that reads slowly is no client that has stopped.
struct PatientWriter: ResponseBodyWriter {
    private static let partBytes = 64 << 10

    private var base: any ResponseBodyWriter
    private let patience: Duration

    init(_ base: any ResponseBodyWriter, patience: Duration) {
        self.base = base
        self.patience = patience
    }

    /// - Throws: `StalledReader`; nothing of the part that waited is written then.
    mutating func write(_ buffer: ByteBuffer) async throws {
        var rest = buffer
        while let part = rest.readSlice(length: min(Self.partBytes, rest.readableBytes)), part.readableBytes > 0 {
            try await writePart(part)
        }
    }

    private mutating func writePart(_ part: ByteBuffer) async throws {
        // The writer is one task's at a time: this task waits until the other has ended.
        nonisolated(unsafe) var writer = base
        defer { base = writer }
        do {
            try await withDeadline(patience) { try await writer.write(part) }
        } catch is DeadlinePassed {
            throw StalledReader(patience: patience)
        }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws { try await base.finish(trailingHeaders) }
}

/// A client took nothing of an answer for so long that it is given up.
struct StalledReader: Error, Equatable {
    /// The answers that hold something while they are written.
    enum Stream: String, CaseIterable {
        case documents
        /// The documents that come before changes.
        case changes
    }

    var patience: Duration
}

extension ServerSentEvent {
    /// The last event for a client that has stopped reading, should it ever go on.
    init(_ stalled: StalledReader) {
        self.init(
            error: "too_slow",
            "nothing could be written for \(stalled.patience): the store keeps meanwhile what is deleted, so read faster"
        )
    }
}

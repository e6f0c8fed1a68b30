package import Foundation

/// The lines of a pipe, read on a thread of its own.
package final class LineReader: Sendable {
    private let stream: AsyncStream<String>

    package init(_ handle: FileHandle) {
        stream = AsyncStream(bufferingPolicy: .bufferingNewest(1000)) { continuation in
            Thread.detachNewThread {
                var buffer = Data()
                // `read(upToCount:)` waits for all that it was asked for; a line must be seen as soon as it is there.
                var chunk = [UInt8](repeating: 0, count: 65_536)
                while case let count = read(handle.fileDescriptor, &chunk, chunk.count), count > 0 {
                    buffer.append(contentsOf: chunk[..<count])
                    while let end = buffer.firstIndex(of: 0x0a) {
                        continuation.yield(String(decoding: buffer[buffer.startIndex..<end], as: UTF8.self))
                        buffer = Data(buffer[buffer.index(after: end)...])
                    }
                }
                continuation.finish()
            }
        }
    }

    package func next() async -> String? {
        for await line in stream { return line }
        return nil
    }
}

extension String {
    package var absolutePath: String {
        hasPrefix("/") ? self : FileManager.default.currentDirectoryPath + "/" + self
    }
}

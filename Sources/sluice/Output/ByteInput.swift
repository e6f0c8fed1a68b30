import Dispatch
import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// The bytes of a file or of standard input, read as they come.
struct ByteInput: Sendable {
    private static let chunkBytes = 1 << 20
    private let handle: FileHandle

    /// - Parameter file: `-` is standard input.
    init(file: String) throws(CommandFailure) {
        if file == "-" {
            handle = .standardInput
        } else if let opened = FileHandle(forReadingAtPath: file) {
            handle = opened
        } else {
            throw CommandFailure(.notFound, "cannot read \(file): no such file, or not allowed")
        }
    }

    /// What there is, at least one byte before the end. A pipe may block for ever, so it is read on a queue of its own.
    func read() async throws -> [UInt8] {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { [handle] in
                var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
                let count = Glibc.read(handle.fileDescriptor, &chunk, chunk.count)
                guard count >= 0 else {
                    let reason = String(cString: strerror(errno))
                    return continuation.resume(throwing: CommandFailure(.badInput, "cannot read: \(reason)"))
                }
                chunk.removeLast(chunk.count - count)
                continuation.resume(returning: chunk)
            }
        }
    }
}

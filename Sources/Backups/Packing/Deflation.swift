internal import CZlib

/// Makes a gzip file (RFC 1952) piece by piece.
final class Deflation {
    private static let pieceBytes = 1 << 18

    /// The stream has a place of its own: zlib keeps its address.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

    init() throws(BackupError) {
        stream.initialize(to: z_stream())
        // 16 more than the window: with a gzip header.
        let status = deflateInit2_(
            stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw BackupError(.unavailable, "nothing can be compressed: out of memory") }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// - Parameter isLast: whether nothing follows.
    /// - Returns: what follows in the gzip file.
    func add(_ bytes: [UInt8], isLast: Bool) -> [UInt8] {
        var packed: [UInt8] = []
        bytes.withUnsafeBufferPointer { input in
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.pointee.avail_in = UInt32(input.count)
            var hasMore = true
            while hasMore {
                packed += [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { output, count in
                    stream.pointee.next_out = output.baseAddress
                    stream.pointee.avail_out = UInt32(Self.pieceBytes)
                    deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                    count = Self.pieceBytes - Int(stream.pointee.avail_out)
                    hasMore = stream.pointee.avail_out == 0
                }
            }
            stream.pointee.next_in = nil
        }
        return packed
    }
}

/// Reads a gzip file of one part piece by piece. A backup may be anybody's: nothing may follow the part.
final class Inflation {
    private static let pieceBytes = 1 << 18

    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var isDone = false

    init() throws(BackupError) {
        stream.initialize(to: z_stream())
        guard inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw BackupError(.unavailable, "nothing can be unpacked: out of memory")
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// - Parameter take: gets the content in pieces of bounded size: a small file may hold a large one.
    /// - Throws: `corrupt`; what `take` throws.
    func add(_ bytes: [UInt8], _ take: ([UInt8]) throws -> Void) throws {
        var used = 0
        var hasMore = false
        while used < bytes.count || hasMore {
            guard !isDone else { throw BackupError(.corrupt, "something follows the end of a packed file") }
            var status = Z_OK
            let piece = [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { output, count in
                bytes.withUnsafeBufferPointer { input in
                    stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress?.advanced(by: used))
                    stream.pointee.avail_in = UInt32(input.count - used)
                    stream.pointee.next_out = output.baseAddress
                    stream.pointee.avail_out = UInt32(Self.pieceBytes)
                    status = inflate(stream, Z_NO_FLUSH)
                    used = input.count - Int(stream.pointee.avail_in)
                    count = Self.pieceBytes - Int(stream.pointee.avail_out)
                    stream.pointee.next_in = nil
                    stream.pointee.avail_in = 0
                }
            }
            guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else {
                throw BackupError(.corrupt, "a packed file is damaged")
            }
            hasMore = piece.count == Self.pieceBytes && status != Z_STREAM_END
            isDone = status == Z_STREAM_END
            if !piece.isEmpty { try take(piece) }
        }
    }

    /// - Throws: `corrupt` if the file was cut off.
    func finish() throws(BackupError) {
        guard isDone else { throw BackupError(.corrupt, "a packed file is cut off") }
    }
}

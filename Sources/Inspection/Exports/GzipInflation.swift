internal import CZlib
package import Rules

/// Inflates a gzip file (RFC 1952) piece by piece, whatever its size: several parts one behind the other, too, as `cat` makes them.
package final class GzipInflation {
    /// The bytes that every gzip file begins with.
    package static let magic: [UInt8] = [0x1F, 0x8B]
    private static let pieceBytes = 1 << 18

    /// The stream has a place of its own: zlib keeps its address.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    /// Whether a part has ended and none has begun behind it.
    private var isBetweenParts = false
    /// Whether the last piece was full, so that there may be more of it.
    private var hasMore = false
    private var input: [UInt8] = []
    private var used = 0
    /// The bytes of the file before `input`.
    private var taken = 0

    package init() throws(ExportProblem) {
        stream.initialize(to: z_stream())
        // 16 more than the window: a gzip header, and no other.
        guard inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw ExportProblem("a gzip file cannot be read: out of memory")
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Takes the next bytes of the file. What was added before must have been taken out by `next`.
    package func add(_ bytes: [UInt8]) {
        taken += input.count
        input = bytes
        used = 0
    }

    /// The next bytes of the content, of bounded size; nil until more of the file is added.
    ///
    /// - Throws: `ExportProblem` for a file that is damaged.
    package func next() throws(ExportProblem) -> [UInt8]? {
        while used < input.count || hasMore {
            if isBetweenParts {
                // Some tools fill the last block with zeros.
                guard used < input.count, input[used] != 0 else {
                    used = min(used + 1, input.count)
                    continue
                }
                guard inflateReset(stream) == Z_OK else { throw damaged }
                isBetweenParts = false
            }
            let piece = try inflatePiece()
            if !piece.isEmpty { return piece }
        }
        return nil
    }

    /// - Throws: `ExportProblem` if the file ended inside a part.
    package func finish() throws(ExportProblem) {
        guard isBetweenParts else {
            throw ExportProblem(
                "byte \(taken + input.count): expected the rest of the gzip file, came its end")
        }
    }

    private func inflatePiece() throws(ExportProblem) -> [UInt8] {
        var status = Z_OK
        let (available, start) = (input.count - used, used)
        let piece = [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { output, count in
            input.withUnsafeBufferPointer { input in
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress?.advanced(by: start))
                stream.pointee.avail_in = UInt32(available)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(Self.pieceBytes)
                status = inflate(stream, Z_NO_FLUSH)
                used = start + available - Int(stream.pointee.avail_in)
                count = Self.pieceBytes - Int(stream.pointee.avail_out)
            }
        }
        hasMore = piece.count == Self.pieceBytes && status != Z_STREAM_END
        switch status {
        case Z_STREAM_END: isBetweenParts = true
        // Nothing to read, or no room: both are no fault.
        case Z_OK, Z_BUF_ERROR: break
        default: throw damaged
        }
        return piece
    }

    private var damaged: ExportProblem {
        ExportProblem("byte \(taken + used): expected content of a gzip file: it is damaged")
    }
}

internal import CZlib

/// gzip files (RFC 1952) in memory.
enum Gzip {
    struct Failure: Error {
        let message: String
        var isTooLarge = false
    }

    static func isGzip(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x1F, 0x8B]) }

    /// Inflates all members of a file into at most `limit` bytes.
    static func decompress(_ packed: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        guard let available = UInt32(exactly: packed.count) else {
            throw Failure(message: "expected less than 4 GiB of gzip data", isTooLarge: true)
        }
        var stream = z_stream()
        let gzipOnly: Int32 = 15 + 16
        guard inflateInit2_(&stream, gzipOnly, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw Failure(message: "expected memory for unpacking, zlib got none")
        }
        defer { inflateEnd(&stream) }
        var plain: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        let failure: Failure? = packed.withUnsafeBufferPointer { input in
            stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.avail_in = available
            while true {
                let (status, count) = chunk.withUnsafeMutableBufferPointer { output in
                    stream.next_out = output.baseAddress
                    stream.avail_out = UInt32(output.count)
                    let status = inflate(&stream, Z_NO_FLUSH)
                    return (status, output.count - Int(stream.avail_out))
                }
                guard plain.count + count <= limit else {
                    return Failure(message: "expected at most \(limit) bytes unpacked, more came", isTooLarge: true)
                }
                plain.append(contentsOf: chunk[..<count])
                let position = packed.count - Int(stream.avail_in)
                switch status {
                case Z_OK: continue
                case Z_STREAM_END:
                    // Files may be packed piece by piece, and padded with zeros.
                    let rest = packed[position...]
                    if rest.allSatisfy({ $0 == 0 }) { return nil }
                    guard rest.starts(with: [0x1F, 0x8B]), inflateReset(&stream) == Z_OK else {
                        return Failure(message: "expected the end or another gzip member at byte \(position)")
                    }
                case Z_BUF_ERROR:
                    return Failure(message: "expected more gzip data, the file ends at byte \(position)")
                default:
                    return Failure(message: "expected gzip data, found something else before byte \(position)")
                }
            }
        }
        if let failure { throw failure }
        return plain
    }
}

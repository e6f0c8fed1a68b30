internal import CZlib

/// zlib containers (RFC 1950) in memory. Both directions know the size of their output beforehand and allocate no more.
enum Zlib {
    struct Failure: Error {
        let message: String
    }

    /// No deflate stream grows by more (zlib's technical notes): a size beyond it is a lie, refused before allocating.
    static let maxExpansion = 1032

    /// Level 1 and a 32 KiB window, as both reference sides write; nil unless the result is smaller than the input.
    static func compressIfSmaller(_ plain: [UInt8]) -> [UInt8]? {
        guard plain.count > 1, let available = UInt32(exactly: plain.count) else { return nil }
        var stream = z_stream()
        guard
            deflateInit_(&stream, 1, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return nil }
        defer { deflateEnd(&stream) }
        let packed = [UInt8](unsafeUninitializedCapacity: plain.count - 1) { output, count in
            plain.withUnsafeBufferPointer { input in
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.avail_in = available
                stream.next_out = output.baseAddress
                stream.avail_out = available - 1
                // Running out of room means that it does not get smaller.
                count = deflate(&stream, Z_FINISH) == Z_STREAM_END ? output.count - Int(stream.avail_out) : 0
            }
        }
        return packed.isEmpty ? nil : packed
    }

    /// Inflates a whole container of exactly `plainSize` bytes, with a 32 KiB window, no preset dictionary and nothing
    /// after it.
    static func decompress(_ packed: [UInt8], plainSize: Int) throws(Failure) -> [UInt8] {
        guard let available = UInt32(exactly: packed.count), let room = UInt32(exactly: plainSize) else {
            throw Failure(message: "larger than 4 GiB")
        }
        guard packed.first == 0x78 else { throw Failure(message: "expected a zlib header with a 32 KiB window") }
        guard plainSize / maxExpansion <= packed.count else { throw Failure(message: "no stream grows by that much") }
        var stream = z_stream()
        guard inflateInit_(&stream, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw Failure(message: "out of memory")
        }
        defer { inflateEnd(&stream) }
        var status = Z_OK
        // One byte of room at least: an empty result, too, needs a place to point to.
        let plain = [UInt8](unsafeUninitializedCapacity: max(1, plainSize)) { output, count in
            packed.withUnsafeBufferPointer { input in
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.avail_in = available
                stream.next_out = output.baseAddress
                stream.avail_out = room
                status = inflate(&stream, Z_FINISH)
                count = Int(room - stream.avail_out)
            }
        }
        guard status == Z_STREAM_END else { throw Failure(message: "not one whole stream of \(plainSize) bytes") }
        guard plain.count == plainSize else {
            throw Failure(message: "\(plain.count) bytes came out, \(plainSize) were announced")
        }
        guard stream.avail_in == 0 else { throw Failure(message: "\(stream.avail_in) bytes after the stream") }
        return plain
    }
}

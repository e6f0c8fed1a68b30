import SyncModel

/// The body of an UPLOAD or DOWNLOAD: entries, compressed when it pays.
struct Body {
    /// Bodies up to here travel as they are (docs/protocol.md, "Client messages").
    static let compressionThreshold = 1024

    let compressed: Bool
    let plainSize: Int
    let packedSize: Int
    let wire: [UInt8]

    init(plain: [UInt8]) {
        if plain.count > Self.compressionThreshold, let packed = Zlib.compressIfSmaller(plain) {
            self.init(compressed: true, plainSize: plain.count, packedSize: packed.count, wire: packed)
        } else {
            self.init(compressed: false, plainSize: plain.count, packedSize: 0, wire: plain)
        }
    }

    private init(compressed: Bool, plainSize: Int, packedSize: Int, wire: [UInt8]) {
        self.compressed = compressed
        self.plainSize = plainSize
        self.packedSize = packedSize
        self.wire = wire
    }

    /// Reads the body behind a head that announced it, and inflates it.
    static func read(
        from reader: inout HeadReader, compressed: Bool, plainSize: Int, packedSize: Int, limits: ProtocolLimits,
        tooLarge: (String) -> SyncProtocolError
    ) throws(SyncProtocolError) -> [UInt8] {
        guard plainSize <= limits.maxPlainBodyBytes else {
            throw tooLarge("a body of \(plainSize) bytes, \(limits.maxPlainBodyBytes) allowed")
        }
        let wire = try reader.raw(compressed ? packedSize : plainSize, "body")
        try reader.finish()
        guard compressed else {
            guard packedSize == 0 else { throw reader.error("packedSize \(packedSize) of a body that is not packed") }
            return wire
        }
        do {
            return try Zlib.decompress(wire, plainSize: plainSize)
        } catch {
            throw SyncProtocolError(.badDecompression, "body: \(error.message)")
        }
    }

    /// Reads entries back to back until the body is used up.
    static func entries<Entry>(
        in plain: [UInt8], limits: ProtocolLimits, tooLarge: (String) -> SyncProtocolError,
        read: (inout HeadReader) throws(SyncProtocolError) -> (size: Int, make: ([UInt8]) -> Entry)
    ) throws(SyncProtocolError) -> [Entry] {
        var entries: [Entry] = []
        var reader = HeadReader(plain, code: .badChangesetHeaderSyntax, subject: "entry")
        while !reader.isAtEnd {
            guard entries.count < limits.maxEntries else { throw tooLarge("more than \(limits.maxEntries) entries") }
            let (size, make) = try read(&reader)
            guard size <= reader.remaining else {
                throw SyncProtocolError(
                    .badChangesetSize, "entry: \(size) bytes announced, \(reader.remaining) left in the body")
            }
            guard size <= limits.maxChangesetBytes else {
                throw tooLarge("a changeset of \(size) bytes, \(limits.maxChangesetBytes) allowed")
            }
            entries.append(make(try reader.raw(size, "changeset")))
        }
        return entries
    }
}
